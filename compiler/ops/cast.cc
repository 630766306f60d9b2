// Changes of element type.
//
// Floats become integers by truncation towards zero (out of range is undefined in ONNX: the
// expression language saturates), integers narrow by dropping high bits, floats narrow to the
// nearest value, halves to even, beyond the range to infinity; bool is x != 0. Floats of 8 bits
// take their largest value for what is beyond, unless the attribute `saturate` is 0.
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// A float as an integer of `target`.
Expr Truncated(const Expr& x, DType target) {
  if (target == DType::kU32) return Cast(target, Cast(DType::kI64, x));
  return BitWidth(target) < 32 ? Cast(target, Cast(DType::kI32, x)) : Cast(target, x);
}

absl::Status CastTo(OpContext& op, DType target) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  bool has_arithmetic = target == DType::kBool || IsInteger(target) || IsFloat(target);
  if (!has_arithmetic || (BitWidth(target) < 8 && target != DType::kBool)) {
    return absl::UnimplementedError(StrCat("conversion to ", TypeName(target)));
  }
  const bool saturate = IsFloat8(target) && op.attributes().Int("saturate", 1) != 0;
  auto body = [&](const Indices& i) {
    if (x.dtype() == target) return x.Stored(i);
    if (target == DType::kBool) return Ne(x(i), Number(0, x(i)));
    if (saturate) return CastWithin(target, IsFloat(x(i).dtype()) ? x(i) : Cast(DType::kF32, x(i)));
    return IsFloat(x.dtype()) && IsInteger(target) ? Truncated(x(i), target) : x(i);
  };
  op.SetOutput(0, op.b().Compute(target, x.shape(), body));
  return absl::OkStatus();
}

absl::Status CastOp(OpContext& op) {
  int64_t to = op.attributes().Int("to");
  if (to != static_cast<int>(to) || !IsKnownDType(static_cast<int>(to))) {
    return absl::UnimplementedError(StrCat("conversion to ONNX element type ", to));
  }
  return CastTo(op, static_cast<DType>(to));
}

absl::Status CastLike(OpContext& op) {
  if (!op.HasInput(1)) return absl::InvalidArgumentError("needs input 1");
  return CastTo(op, op.InputType(1).dtype);
}

constexpr OpDef kOps[] = {
    {.name = "Cast",
     .compute = CastOp,
     .summary = "elements of another type",
     .traits = kElementwise | kChangesType},
    {.name = "CastLike",
     .compute = CastLike,
     .summary = "elements of the type of another tensor",
     .traits = kChangesType},
};

}  // namespace

std::span<const OpDef> CastOps() { return kOps; }

}  // namespace aotc
