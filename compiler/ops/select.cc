// Choosing between values: Where and Clip.
#include "compiler/ops/gradient_rules.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

absl::Status Where(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor condition, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(std::vector<Tensor> values, BroadcastInputs(op, 1, 2));
  if (condition.dtype() != DType::kBool) {
    return AOTC_REFUSAL(InvalidArgument, "needs a bool condition");
  }
  std::vector<Tensor> operands = {condition, values[0], values[1]};
  AOTC_RETURN_IF_ERROR(RequireBroadcast(op, operands));
  op.SetOutput(
      0, op.b().Map(
             operands, [](const auto& v) { return Select(v[0], v[1], v[2]); }, values[0].dtype()));
  return absl::OkStatus();
}

// A bound of Clip: a constant where it is known, else an operand of one element.
absl::Status AddBound(OpContext& op, size_t index, std::vector<Tensor>& operands, Expr& known) {
  if (!op.HasInput(index)) return absl::OkStatus();
  const Constant* constant = op.ConstInput(index);
  if (constant != nullptr && constant->element_count() == 1) {
    if (constant->dtype() != operands[0].dtype()) {
      return AOTC_REFUSAL(InvalidArgument, "the bounds must have the element type of the input");
    }
    known = ElementOf(*constant, 0, ComputeType(operands[0].dtype()));
    return absl::OkStatus();
  }
  AOTC_ASSIGN_OR_RETURN(Tensor bound, op.Input(index));
  AOTC_RETURN_IF_ERROR(RequireRank(bound, 0, 0));
  operands.push_back(bound);
  return RequireSameType(operands);
}

// min(max(x, low), high), so that `high` wins where low > high.
absl::Status Clip(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireNumber(x));
  std::vector<Tensor> operands = {x};
  Expr low, high;
  AOTC_RETURN_IF_ERROR(AddBound(op, 1, operands, low));
  size_t after_low = operands.size();
  AOTC_RETURN_IF_ERROR(AddBound(op, 2, operands, high));
  op.SetOutput(0, op.b().Map(operands, [&](const auto& v) {
    Expr result = v[0];
    if (after_low == 2) result = Max(result, v[1]);
    if (low.valid()) result = Max(result, low);
    if (operands.size() > after_low) result = Min(result, v.back());
    if (high.valid()) result = Min(result, high);
    return result;
  }));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "Clip",
     .compute = Clip,
     .summary = "x limited to an interval",
     .traits = kElementwise,
     .gradient = GradientOfClip},
    {.name = "Where",
     .compute = Where,
     .summary = "a where a condition holds, else b",
     .traits = kElementwise | kBroadcasts | kMovesOperands,
     .gradient = GradientOfWhere},
};

}  // namespace

std::span<const OpDef> SelectOps() { return kOps; }

}  // namespace aotc
