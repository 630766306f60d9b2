#include "compiler/fuse/control.h"

#include <set>
#include <string>
#include <utility>

#include "compiler/ir/control_flow.h"
#include "compiler/support/names.h"
#include "compiler/support/strings.h"

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

FusedKernel KernelOfControl(const Graph& graph, NodeId id) {
  const Node& node = graph.nodes[id];
  FusedKernel fused{.op = CleanIdentifier(node.op), .control = id};
  NameTable names;
  std::set<ValueId> known;
  const auto add = [&](ValueId value, TensorRole role) {
    if (!value.valid() || graph.values[value].constant || !known.insert(value).second) return;
    const Value& of = graph.values[value];
    fused.kernel.params.push_back(
        fused.kernel.tensors.Add({.name = names.Unique(ShortIdentifier(of.name)),
                                  .dtype = of.type.dtype,
                                  .shape = of.type.dims,
                                  .role = role}));
    fused.args.push_back(value);
  };
  // The trip count of a Repeat is an expression of the program, not a value in memory.
  const size_t first = IsRepeat(node) ? RepeatForm::kTrip + 1 : 0;
  for (size_t i = first; i < node.inputs.size(); ++i) add(node.inputs[i], TensorRole::kInput);
  for (ValueId value : CapturedValues(graph, node)) add(value, TensorRole::kInput);
  for (ValueId value : node.outputs) add(value, TensorRole::kOutput);
  for (const Location& location : node.locations) {
    fused.kernel.sources.push_back(StrCat(location.node, " (", location.op, ")"));
  }
  fused.kernel.name = fused.op;
  return fused;
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
