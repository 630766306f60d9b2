// One node: a graph of its own in which every input is a constant, so that all types are concrete.
#include <optional>
#include <utility>

#include "compiler/eval/evaluate.h"
#include "compiler/eval/image_decoder.h"
#include "compiler/ir/graph_rebuild.h"
#include "compiler/ir/image_decoder.h"
#include "compiler/ops/expansion.h"
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

// The one node of the graph, by its definition in terms of others.
absl::StatusOr<std::vector<Constant>> EvaluateExpanded(const Graph& single, const OpDef& op,
                                                       const SymbolValues& symbols) {
  const auto expand = [&](Rebuilder& rebuilder, const Node& node) -> absl::StatusOr<bool> {
    Node known = node;
    known.attributes.Set(Expansion::kRanks, RanksOf(single, node.inputs));
    AOTC_RETURN_IF_ERROR(op.expand(rebuilder, known));
    return true;
  };
  AOTC_ASSIGN_OR_RETURN(const Graph expanded, RebuildGraph(single, expand));
  return EvaluateGraph(expanded, {}, symbols);
}

}  // namespace

absl::StatusOr<std::vector<Constant>> EvaluateNode(
    const Graph& graph, const Node& node, const std::vector<std::optional<Constant>>& inputs,
    const SymbolValues& symbols) {
  if (IsHostOp(node)) return EvaluateHostOp(node, inputs);
  Graph single = OneNodeGraph(graph, node, inputs, symbols);
  const OpDef* op = FindOp(node.op);
  const bool expands = op != nullptr && op->expand != nullptr;
  if (expands && op->compute == nullptr) return EvaluateExpanded(single, *op, symbols);
  absl::StatusOr<NodeKernel> kernel = BuildNodeKernel(single, *single.nodes.begin());
  if (expands && absl::IsFailedPrecondition(kernel.status()))
    return EvaluateExpanded(single, *op, symbols);
  AOTC_RETURN_IF_ERROR(kernel.status());
  std::vector<Constant> operands;
  for (ValueId input : kernel->inputs) operands.push_back(*single.values[input].constant);
  return EvaluateKernel(kernel->kernel, operands);
}

}  // namespace aotc
