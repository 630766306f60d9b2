#include "compiler/optimize/flatten_dilation.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/eval/evaluate.h"
#include "compiler/ir/graph_rebuild.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 24;  // of an image that is followed
using Numbers = std::vector<int64_t>;

// Nodes from `source` to `result`, in order; each moves elements of the one before.
struct Moves {
  ValueId source = {};
  ValueId result = {};
  std::vector<NodeId> nodes = {};
};

// Space to batch as [N * Bh * Bw, C, H', W'] of [N, C, H, W] behind `pads` pixels of zeros, or its
// inverse, which cuts `pads` off: along each of the two axes.
struct Phases {
  std::array<int64_t, 2> blocks = {};
  std::array<int64_t, 2> pads = {};
};

// What a dilated convolution reads and writes in place of the inner one.
struct Dilated {
  ValueId source = {};
  Numbers dilations = {};
  Numbers pads = {};  // top, left, bottom, right
};

bool IsMove(const Graph& graph, const Node& node) {
  static const std::set<std::string> kMoves = {"Reshape", "Transpose",    "Pad",
                                               "Slice",   "SpaceToDepth", "DepthToSpace",
                                               "Squeeze", "Unsqueeze",    "Flatten"};
  if (!kMoves.contains(node.op)) return false;
  if (node.op != "Pad") return true;
  if (node.attributes.String("mode", "constant") != "constant") return false;
  if (node.inputs.size() < 3 || !node.inputs[2].valid()) return true;
  const std::optional<Constant>& fill = graph.values[node.inputs[2]].constant;
  return fill && fill->element_count() == 1 && fill->FloatAt(0) == 0;
}

std::optional<Numbers> DimsOf(const Graph& graph, ValueId value) {
  std::optional<Numbers> dims = StaticDims(graph.values[value].type.dims);
  if (!dims) return std::nullopt;
  int64_t count = 1;
  for (int64_t dim : *dims) count *= dim;
  return count > 0 && count <= kMostElements ? dims : std::nullopt;
}

// Each element of the result as the number of the source's element, from 1; 0 for padding.
std::optional<Numbers> Follow(const Graph& graph, const Moves& moves) {
  const std::optional<Numbers> dims = DimsOf(graph, moves.source);
  if (!dims || !DimsOf(graph, moves.result)) return std::nullopt;
  int64_t count = 1;
  for (int64_t dim : *dims) count *= dim;
  std::vector<uint8_t> bytes(static_cast<size_t>(count) * sizeof(int64_t));
  for (int64_t i = 0; i < count; ++i) StoreIntElement(DType::kI64, bytes.data(), i, i + 1);
  Constant current = Constant::Dense(DType::kI64, *dims, std::move(bytes));
  for (NodeId id : moves.nodes) {
    const Node& node = graph.nodes[id];
    std::vector<std::optional<Constant>> inputs = {current};
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      const bool fill = node.op == "Pad" && i == 2;  // zero of another type
      inputs.push_back(node.inputs[i].valid() && !fill ? graph.values[node.inputs[i]].constant
                                                       : std::nullopt);
      if (node.inputs[i].valid() && !fill && !inputs.back()) return std::nullopt;
    }
    absl::StatusOr<std::vector<Constant>> moved = EvaluateNode(graph, node, inputs);
    if (!moved.ok() || moved->size() != 1) return std::nullopt;
    current = (*moved)[0];
  }
  return current.AsInts();
}

// The number that element (n, c, h, w) has, from 1.
int64_t NumberAt(const Numbers& dims, int64_t n, int64_t c, int64_t h, int64_t w) {
  return ((n * dims[1] + c) * dims[2] + h) * dims[3] + w + 1;
}

using Place = std::array<int64_t, 4>;  // n, c, h, w

// The pixel of an image [N, C, H, W] at a place of its phases [N * Bh * Bw, C, H', W'].
int64_t PixelAt(const Numbers& image, const Phases& by, const Place& at) {
  const int64_t phase = at[0] / image[0];
  const int64_t h = at[2] * by.blocks[0] + phase / by.blocks[1] - by.pads[0];
  const int64_t w = at[3] * by.blocks[1] + phase % by.blocks[1] - by.pads[1];
  const bool inside = h >= 0 && h < image[2] && w >= 0 && w < image[3];
  return inside ? NumberAt(image, at[0] % image[0], at[1], h, w) : 0;
}

// The element of the phases that a pixel of the image takes; -1 where there is none.
int64_t PhaseAt(const Numbers& image, const Numbers& phases, const Phases& by, const Place& at) {
  const int64_t h = at[2] + by.pads[0], w = at[3] + by.pads[1];
  const int64_t phase = h % by.blocks[0] * by.blocks[1] + w % by.blocks[1];
  const int64_t row = h / by.blocks[0], column = w / by.blocks[1];
  const bool inside = h >= 0 && w >= 0 && row < phases[2] && column < phases[3];
  return inside ? NumberAt(phases, phase * image[0] + at[0], at[1], row, column) : -1;
}

// Whether every element lies where phases of the image, or the image of its phases, have it.
bool AllFollow(const Numbers& numbers, const Numbers& image, const Numbers& phases,
               const Phases& by, bool inverse) {
  const Numbers& to = inverse ? image : phases;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto place = static_cast<int64_t>(i);
    const Place at = {place / (to[1] * to[2] * to[3]), place / (to[2] * to[3]) % to[1],
                      place / to[3] % to[2], place % to[3]};
    const int64_t due = inverse ? PhaseAt(image, phases, by, at) : PixelAt(image, by, at);
    if (numbers[i] != due) return false;
  }
  return true;
}

// Pads along the axes that put the image's first pixel where it is found, or that make the first
// pixel what is found there.
std::array<int64_t, 2> PadsFor(const Numbers& numbers, const Numbers& image, const Numbers& phases,
                               const Phases& by, bool inverse) {
  const int64_t place =
      inverse ? numbers[0] - 1 : std::find(numbers.begin(), numbers.end(), 1) - numbers.begin();
  const int64_t w = place % phases[3], h = place / phases[3] % phases[2];
  const int64_t phase = place / (phases[1] * phases[2] * phases[3]) / image[0];
  return {h * by.blocks[0] + phase / by.blocks[1], w * by.blocks[1] + phase % by.blocks[1]};
}

// The blocks and pads by which the moves make phases of an image, or an image of phases.
std::optional<Phases> PhasesOf(const Graph& graph, const Moves& moves, bool inverse) {
  const std::optional<Numbers> from = DimsOf(graph, moves.source), to = DimsOf(graph, moves.result);
  if (!from || !to || from->size() != 4 || to->size() != 4) return std::nullopt;
  const Numbers &image = inverse ? *to : *from, &phases = inverse ? *from : *to;
  if (image[1] != phases[1] || phases[0] % image[0] != 0) return std::nullopt;
  const int64_t both = phases[0] / image[0];
  if (both < 2) return std::nullopt;
  const std::optional<Numbers> numbers = Follow(graph, moves);
  if (!numbers) return std::nullopt;
  for (int64_t rows = 1; rows <= both; ++rows) {
    if (both % rows != 0) continue;
    Phases by{.blocks = {rows, both / rows}};
    by.pads = PadsFor(*numbers, image, phases, by, inverse);
    if (!AllFollow(*numbers, image, phases, by, inverse)) continue;
    const bool whole = inverse || (phases[2] * by.blocks[0] >= image[2] + by.pads[0] &&
                                   phases[3] * by.blocks[1] >= image[3] + by.pads[1]);
    if (whole) return by;  // else pixels are cut off, which the dilated convolution would read
  }
  return std::nullopt;
}

class Finder {
 public:
  explicit Finder(const Graph& graph)
      : graph_(graph), producers_(Producers(graph)), uses_(UseCounts(graph)) {
    for (NodeId id : graph.main_region().nodes) {
      for (ValueId input : graph.nodes[id].inputs) readers_[input] = id;
    }
  }

  // The convolution that gives `result` in place of the moves around `conv`, with that result.
  std::optional<std::pair<ValueId, Dilated>> Find(const Node& conv) const {
    if (!IsPlainConvolution(conv)) return std::nullopt;
    for (const Moves& above : Above(conv.inputs[0])) {
      const std::optional<Phases> in = PhasesOf(graph_, above, false);
      if (!in) continue;
      for (const Moves& below : Below(conv.outputs[0])) {
        const std::optional<Phases> out = PhasesOf(graph_, below, true);
        if (!out || out->blocks != in->blocks) continue;
        std::optional<Dilated> dilated = Combine(conv, above, below, *in, *out);
        if (dilated) return std::pair(below.result, *std::move(dilated));
      }
    }
    return std::nullopt;
  }

 private:
  bool IsPlainConvolution(const Node& node) const {
    if (node.op != "Conv" || node.attributes.String("auto_pad", "NOTSET") != "NOTSET") return false;
    const Numbers strides = node.attributes.Ints("strides");
    if (std::ranges::any_of(strides, [](int64_t stride) { return stride != 1; })) return false;
    const std::optional<Numbers> weight = StaticDims(graph_.values[node.inputs[1]].type.dims);
    return weight && weight->size() == 4;
  }

  // Moves that end in `value`, the longest first: padding in front of them becomes the
  // convolution's.
  std::vector<Moves> Above(ValueId value) const {
    std::vector<Moves> found;
    Moves moves{.source = value, .result = value};
    while (producers_[moves.source].valid() && uses_[moves.source] == 1) {
      const NodeId id = producers_[moves.source];
      if (!IsMove(graph_, graph_.nodes[id])) break;
      moves.nodes.insert(moves.nodes.begin(), id);
      moves.source = graph_.nodes[id].inputs[0];
      found.push_back(moves);
    }
    std::ranges::reverse(found);
    return found;
  }

  // Moves that begin at `value`, the longest first.
  std::vector<Moves> Below(ValueId value) const {
    std::vector<Moves> found;
    Moves moves{.source = value, .result = value};
    while (uses_[moves.result] == 1 && readers_.contains(moves.result)) {
      const NodeId id = readers_.at(moves.result);
      const Node& node = graph_.nodes[id];
      if (!IsMove(graph_, node) || node.inputs[0] != moves.result) break;
      moves.nodes.push_back(id);
      moves.result = node.outputs[0];
      found.push_back(moves);
    }
    std::ranges::reverse(found);
    return found;
  }

  std::optional<Dilated> Combine(const Node& conv, const Moves& above, const Moves& below,
                                 const Phases& in, const Phases& out) const {
    const Numbers image = *DimsOf(graph_, above.source), result = *DimsOf(graph_, below.result);
    const Numbers weight = *StaticDims(graph_.values[conv.inputs[1]].type.dims);
    Numbers inner = conv.attributes.Ints("dilations"), inner_pads = conv.attributes.Ints("pads");
    if (inner.empty()) inner = {1, 1};
    if (inner_pads.empty()) inner_pads = {0, 0, 0, 0};
    Dilated dilated{.source = above.source, .pads = {0, 0, 0, 0}};
    for (size_t axis = 0; axis < 2; ++axis) {
      const int64_t dilation = inner[axis] * in.blocks[axis];
      const int64_t begin = in.pads[axis] + inner_pads[axis] * in.blocks[axis] - out.pads[axis];
      const int64_t span = dilation * (weight[axis + 2] - 1);
      const int64_t end = result[axis + 2] + span - image[axis + 2] - begin;
      if (begin < 0 || end < 0) return std::nullopt;
      dilated.dilations.push_back(dilation);
      dilated.pads[axis] = begin;
      dilated.pads[axis + 2] = end;
    }
    return dilated;
  }

  const Graph& graph_;
  const IdVector<ValueId, NodeId> producers_;
  const IdVector<ValueId, int> uses_;
  std::map<ValueId, NodeId> readers_;  // the last one
};

}  // namespace

absl::StatusOr<Graph> FlattenDilation(const Graph& graph, PassContext&) {
  std::map<ValueId, std::pair<NodeId, Dilated>> found;  // by the result
  const Finder finder(graph);
  for (NodeId id : graph.main_region().nodes) {
    if (auto dilated = finder.Find(graph.nodes[id])) {
      found[dilated->first] = {id, std::move(dilated->second)};
    }
  }
  if (found.empty()) return graph;
  AOTC_ASSIGN_OR_RETURN(
      const Graph flat,
      RebuildGraph(graph, [&](Rebuilder& rebuilder, const Node& node) -> absl::StatusOr<bool> {
        const auto at = node.outputs.size() == 1 ? found.find(node.outputs[0]) : found.end();
        if (at == found.end()) return false;
        const auto& [id, dilated] = at->second;
        const Node& conv = graph.nodes[id];
        std::vector<ValueId> inputs = {rebuilder.Mapped(dilated.source)};
        for (size_t i = 1; i < conv.inputs.size(); ++i)
          inputs.push_back(rebuilder.Mapped(conv.inputs[i]));
        Attributes attributes = conv.attributes;
        attributes.Set("dilations", dilated.dilations);
        attributes.Set("pads", dilated.pads);
        const ValueType& type = graph.values[node.outputs[0]].type;
        rebuilder.Replace(node.outputs[0], rebuilder.Emit("Conv", std::move(inputs),
                                                          std::move(attributes), type, conv));
        return true;
      }));
  return DropDead(flat);
}

}  // namespace aotc
