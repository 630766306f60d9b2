#include "compiler/canonicalize/size_operand.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "compiler/ops/worked_out_sizes.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// To the node at that position of the region.
void AddOperand(Graph& graph, RegionId region, size_t position, const WorkedOutSizes& sizes) {
  const NodeId id = graph.regions[region].nodes[position];
  Node maker = {.op = std::string(sizes.by), .locations = graph.nodes[id].locations};
  for (size_t input : sizes.reads) maker.inputs.push_back(graph.nodes[id].inputs[input]);
  const std::string name = StrCat(graph.values[graph.nodes[id].outputs[0]].name, "_sizes");
  const ValueId result = graph.AddValue(name, UnknownType());
  maker.outputs = {result};
  const NodeId made = graph.nodes.Add(std::move(maker));
  std::vector<NodeId>& nodes = graph.regions[region].nodes;
  nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(position), made);
  graph.nodes[id].inputs.resize(sizes.operand);
  graph.nodes[id].inputs.push_back(result);
}

}  // namespace

bool LacksSizeOperand(const Graph& graph, const Node& node, ValueId unknown) {
  const WorkedOutSizes* sizes = WorkedOutSizesOf(node.op);
  // Integers that may be sizes themselves have better ways.
  return sizes != nullptr && !HasInput(node, sizes->operand) &&
         !HoldsShape(graph.values[unknown].type.dtype);
}

bool AddSizeOperand(Graph& graph, const std::string& output) {
  for (RegionId region : graph.regions.ids()) {
    const std::vector<NodeId>& nodes = graph.regions[region].nodes;
    for (size_t i = 0; i < nodes.size(); ++i) {
      const Node& node = graph.nodes[nodes[i]];
      const WorkedOutSizes* sizes = WorkedOutSizesOf(node.op);
      if (sizes == nullptr || HasInput(node, sizes->operand)) continue;
      if (graph.values[node.outputs[0]].name != output) continue;
      AddOperand(graph, region, i, *sizes);
      return true;
    }
  }
  return false;
}

}  // namespace aotc
