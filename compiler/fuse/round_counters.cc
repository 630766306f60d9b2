#include "compiler/fuse/round_counters.h"

#include <algorithm>
#include <optional>

#include "compiler/ir/control_flow.h"
#include "compiler/ops/op.h"

namespace aotc {
namespace {

bool IsNumber(const Graph& graph, ValueId value, int64_t number) {
  const std::optional<Constant>& constant = graph.values[value].constant;
  return constant && constant->dtype() == DType::kI64 && constant->element_count() == 1 &&
         constant->IntAt(0) == number;
}

// The value of which a body has an element; invalid where it is no element.
ValueId LoadedBy(const NodeKernel& node, const Expr& body) {
  if (body.op() != ExprOp::kLoad) return {};
  const auto param = std::ranges::find(node.kernel.params, body->tensor);
  return node.inputs[static_cast<size_t>(param - node.kernel.params.begin())];
}

// What a node makes of its operands, where that is one element of one stage.
std::optional<Expr> ElementOf(const NodeKernel& node) {
  if (node.kernel.stages.size() != 1 || node.outputs.size() != 1) return std::nullopt;
  const Stage& stage = node.kernel.stages[0];
  const bool is_one = !stage.IsReduction() && stage.body.size() == 1;
  return is_one ? std::optional(stage.body[0]) : std::nullopt;
}

// %next is %value + 1 in the region, either way round, or a copy of that.
bool IsIncrement(const Graph& graph, const Region& body, ValueId next, ValueId value) {
  for (auto id = body.nodes.rbegin(); id != body.nodes.rend(); ++id) {
    const Node& node = graph.nodes[*id];
    if (std::ranges::find(node.outputs, next) == node.outputs.end()) continue;
    const absl::StatusOr<NodeKernel> built = BuildNodeKernel(graph, node);
    const std::optional<Expr> element = built.ok() ? ElementOf(*built) : std::nullopt;
    if (!element) return false;
    if (const ValueId copied = LoadedBy(*built, *element); copied.valid()) {
      next = copied;
      continue;
    }
    if (element->op() != ExprOp::kAdd) return false;
    const ValueId a = LoadedBy(*built, element->arg(0)), b = LoadedBy(*built, element->arg(1));
    return (a == value && b.valid() && IsNumber(graph, b, 1)) ||
           (b == value && a.valid() && IsNumber(graph, a, 1));
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
