#include "compiler/report/layered_layout.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace aotc {
namespace {

constexpr double kLayerHeight = 66, kGap = 14, kDummyWidth = 6, kMargin = 12;
// An edge across more layers than this is one line: its dummies would be more than one can follow.
constexpr int kLongestChain = 400;

class Layouter {
 public:
  explicit Layouter(const std::vector<LayoutNode>& nodes) : nodes_(nodes) {}

  LayeredLayout Run() {
    if (nodes_.empty()) return {.width = 2 * kMargin, .height = 2 * kMargin};
    AssignLayers();
    AddVertices();
    OrderLayers();
    PlaceLayers();
    return Result();
  }

 private:
  struct Vertex {
    int layer = 0;
    double width = 0;
    double x = 0;
    std::vector<int> above = {};
    std::vector<int> below = {};
  };
  using Neighbours = std::vector<int> Vertex::*;

  // The longest path from above; inputs as low as their readers let them.
  void AssignLayers() {
    layer_.assign(nodes_.size(), 0);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (int read : nodes_[i].reads) layer_[i] = std::max(layer_[i], layer_[At(read)] + 1);
    }
    std::vector<int> first_reader(nodes_.size(), INT32_MAX);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (int read : nodes_[i].reads) {
        first_reader[At(read)] = std::min(first_reader[At(read)], layer_[i]);
      }
    }
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const bool moves = nodes_[i].sinks && nodes_[i].reads.empty();
      if (moves && first_reader[i] != INT32_MAX) layer_[i] = first_reader[i] - 1;
    }
  }

  void AddVertices() {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      vertices_.push_back({.layer = layer_[i], .width = nodes_[i].width});
    }
    std::vector<std::vector<int>> chains(nodes_.size());  // dummies below each node
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (int read : nodes_[i].reads) Connect(read, static_cast<int>(i), chains[At(read)]);
    }
    int layers = 0;
    for (const Vertex& vertex : vertices_) layers = std::max(layers, vertex.layer + 1);
    layers_.resize(At(layers));
    for (size_t i = 0; i < vertices_.size(); ++i) {
      layers_[At(vertices_[i].layer)].push_back(static_cast<int>(i));
    }
  }

  // Along the chain of `from`, which grows as far as is needed.
  void Connect(int from, int to, std::vector<int>& chain) {
    const int between = layer_[At(to)] - layer_[At(from)] - 1;
    int last = from;
    for (int k = 0; k < between && between <= kLongestChain; ++k) {
      if (k == static_cast<int>(chain.size())) {
        chain.push_back(static_cast<int>(vertices_.size()));
        vertices_.push_back({.layer = layer_[At(from)] + k + 1, .width = kDummyWidth});
        Link(last, chain.back());
      }
      last = chain[At(k)];
    }
    Link(last, to);
  }

  void Link(int above, int below) {
    std::vector<int>& known = vertices_[At(above)].below;
    if (std::ranges::find(known, below) != known.end()) return;
    known.push_back(below);
    vertices_[At(below)].above.push_back(above);
  }

  // Sorts each layer by the mean place of its neighbours in the one before, down and up in turn.
  void OrderLayers() {
    constexpr int kSweeps = 8;
    place_.resize(vertices_.size());
    for (const std::vector<int>& layer : layers_) NoteOrder(layer);
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      const bool down = sweep % 2 == 0;
      for (size_t k = 0; k < layers_.size(); ++k) {
        SortLayer(layers_[down ? k : layers_.size() - 1 - k],
                  down ? &Vertex::above : &Vertex::below);
      }
    }
  }

  void NoteOrder(const std::vector<int>& layer) {
    for (size_t i = 0; i < layer.size(); ++i) place_[At(layer[i])] = static_cast<double>(i);
  }

  void SortLayer(std::vector<int>& layer, Neighbours neighbours) {
    std::vector<std::pair<double, int>> keys;
    for (int vertex : layer) {
      const std::vector<int>& others = vertices_[At(vertex)].*neighbours;
      double sum = 0;
      for (int other : others) sum += place_[At(other)];
      const double mean = sum / static_cast<double>(std::max<size_t>(1, others.size()));
      keys.emplace_back(others.empty() ? place_[At(vertex)] : mean, vertex);
    }
    std::ranges::stable_sort(keys, {}, [](const auto& key) { return key.first; });
    std::ranges::transform(keys, layer.begin(), [](const auto& key) { return key.second; });
    NoteOrder(layer);
  }

  void PlaceLayers() {
    constexpr int kSweeps = 12;
    for (std::vector<int>& layer : layers_) {
      std::vector<double> wanted(layer.size(), 0);
      PlaceLayer(layer, wanted);
    }
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      const bool down = sweep % 2 == 0;
      for (size_t k = 0; k < layers_.size(); ++k) {
        const std::vector<int>& layer = layers_[down ? k : layers_.size() - 1 - k];
        std::vector<double> wanted;
        for (int vertex : layer) {
          wanted.push_back(WantedPlace(vertices_[At(vertex)], down));
        }
        PlaceLayer(layer, wanted);
      }
    }
  }

  double WantedPlace(const Vertex& vertex, bool down) const {
    const std::vector<int>& others = down ? vertex.above : vertex.below;
    if (others.empty()) return vertex.x;
    double sum = 0;
    for (int other : others) sum += vertices_[At(other)].x;
    return sum / static_cast<double>(others.size());
  }

  // As near to the wanted places as order and width allow: the mean of what comes of pushing to the
  // right and of pushing to the left.
  void PlaceLayer(const std::vector<int>& layer, const std::vector<double>& wanted) {
    std::vector<double> right = wanted, left = wanted;
    for (size_t i = 1; i < layer.size(); ++i) {
      right[i] = std::max(right[i], right[i - 1] + Distance(layer[i - 1], layer[i]));
    }
    for (size_t i = layer.size() - 1; i-- > 0;) {
      left[i] = std::min(left[i], left[i + 1] - Distance(layer[i], layer[i + 1]));
    }
    for (size_t i = 0; i < layer.size(); ++i) {
      vertices_[At(layer[i])].x = (right[i] + left[i]) / 2;
    }
  }

  double Distance(int a, int b) const {
    return (vertices_[At(a)].width + vertices_[At(b)].width) / 2 + kGap;
  }

  LayeredLayout Result() {
    double least = 0, most = 0;
    for (const Vertex& vertex : vertices_) {
      least = std::min(least, vertex.x - vertex.width / 2);
      most = std::max(most, vertex.x + vertex.width / 2);
    }
    const auto centre = [&](int i) {
      const Vertex& vertex = vertices_[At(i)];
      return LayoutPoint{vertex.x - least + kMargin,
                         vertex.layer * kLayerHeight + kMargin + kLayoutNodeHeight / 2};
    };
    LayeredLayout layout{.width = most - least + 2 * kMargin,
                         .height = static_cast<double>(layers_.size() - 1) * kLayerHeight +
                                   kLayoutNodeHeight + 2 * kMargin};
    const auto half = [&](int i) { return At(i) < nodes_.size() ? kLayoutNodeHeight / 2 : 0; };
    for (int i = 0; i < static_cast<int>(vertices_.size()); ++i) {
      const LayoutPoint at = centre(i);
      if (At(i) < nodes_.size()) layout.nodes.push_back(at);
      for (int below : vertices_[At(i)].below) {
        const LayoutPoint end = centre(below);
        layout.lines.push_back({{at.x, at.y + half(i)}, {end.x, end.y - half(below)}});
      }
    }
    return layout;
  }

  static size_t At(int index) { return static_cast<size_t>(index); }

  const std::vector<LayoutNode>& nodes_;
  std::vector<int> layer_;        // of the nodes
  std::vector<Vertex> vertices_;  // the nodes, then dummies
  std::vector<std::vector<int>> layers_;
  std::vector<double> place_;
};

}  // namespace

LayeredLayout LayOut(const std::vector<LayoutNode>& nodes) { return Layouter(nodes).Run(); }

}  // namespace aotc
