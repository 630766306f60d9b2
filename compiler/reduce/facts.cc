#include "compiler/reduce/facts.h"

#include <utility>

#include "compiler/driver/inspect.h"
#include "compiler/emit/interface.h"
#include "compiler/ops/op.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

ValueFact FactOf(const Graph& graph, const Value& value) {
  ValueFact fact{.dtype = value.type.dtype, .constant = value.constant};
  if (!value.type.ranked) return fact;
  fact.dims.emplace();
  for (const Expr& dim : value.type.dims) fact.dims->push_back(PrintUserDim(dim, graph.symbols));
  return fact;
}

// Every result an output, so that none is dropped or loses its name.
void KeepAllValues(Graph& graph) {
  Region& main = graph.main_region();
  std::set<ValueId> outputs(main.outputs.begin(), main.outputs.end());
  for (NodeId id : main.nodes) {
    for (ValueId output : graph.nodes[id].outputs) {
      if (output.valid() && outputs.insert(output).second) main.outputs.push_back(output);
    }
  }
}

}  // namespace

ValueFacts FactsOf(const std::string& path, const ImportOptions& options) {
  ImportOptions lenient = options;
  lenient.lenient = true;
  lenient.partial = true;
  Diagnostics ignored;
  absl::StatusOr<Graph> graph = ImportOnnx(path, lenient, ignored);
  if (!graph.ok()) return {};
  KeepAllValues(*graph);
  const Graph typed = InferPartly(*graph, ignored);
  ValueFacts facts;
  for (const Value& value : typed.values) {
    const bool tensor = value.type.kind == ValueKind::kTensor;
    if (tensor && value.type.dtype != DType::kUndefined) facts[value.name] = FactOf(typed, value);
  }
  for (const Node& node : typed.nodes) {  // an output that is a constant is a copy of it
    if (!HasTrait(node.op, kKeepsOrder) || !HasInput(node, 0)) continue;
    const Value &source = typed.values[node.inputs[0]], &copy = typed.values[node.outputs[0]];
    const auto fact = facts.find(copy.name);
    const bool is_copy = source.constant && SameShape(source.type.dims, copy.type.dims);
    if (is_copy && fact != facts.end()) fact->second.constant = source.constant;
  }
  return facts;
}

}  // namespace aotc
