#include "compiler/fuse/round_counters.h"

#include <algorithm>

#include "compiler/ir/control_flow.h"

namespace aotc {
namespace {

bool IsNumber(const Graph& graph, ValueId value, int64_t number) {
  const std::optional<Constant>& constant = graph.values[value].constant;
  return constant && constant->dtype() == DType::kI64 && constant->element_count() == 1 &&
         constant->IntAt(0) == number;
}

// %next = Add(%value, 1) in the region, either way round, or a copy of that.
bool IsIncrement(const Graph& graph, const Region& body, ValueId next, ValueId value) {
  for (auto id = body.nodes.rbegin(); id != body.nodes.rend(); ++id) {
    const Node& node = graph.nodes[*id];
    if (std::ranges::find(node.outputs, next) == node.outputs.end()) continue;
    if (node.op == "Identity") {
      next = node.inputs[0];
      continue;
    }
    if (node.op != "Add") return false;
    return (node.inputs[0] == value && IsNumber(graph, node.inputs[1], 1)) ||
           (node.inputs[1] == value && IsNumber(graph, node.inputs[0], 1));
  }
  return false;
}

}  // namespace

void AddRoundCounters(const Graph& graph, const Node& node, RoundCounters& counters) {
  if (!IsRepeat(node)) return;
  const Expr trip = TripOf(graph, node);
  if (!trip.valid()) return;
  const RepeatForm form = FormOf(graph, node);
  const Region& body = graph.regions[node.regions.begin()->second];
  for (size_t k = 0; k < form.carried; ++k) {
    const ValueId value = body.inputs[k];
    if (!IsNumber(graph, node.inputs[RepeatForm::kFirstCarried + k], 0)) continue;
    if (!IsIncrement(graph, body, body.outputs[form.first_next + k], value)) continue;
    counters.emplace(value, trip);
  }
}

}  // namespace aotc
