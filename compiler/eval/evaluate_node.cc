// One node: a graph of its own in which every input is a constant, so that all types are concrete.
#include <optional>
#include <utility>

#include "compiler/eval/evaluate.h"
#include "compiler/eval/image_decoder.h"
#include "compiler/ir/graph_rebuild.h"
#include "compiler/ir/image_decoder.h"
#include "compiler/ops/op.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

Substitution NumbersOf(const SymbolValues& symbols) {
  Substitution numbers;
  for (const auto& [name, value] : symbols) numbers[name] = Expr(value);
  return numbers;
}

Graph OneNodeGraph(const Graph& graph, const Node& node,
                   const std::vector<std::optional<Constant>>& inputs,
                   const SymbolValues& symbols) {
  Graph result;
  Node copy = node;
  for (size_t i = 0; i < inputs.size(); ++i) {
    ValueId& input = copy.inputs[i];
    input = inputs[i] ? result.AddConstant(graph.values[input].name, *inputs[i]) : ValueId();
  }
  for (ValueId& output : copy.outputs) {
    if (!output.valid()) continue;
    const Value& value = graph.values[output];
    output = result.AddValue(value.name, value.type);
    result.main_region().outputs.push_back(output);
    if (!value.elements) continue;
    result.values[output].elements.emplace();
    for (const Expr& element : *value.elements) {
      result.values[output].elements->push_back(Simplify(Substitute(element, NumbersOf(symbols))));
    }
  }
  result.AddNode(result.main, std::move(copy));
  return result;
}

}  // namespace

absl::StatusOr<std::vector<Constant>> EvaluateNode(
    const Graph& graph, const Node& node, const std::vector<std::optional<Constant>>& inputs,
    const SymbolValues& symbols) {
  if (IsHostOp(node)) return EvaluateHostOp(node, inputs);
  Graph single = OneNodeGraph(graph, node, inputs, symbols);
  const OpDef* op = FindOp(node.op);
  if (op != nullptr && op->compute == nullptr && op->expand != nullptr) {
    AOTC_ASSIGN_OR_RETURN(
        Graph expanded,
        RebuildGraph(single, [&](Rebuilder& rebuilder, const Node& old) -> absl::StatusOr<bool> {
          AOTC_RETURN_IF_ERROR(op->expand(rebuilder, old));
          return true;
        }));
    return EvaluateGraph(expanded, {}, symbols);
  }
  AOTC_ASSIGN_OR_RETURN(NodeKernel kernel, BuildNodeKernel(single, *single.nodes.begin()));
  std::vector<Constant> operands;
  for (ValueId input : kernel.inputs) operands.push_back(*single.values[input].constant);
  return EvaluateKernel(kernel.kernel, operands);
}

}  // namespace aotc
