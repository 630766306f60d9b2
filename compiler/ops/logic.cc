// Comparisons and boolean logic.
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

template <Expr (*kCompare)(const Expr& a, const Expr& b)>
absl::Status Compare(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(std::vector<Tensor> x, BroadcastInputs(op, 0, 2));
  op.SetOutput(0, op.b().Map(x, [](const auto& v) { return kCompare(v[0], v[1]); }, DType::kBool));
  return absl::OkStatus();
}

absl::Status RequireBool(const Tensor& x) {
  if (x.dtype() == DType::kBool) return absl::OkStatus();
  return AOTC_REFUSAL(InvalidArgument, "needs bool operands");
}

template <Expr (*kCombine)(const Expr& a, const Expr& b)>
absl::Status Logic(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(std::vector<Tensor> x, BroadcastInputs(op, 0, 2));
  AOTC_RETURN_IF_ERROR(RequireBool(x[0]));
  op.SetOutput(0, op.b().Map(x, [](const auto& v) { return kCombine(v[0], v[1]); }));
  return absl::OkStatus();
}

absl::Status LogicalNot(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireBool(x));
  op.SetOutput(0, op.b().Map({x}, [](const auto& v) { return Not(v[0]); }));
  return absl::OkStatus();
}

Expr Greater(const Expr& a, const Expr& b) { return Lt(b, a); }
Expr GreaterOrEqual(const Expr& a, const Expr& b) { return Le(b, a); }

constexpr OpDef kOps[] = {
    {.name = "And",
     .compute = Logic<And>,
     .summary = "a and b",
     .traits = kNoDerivative | kElementwise | kBroadcasts | kCommutative},
    {.name = "Equal",
     .compute = Compare<Eq>,
     .summary = "a == b",
     .traits = kNoDerivative | kElementwise | kBroadcasts | kCommutative},
    {.name = "Greater",
     .compute = Compare<Greater>,
     .summary = "a > b",
     .traits = kNoDerivative | kElementwise | kBroadcasts},
    {.name = "GreaterOrEqual",
     .compute = Compare<GreaterOrEqual>,
     .summary = "a >= b",
     .traits = kNoDerivative | kElementwise | kBroadcasts},
    {.name = "Less",
     .compute = Compare<Lt>,
     .summary = "a < b",
     .traits = kNoDerivative | kElementwise | kBroadcasts},
    {.name = "LessOrEqual",
     .compute = Compare<Le>,
     .summary = "a <= b",
     .traits = kNoDerivative | kElementwise | kBroadcasts},
    {.name = "Not",
     .compute = LogicalNot,
     .summary = "not x",
     .traits = kNoDerivative | kElementwise},
    {.name = "Or",
     .compute = Logic<Or>,
     .summary = "a or b",
     .traits = kNoDerivative | kElementwise | kBroadcasts | kCommutative},
    {.name = "Xor",
     .compute = Logic<Ne>,
     .summary = "either a or b",
     .traits = kNoDerivative | kElementwise | kBroadcasts | kCommutative},
};

}  // namespace

std::span<const OpDef> LogicOps() { return kOps; }

}  // namespace aotc
