// Elementwise functions of one operand that the expression language has as an operator.
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

constexpr OpDef kOps[] = {
    {.name = "Abs", .compute = kNumberOp<ExprOp::kAbs>, .summary = "|x|", .traits = kElementwise},
    {.name = "Acos",
     .compute = kFloatOp<ExprOp::kAcos>,
     .summary = "arc cosine",
     .traits = kElementwise},
    {.name = "Acosh",
     .compute = kFloatOp<ExprOp::kAcosh>,
     .summary = "inverse hyperbolic cosine",
     .traits = kElementwise},
    {.name = "Asin",
     .compute = kFloatOp<ExprOp::kAsin>,
     .summary = "arc sine",
     .traits = kElementwise},
    {.name = "Asinh",
     .compute = kFloatOp<ExprOp::kAsinh>,
     .summary = "inverse hyperbolic sine",
     .traits = kElementwise},
    {.name = "Atan",
     .compute = kFloatOp<ExprOp::kAtan>,
     .summary = "arc tangent",
     .traits = kElementwise},
    {.name = "Atanh",
     .compute = kFloatOp<ExprOp::kAtanh>,
     .summary = "inverse hyperbolic tangent",
     .traits = kElementwise},
    {.name = "Ceil",
     .compute = kFloatOp<ExprOp::kCeil>,
     .summary = "rounds up",
     .traits = kElementwise},
    {.name = "Cos", .compute = kFloatOp<ExprOp::kCos>, .summary = "cosine", .traits = kElementwise},
    {.name = "Cosh",
     .compute = kFloatOp<ExprOp::kCosh>,
     .summary = "hyperbolic cosine",
     .traits = kElementwise},
    {.name = "Erf",
     .compute = kFloatOp<ExprOp::kErf>,
     .summary = "error function",
     .traits = kElementwise},
    {.name = "Exp",
     .compute = kFloatOp<ExprOp::kExp>,
     .summary = "e to the power of x",
     .traits = kElementwise},
    {.name = "Floor",
     .compute = kFloatOp<ExprOp::kFloor>,
     .summary = "rounds down",
     .traits = kElementwise},
    {.name = "IsInf", .compute = IsInf, .summary = "whether x is infinite", .traits = kElementwise},
    {.name = "IsNaN",
     .compute = IsNan,
     .summary = "whether x is not a number",
     .traits = kElementwise},
    {.name = "Log",
     .compute = kFloatOp<ExprOp::kLog>,
     .summary = "natural logarithm",
     .traits = kElementwise},
    {.name = "Neg", .compute = kNumberOp<ExprOp::kNeg>, .summary = "-x", .traits = kElementwise},
    {.name = "Reciprocal", .compute = Reciprocal, .summary = "1 / x", .traits = kElementwise},
    {.name = "Round",
     .compute = kFloatOp<ExprOp::kRound>,
     .summary = "rounds, halves to even",
     .traits = kElementwise},
    {.name = "Sigmoid",
     .compute = kFloatOp<ExprOp::kSigmoid>,
     .summary = "1 / (1 + exp(-x))",
     .traits = kElementwise},
    {.name = "Sign",
     .compute = kNumberOp<ExprOp::kSign>,
     .summary = "-1, 0 or 1",
     .traits = kElementwise},
    {.name = "Sin", .compute = kFloatOp<ExprOp::kSin>, .summary = "sine", .traits = kElementwise},
    {.name = "Sinh",
     .compute = kFloatOp<ExprOp::kSinh>,
     .summary = "hyperbolic sine",
     .traits = kElementwise},
    {.name = "Sqrt",
     .compute = kFloatOp<ExprOp::kSqrt>,
     .summary = "square root",
     .traits = kElementwise},
    {.name = "Tan",
     .compute = kFloatOp<ExprOp::kTan>,
     .summary = "tangent",
     .traits = kElementwise},
    {.name = "Tanh",
     .compute = kFloatOp<ExprOp::kTanh>,
     .summary = "hyperbolic tangent",
     .traits = kElementwise},
};

}  // namespace

std::span<const OpDef> UnaryMathOps() { return kOps; }

}  // namespace aotc
