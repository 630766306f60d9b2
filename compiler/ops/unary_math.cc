// Elementwise functions of one operand that the expression language has as an operator.
#include <numbers>

#include "compiler/ops/gradient.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

enum class Operands { kFloats, kNumbers };

template <ExprOp kOp, Operands kOperands>
absl::Status UnaryOp(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(kOperands == Operands::kFloats ? RequireFloat(x) : RequireNumber(x));
  op.SetOutput(0, op.b().Map({x}, [](const auto& v) { return Unary(kOp, v[0]); }));
  return absl::OkStatus();
}

template <ExprOp kOp>
constexpr auto kFloatOp = UnaryOp<kOp, Operands::kFloats>;
template <ExprOp kOp>
constexpr auto kNumberOp = UnaryOp<kOp, Operands::kNumbers>;

absl::Status Reciprocal(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  op.SetOutput(0, op.b().Map({x}, [](const auto& v) { return Div(Number(1, v[0]), v[0]); }));
  return absl::OkStatus();
}

absl::Status IsNan(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  op.SetOutput(0, op.b().Map({x}, [](const auto& v) { return Unary(ExprOp::kIsNan, v[0]); }));
  return absl::OkStatus();
}

// Attributes detect_negative and detect_positive say which infinities count.
absl::Status IsInf(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  bool negative = op.attributes().Int("detect_negative", 1) != 0;
  bool positive = op.attributes().Int("detect_positive", 1) != 0;
  op.SetOutput(0, op.b().Map({x}, [&](const auto& v) {
    if (!negative && !positive) return Bool(false);
    Expr infinite = Unary(ExprOp::kIsInf, v[0]);
    if (negative && positive) return infinite;
    Expr zero = Number(0, v[0]);
    return And(infinite, negative ? Lt(v[0], zero) : Lt(zero, v[0]));
  }));
  return absl::OkStatus();
}

// Gradients of x by that of y, which is g.
Quantity GradientOfAbs(const Quantity& g, const Quantity& x, const Quantity&) {
  return g * x.To("Sign");
}
Quantity GradientOfAcos(const Quantity& g, const Quantity& x, const Quantity&) {
  return -(g / (1 - x * x).To("Sqrt"));
}
Quantity GradientOfAcosh(const Quantity& g, const Quantity& x, const Quantity&) {
  return g / (x * x - 1).To("Sqrt");
}
Quantity GradientOfAsin(const Quantity& g, const Quantity& x, const Quantity&) {
  return g / (1 - x * x).To("Sqrt");
}
Quantity GradientOfAsinh(const Quantity& g, const Quantity& x, const Quantity&) {
  return g / (x * x + 1).To("Sqrt");
}
Quantity GradientOfAtan(const Quantity& g, const Quantity& x, const Quantity&) {
  return g / (x * x + 1);
}
Quantity GradientOfAtanh(const Quantity& g, const Quantity& x, const Quantity&) {
  return g / (1 - x * x);
}
Quantity GradientOfCos(const Quantity& g, const Quantity& x, const Quantity&) {
  return -(g * x.To("Sin"));
}
Quantity GradientOfCosh(const Quantity& g, const Quantity& x, const Quantity&) {
  return g * x.To("Sinh");
}
Quantity GradientOfErf(const Quantity& g, const Quantity& x, const Quantity&) {
  return g * (-(x * x)).To("Exp") * (2 * std::numbers::inv_sqrtpi);
}
Quantity GradientOfExp(const Quantity& g, const Quantity&, const Quantity& y) { return g * y; }
Quantity GradientOfLog(const Quantity& g, const Quantity& x, const Quantity&) { return g / x; }
Quantity GradientOfNeg(const Quantity& g, const Quantity&, const Quantity&) { return -g; }
Quantity GradientOfReciprocal(const Quantity& g, const Quantity&, const Quantity& y) {
  return -(g * y * y);
}
Quantity GradientOfSigmoid(const Quantity& g, const Quantity&, const Quantity& y) {
  return g * y * (1 - y);
}
Quantity GradientOfSin(const Quantity& g, const Quantity& x, const Quantity&) {
  return g * x.To("Cos");
}
Quantity GradientOfSinh(const Quantity& g, const Quantity& x, const Quantity&) {
  return g * x.To("Cosh");
}
Quantity GradientOfSqrt(const Quantity& g, const Quantity&, const Quantity& y) {
  return g / (y * 2);
}
Quantity GradientOfTan(const Quantity& g, const Quantity&, const Quantity& y) {
  return g * (y * y + 1);
}
Quantity GradientOfTanh(const Quantity& g, const Quantity&, const Quantity& y) {
  return g * (1 - y * y);
}

constexpr OpDef kOps[] = {
    {.name = "Abs",
     .compute = kNumberOp<ExprOp::kAbs>,
     .summary = "|x|",
     .traits = kElementwise,
     .gradient = OfOperand<GradientOfAbs>},
    {.name = "Acos",
     .compute = kFloatOp<ExprOp::kAcos>,
     .summary = "arc cosine",
     .traits = kElementwise,
     .gradient = OfOperand<GradientOfAcos>},
    {.name = "Acosh",
     .compute = kFloatOp<ExprOp::kAcosh>,
     .summary = "inverse hyperbolic cosine",
     .traits = kElementwise,
     .gradient = OfOperand<GradientOfAcosh>},
    {.name = "Asin",
     .compute = kFloatOp<ExprOp::kAsin>,
     .summary = "arc sine",
     .traits = kElementwise,
     .gradient = OfOperand<GradientOfAsin>},
    {.name = "Asinh",
     .compute = kFloatOp<ExprOp::kAsinh>,
     .summary = "inverse hyperbolic sine",
     .traits = kElementwise,
     .gradient = OfOperand<GradientOfAsinh>},
    {.name = "Atan",
     .compute = kFloatOp<ExprOp::kAtan>,
     .summary = "arc tangent",
     .traits = kElementwise,
     .gradient = OfOperand<GradientOfAtan>},
    {.name = "Atanh",
     .compute = kFloatOp<ExprOp::kAtanh>,
     .summary = "inverse hyperbolic tangent",
     .traits = kElementwise,
     .gradient = OfOperand<GradientOfAtanh>},
    {.name = "Ceil",
     .compute = kFloatOp<ExprOp::kCeil>,
     .summary = "rounds up",
     .traits = kNoDerivative | kElementwise},
    {.name = "Cos",
     .compute = kFloatOp<ExprOp::kCos>,
     .summary = "cosine",
     .traits = kElementwise,
     .gradient = OfOperand<GradientOfCos>},
    {.name = "Cosh",
     .compute = kFloatOp<ExprOp::kCosh>,
     .summary = "hyperbolic cosine",
     .traits = kElementwise,
     .gradient = OfOperand<GradientOfCosh>},
    {.name = "Erf",
     .compute = kFloatOp<ExprOp::kErf>,
     .summary = "error function",
     .traits = kElementwise,
     .gradient = OfOperand<GradientOfErf>},
    {.name = "Exp",
     .compute = kFloatOp<ExprOp::kExp>,
     .summary = "e to the power of x",
     .traits = kElementwise,
     .gradient = OfOperand<GradientOfExp>},
    {.name = "Floor",
     .compute = kFloatOp<ExprOp::kFloor>,
     .summary = "rounds down",
     .traits = kNoDerivative | kElementwise},
    {.name = "IsInf",
     .compute = IsInf,
     .summary = "whether x is infinite",
     .traits = kNoDerivative | kElementwise},
    {.name = "IsNaN",
     .compute = IsNan,
     .summary = "whether x is not a number",
     .traits = kNoDerivative | kElementwise},
    {.name = "Log",
     .compute = kFloatOp<ExprOp::kLog>,
     .summary = "natural logarithm",
     .traits = kElementwise,
     .gradient = OfOperand<GradientOfLog>},
    {.name = "Neg",
     .compute = kNumberOp<ExprOp::kNeg>,
     .summary = "-x",
     .traits = kElementwise,
     .gradient = OfOperand<GradientOfNeg>},
    {.name = "Reciprocal",
     .compute = Reciprocal,
     .summary = "1 / x",
     .traits = kElementwise,
     .gradient = OfOperand<GradientOfReciprocal>},
    {.name = "Round",
     .compute = kFloatOp<ExprOp::kRound>,
     .summary = "rounds, halves to even",
     .traits = kNoDerivative | kElementwise},
    {.name = "Sigmoid",
     .compute = kFloatOp<ExprOp::kSigmoid>,
     .summary = "1 / (1 + exp(-x))",
     .traits = kElementwise,
     .gradient = OfOperand<GradientOfSigmoid>},
    {.name = "Sign",
     .compute = kNumberOp<ExprOp::kSign>,
     .summary = "-1, 0 or 1",
     .traits = kNoDerivative | kElementwise},
    {.name = "Sin",
     .compute = kFloatOp<ExprOp::kSin>,
     .summary = "sine",
     .traits = kElementwise,
     .gradient = OfOperand<GradientOfSin>},
    {.name = "Sinh",
     .compute = kFloatOp<ExprOp::kSinh>,
     .summary = "hyperbolic sine",
     .traits = kElementwise,
     .gradient = OfOperand<GradientOfSinh>},
    {.name = "Sqrt",
     .compute = kFloatOp<ExprOp::kSqrt>,
     .summary = "square root",
     .traits = kElementwise,
     .gradient = OfOperand<GradientOfSqrt>},
    {.name = "Tan",
     .compute = kFloatOp<ExprOp::kTan>,
     .summary = "tangent",
     .traits = kElementwise,
     .gradient = OfOperand<GradientOfTan>},
    {.name = "Tanh",
     .compute = kFloatOp<ExprOp::kTanh>,
     .summary = "hyperbolic tangent",
     .traits = kElementwise,
     .gradient = OfOperand<GradientOfTanh>},
};

}  // namespace

std::span<const OpDef> UnaryMathOps() { return kOps; }

}  // namespace aotc
