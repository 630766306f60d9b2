#include "compiler/ir/fused_graph.h"

#include <algorithm>
#include <utility>

namespace aotc {
namespace {

class Captures {
 public:
  explicit Captures(const Graph& graph) : graph_(graph) {}

  void AddNode(const Node& node) {
    for (const auto& [name, region] : node.regions) AddRegion(graph_.regions[region]);
  }

  // Values are known before their readers: what is met first as a result is the region's own.
  void AddRegion(const Region& region) {
    own_.insert(region.inputs.begin(), region.inputs.end());
    for (NodeId id : region.nodes) {
      const Node& node = graph_.nodes[id];
      Read(node.inputs);
      AddNode(node);
      own_.insert(node.outputs.begin(), node.outputs.end());
    }
    Read(region.outputs);
  }

  std::vector<ValueId> Take() { return std::move(read_); }

 private:
  void Read(const std::vector<ValueId>& values) {
    for (ValueId value : values) {
      if (!value.valid() || graph_.values[value].constant || own_.contains(value)) continue;
      if (seen_.insert(value).second) read_.push_back(value);
    }
  }

  const Graph& graph_;
  std::set<ValueId> own_, seen_;
  std::vector<ValueId> read_;
};

}  // namespace

std::vector<ValueId> CapturedValues(const Graph& graph, const Node& node) {
  Captures captures(graph);
  captures.AddNode(node);
  return captures.Take();
}

void VisitBodies(const Graph& graph, FusedGraph& fused,
                 const std::function<void(FusedGraph&, RegionId)>& visit) {
  const std::function<void(FusedGraph&, RegionId)> walk = [&](FusedGraph& at, RegionId region) {
    visit(at, region);
    for (FusedKernel& kernel : at.kernels) {
      if (!kernel.control.valid()) continue;
      auto body = at.bodies.at(kernel.control).begin();
      for (const auto& [name, inner] : graph.nodes[kernel.control].regions) walk(*body++, inner);
    }
  };
  walk(fused, graph.main);
}

}  // namespace aotc
