// Arithmetic of two or more operands with numpy broadcasting.
#include "compiler/ops/gradient_rules.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

template <ExprOp kOp>
absl::Status BinaryOp(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(std::vector<Tensor> x, BroadcastInputs(op, 0, 2));
  AOTC_RETURN_IF_ERROR(RequireNumber(x[0]));
  op.SetOutput(0, op.b().Map(x, [](const auto& v) { return Binary(kOp, v[0], v[1]); }));
  return absl::OkStatus();
}

absl::Status RequireInteger(const Tensor& x) {
  if (IsInteger(x.dtype())) return absl::OkStatus();
  return AOTC_REFUSAL(InvalidArgument, "needs integer operands");
}

template <ExprOp kOp>
absl::Status BitwiseOp(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(std::vector<Tensor> x, BroadcastInputs(op, 0, 2));
  AOTC_RETURN_IF_ERROR(RequireInteger(x[0]));
  op.SetOutput(0, op.b().Map(x, [](const auto& v) { return Binary(kOp, v[0], v[1]); }));
  return absl::OkStatus();
}

absl::Status BitwiseNot(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireInteger(x));
  op.SetOutput(0, op.b().Map({x}, [](const auto& v) { return Unary(ExprOp::kBitNot, v[0]); }));
  return absl::OkStatus();
}

Expr Fold(ExprOp combine, const std::vector<Expr>& v) {
  Expr result = v[0];
  for (size_t i = 1; i < v.size(); ++i) result = Binary(combine, result, v[i]);
  return result;
}

// All inputs, one or more, in their common shape.
absl::StatusOr<std::vector<Tensor>> Operands(OpContext& op) {
  if (op.InputCount() == 0) return AOTC_REFUSAL(InvalidArgument, "needs an operand");
  return BroadcastInputs(op, 0, op.InputCount());
}

template <ExprOp kOp>
absl::Status VariadicOp(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(std::vector<Tensor> x, Operands(op));
  AOTC_RETURN_IF_ERROR(RequireNumber(x[0]));
  op.SetOutput(0, op.b().Map(x, [](const auto& v) { return Fold(kOp, v); }));
  return absl::OkStatus();
}

absl::Status Mean(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(std::vector<Tensor> x, Operands(op));
  AOTC_RETURN_IF_ERROR(RequireFloat(x[0]));
  op.SetOutput(0, op.b().Map(x, [](const auto& v) {
    return Div(Fold(ExprOp::kAdd, v), Number(static_cast<double>(v.size()), v[0]));
  }));
  return absl::OkStatus();
}

// Python's % (sign of the divisor), or C's fmod with attribute fmod = 1. An integer divisor of 0
// gives 0.
absl::Status Remainder(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(std::vector<Tensor> x, BroadcastInputs(op, 0, 2));
  AOTC_RETURN_IF_ERROR(RequireNumber(x[0]));
  ExprOp remainder = op.attributes().Int("fmod") != 0 ? ExprOp::kTruncMod : ExprOp::kMod;
  op.SetOutput(0, op.b().Map(x, [&](const auto& v) { return Binary(remainder, v[0], v[1]); }));
  return absl::OkStatus();
}

// The exponent where it is a constant of one element.
std::optional<double> SplatExponent(const OpContext& op) {
  const Constant* exponent = op.ConstInput(1);
  if (exponent == nullptr || exponent->element_count() < 1) return std::nullopt;
  if (exponent->element_count() != 1 && !exponent->is_splat()) return std::nullopt;
  if (!IsFloat(exponent->dtype()) && !IsInteger(exponent->dtype())) return std::nullopt;
  return exponent->FloatAt(0);
}

// The result has the type of the base; operands of different types meet in the wider kind: f64
// where either is f64 or a float meets integers that f32 does not hold, else f32 where either is a
// float, else i64.
DType PowType(DType base, DType exponent) {
  DType x = ComputeType(base), y = ComputeType(exponent);
  if (x == y) return x;
  if (x == DType::kF64 || y == DType::kF64) return DType::kF64;
  if (IsInteger(base) && BitWidth(base) >= 32 && IsFloat(y)) return DType::kF64;
  return IsFloat(x) || IsFloat(y) ? DType::kF32 : DType::kI64;
}

// Squares and cubes, the usual constant exponents, are products.
absl::Status Pow(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor base, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(Tensor exponent, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireNumber(base));
  AOTC_RETURN_IF_ERROR(RequireNumber(exponent));
  AOTC_RETURN_IF_ERROR(RequireBroadcast(op, {base, exponent}));
  DType type = PowType(base.dtype(), exponent.dtype());
  std::optional<double> known = SplatExponent(op);
  auto body = [&](const auto& v) {
    Expr x = Cast(type, v[0]);
    if (known == 2.0) return x * x;
    if (known == 3.0) return x * x * x;
    return Binary(ExprOp::kPow, x, Cast(type, v[1]));
  };
  op.SetOutput(0, op.b().Map({base, exponent}, body, base.dtype()));
  return absl::OkStatus();
}

// A shift by the width of the type or more gives 0.
absl::Status BitShift(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(std::vector<Tensor> x, BroadcastInputs(op, 0, 2));
  AOTC_RETURN_IF_ERROR(RequireInteger(x[0]));
  std::string direction = op.attributes().String("direction");
  if (direction != "LEFT" && direction != "RIGHT") {
    return AOTC_REFUSAL(InvalidArgument, "attribute direction must be LEFT or RIGHT");
  }
  ExprOp shift = direction == "LEFT" ? ExprOp::kShiftLeft : ExprOp::kShiftRight;
  double width = BitWidth(x[0].dtype());
  op.SetOutput(0, op.b().Map(x, [&](const auto& v) {
    return Select(Lt(v[1], Number(width, v[1])), Binary(shift, v[0], v[1]), Number(0, v[0]));
  }));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "Add",
     .compute = BinaryOp<ExprOp::kAdd>,
     .summary = "a + b",
     .traits = kElementwise | kBroadcasts | kCommutative,
     .gradient = GradientOfAdd},
    {.name = "BitShift",
     .compute = BitShift,
     .summary = "shifts bits left or right",
     .traits = kElementwise | kBroadcasts},
    {.name = "BitwiseAnd",
     .compute = BitwiseOp<ExprOp::kBitAnd>,
     .summary = "a & b",
     .traits = kElementwise | kBroadcasts | kCommutative},
    {.name = "BitwiseNot", .compute = BitwiseNot, .summary = "~x", .traits = kElementwise},
    {.name = "BitwiseOr",
     .compute = BitwiseOp<ExprOp::kBitOr>,
     .summary = "a | b",
     .traits = kElementwise | kBroadcasts | kCommutative},
    {.name = "BitwiseXor",
     .compute = BitwiseOp<ExprOp::kBitXor>,
     .summary = "a ^ b",
     .traits = kElementwise | kBroadcasts | kCommutative},
    {.name = "Div",
     .compute = BinaryOp<ExprOp::kDiv>,
     .summary = "a / b; integers truncate",
     .traits = kElementwise | kBroadcasts,
     .gradient = GradientOfDiv},
    {.name = "Max",
     .compute = VariadicOp<ExprOp::kMax>,
     .summary = "greatest of the operands",
     .traits = kElementwise | kBroadcasts,
     .gradient = GradientOfExtreme},
    {.name = "Mean",
     .compute = Mean,
     .summary = "mean of the operands",
     .traits = kElementwise | kBroadcasts,
     .gradient = GradientOfMean},
    {.name = "Min",
     .compute = VariadicOp<ExprOp::kMin>,
     .summary = "least of the operands",
     .traits = kElementwise | kBroadcasts,
     .gradient = GradientOfExtreme},
    {.name = "Mod",
     .compute = Remainder,
     .summary = "remainder of a / b",
     .traits = kElementwise | kBroadcasts},
    {.name = "Mul",
     .compute = BinaryOp<ExprOp::kMul>,
     .summary = "a * b",
     .traits = kElementwise | kBroadcasts | kCommutative,
     .gradient = GradientOfMul},
    {.name = "Pow",
     .compute = Pow,
     .summary = "a to the power of b",
     .traits = kElementwise | kBroadcasts,
     .gradient = GradientOfPow},
    {.name = "Sub",
     .compute = BinaryOp<ExprOp::kSub>,
     .summary = "a - b",
     .traits = kElementwise | kBroadcasts,
     .gradient = GradientOfSub},
    {.name = "Sum",
     .compute = VariadicOp<ExprOp::kAdd>,
     .summary = "sum of the operands",
     .traits = kElementwise | kBroadcasts,
     .gradient = GradientOfSum},
};

}  // namespace

std::span<const OpDef> ArithmeticOps() { return kOps; }

}  // namespace aotc
