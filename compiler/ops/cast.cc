// Changes of element type.
//
// Floats become integers by truncation towards zero (out of range is undefined in ONNX: the
// expression language saturates), integers narrow by dropping high bits, floats narrow to the
// nearest value, halves to even, beyond the range to infinity; bool is x != 0. Floats of 8 bits
// take their largest value for what is beyond, unless the attribute `saturate` is 0; f4e2m1 always
// does. f8e8m0, which has no sign, takes the magnitude.
#include "compiler/ops/gradient_rules.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// A float as an integer of `target`.
Expr Truncated(const Expr& x, DType target) {
  if (target == DType::kU32) return Cast(target, Cast(DType::kI64, x));
  return BitWidth(target) < 32 ? Cast(target, Cast(DType::kI32, x)) : Cast(target, x);
}

// The exponent of the power of two that f8e8m0 rounds |x| to, which may lie beyond its range.
// `bits` are those of x as f64, which holds every number of the other types but integers of 64
// bits, and the denormals of f32 as normal numbers.
Expr RoundedExponent(const Expr& bits, std::string_view round_mode) {
  constexpr int64_t kFractionBits = 52, kFractions = int64_t{1} << kFractionBits;
  constexpr int64_t kExponents = 0x7ff, kBias = 1023;
  const Expr shifted = Binary(ExprOp::kShiftRight, bits, Expr(kFractionBits));
  Expr exponent = Binary(ExprOp::kBitAnd, shifted, Expr(kExponents)) - Expr(kBias);
  if (round_mode == "down") return exponent;
  const Expr fraction = Binary(ExprOp::kBitAnd, bits, Expr(kFractions - 1));
  const Expr least = Expr(round_mode == "nearest" ? kFractions / 2 : int64_t{1});
  return exponent + Select(Lt(fraction, least), Expr(0), Expr(1));
}

// |x| as a power of two, 2^-127 .. 2^127. What rounds to one beyond becomes the least or the
// largest where the attribute `saturate` is 1, else NaN.
Expr PowerOfTwo(const Expr& x, const Attributes& attributes) {
  constexpr int64_t kBias = 127, kLargest = 254, kNan = 255;
  const Expr wide = Cast(DType::kF64, x);
  const Expr code =
      RoundedExponent(BitCast(DType::kI64, wide), attributes.String("round_mode", "up")) +
      Expr(kBias);
  const Expr beyond = Or(Lt(code, Expr(0)), Lt(Expr(kLargest), code));
  const Expr number = attributes.Int("saturate", 1) != 0 ? Clamp(code, Expr(0), Expr(kLargest))
                                                         : Select(beyond, Expr(kNan), code);
  const Expr known = Select(Unary(ExprOp::kIsNan, wide), Expr(kNan), number);
  return BitCast(DType::kF8E8M0, Cast(DType::kU8, known));
}

absl::Status CheckRoundMode(const Attributes& attributes) {
  const std::string mode = attributes.String("round_mode", "up");
  if (mode == "up" || mode == "down" || mode == "nearest") return absl::OkStatus();
  return AOTC_REFUSAL(InvalidArgument, StrCat("attribute round_mode is '", mode, "'"));
}

absl::Status CastTo(OpContext& op, DType target) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  bool has_arithmetic = target == DType::kBool || IsInteger(target) || IsFloat(target);
  if (!has_arithmetic) {
    return AOTC_REFUSAL(Unimplemented, StrCat("conversion to ", TypeName(target)));
  }
  AOTC_RETURN_IF_ERROR(CheckRoundMode(op.attributes()));
  const bool saturate = IsFloat8(target) && op.attributes().Int("saturate", 1) != 0;
  auto body = [&](const Indices& i) {
    if (x.dtype() == target) return x.Stored(i);
    if (target == DType::kBool) return Ne(x(i), Number(0, x(i)));
    if (target == DType::kF8E8M0) return PowerOfTwo(x(i), op.attributes());
    if (saturate) return CastWithin(target, IsFloat(x(i).dtype()) ? x(i) : Cast(DType::kF32, x(i)));
    return IsFloat(x.dtype()) && IsInteger(target) ? Truncated(x(i), target) : x(i);
  };
  op.SetOutput(0, op.b().Compute(target, x.shape(), body));
  return absl::OkStatus();
}

absl::Status CastOp(OpContext& op) {
  int64_t to = op.attributes().Int("to");
  if (to != static_cast<int>(to) || !IsKnownDType(static_cast<int>(to))) {
    return AOTC_REFUSAL(Unimplemented, StrCat("conversion to ONNX element type ", to));
  }
  return CastTo(op, static_cast<DType>(to));
}

absl::Status CastLike(OpContext& op) {
  if (!op.HasInput(1)) return AOTC_REFUSAL(InvalidArgument, "needs input 1");
  return CastTo(op, op.InputType(1).dtype);
}

constexpr OpDef kOps[] = {
    {.name = "Cast",
     .compute = CastOp,
     .summary = "elements of another type",
     .traits = kElementwise | kChangesType,
     .gradient = GradientOfCast},
    {.name = "CastLike",
     .compute = CastLike,
     .summary = "elements of the type of another tensor",
     .traits = kChangesType,
     .gradient = GradientOfCastLike},
};

}  // namespace

std::span<const OpDef> CastOps() { return kOps; }

}  // namespace aotc
