#include "compiler/canonicalize/limit_operands.h"

#include <algorithm>
#include <vector>

#include "compiler/ir/graph_rebuild.h"

namespace aotc {
namespace {

bool IsFold(const Node& node) { return node.op == "Sum" || node.op == "Max" || node.op == "Min"; }

// A node over `operands` with the name, attributes and place of `node`.
ValueId EmitPart(Rebuilder& rebuilder, const Node& node, std::vector<ValueId> operands) {
  const ValueType& whole = rebuilder.old_graph().values[node.outputs[0]].type;
  ValueType type = UnknownType();
  type.dtype = whole.dtype;
  return rebuilder.Emit(node.op, std::move(operands), node.attributes, std::move(type), node);
}

// Groups of operands one by one, then groups of the results, until one node can join them.
std::vector<ValueId> JoinInGroups(Rebuilder& rebuilder, const Node& node,
                                  std::vector<ValueId> operands) {
  while (operands.size() > kMostOperands) {
    std::vector<ValueId> joined;
    for (size_t begin = 0; begin < operands.size(); begin += kMostOperands) {
      const size_t end = std::min(begin + kMostOperands, operands.size());
      std::vector<ValueId> group(operands.begin() + static_cast<std::ptrdiff_t>(begin),
                                 operands.begin() + static_cast<std::ptrdiff_t>(end));
      joined.push_back(group.size() == 1 ? group[0] : EmitPart(rebuilder, node, std::move(group)));
    }
    operands = std::move(joined);
  }
  return operands;
}

// Operands from the left, so that floats are added in the order that the model states.
std::vector<ValueId> FoldFromTheLeft(Rebuilder& rebuilder, const Node& node,
                                     const std::vector<ValueId>& operands) {
  std::vector<ValueId> group;
  for (ValueId operand : operands) {
    if (group.size() == kMostOperands) group = {EmitPart(rebuilder, node, std::move(group))};
    group.push_back(operand);
  }
  return group;
}

}  // namespace

absl::StatusOr<Graph> LimitOperands(const Graph& graph, PassContext&) {
  return RebuildGraph(graph, [&](Rebuilder& rebuilder, const Node& node) -> absl::StatusOr<bool> {
    if (node.inputs.size() <= kMostOperands || (node.op != "Concat" && !IsFold(node))) return false;
    std::vector<ValueId> operands;
    for (ValueId input : node.inputs) operands.push_back(rebuilder.Mapped(input));
    operands = IsFold(node) ? FoldFromTheLeft(rebuilder, node, operands)
                            : JoinInGroups(rebuilder, node, std::move(operands));
    const ValueType& type = graph.values[node.outputs[0]].type;
    rebuilder.Replace(node.outputs[0],
                      rebuilder.Emit(node.op, std::move(operands), node.attributes, type, node));
    return true;
  });
}

}  // namespace aotc
