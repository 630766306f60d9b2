// Activation functions: pointwise formulas with attributes.
#include <cmath>
#include <numbers>

#include "compiler/ops/gradient_rules.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

using Formula = absl::StatusOr<Expr> (*)(const Expr& x, const Attributes& attributes);

// An op whose result is `kFormula` of its one operand. Each formula's own attributes have the
// defaults of ONNX.
template <Formula kFormula>
absl::Status Activation(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  Expr probe = Var("x", ComputeType(x.dtype()));
  AOTC_RETURN_IF_ERROR(kFormula(probe, op.attributes()).status());
  op.SetOutput(0, op.b().Map({x}, [&](const auto& v) { return *kFormula(v[0], op.attributes()); }));
  return absl::OkStatus();
}

Expr Tanh(const Expr& x) { return Unary(ExprOp::kTanh, x); }
Expr Sigmoid(const Expr& x) { return Unary(ExprOp::kSigmoid, x); }
Expr IsNegative(const Expr& x) { return Lt(x, Number(0, x)); }

// log(1 + t) of a t from 0 to 1: that of what the sum is rounded to, and what is lost by rounding.
Expr LogOfOnePlus(const Expr& t) {
  const Expr sum = Number(1, t) + t;
  return Unary(ExprOp::kLog, sum) + Div(t - (sum - Number(1, t)), sum);
}

// log(1 + exp(x)) without overflow: max(x, 0) + log(1 + exp(-|x|))
Expr SoftplusOf(const Expr& x) {
  return Max(x, Number(0, x)) + LogOfOnePlus(Exp(-Unary(ExprOp::kAbs, x)));
}

absl::StatusOr<Expr> LeakyRelu(const Expr& x, const Attributes& a) {
  return Select(IsNegative(x), x * Number(a.Float("alpha", 0.01F), x), x);
}

absl::StatusOr<Expr> Elu(const Expr& x, const Attributes& a) {
  Expr alpha = Number(a.Float("alpha", 1), x);
  return Select(IsNegative(x), alpha * (Exp(x) - Number(1, x)), x);
}

absl::StatusOr<Expr> Selu(const Expr& x, const Attributes& a) {
  Expr alpha = Number(a.Float("alpha", 1.67326319217681884765625F), x);
  Expr gamma = Number(a.Float("gamma", 1.05070102214813232421875F), x);
  return gamma * Select(IsNegative(x), alpha * (Exp(x) - Number(1, x)), x);
}

// max(0, x) + min(0, alpha * (exp(x / alpha) - 1))
absl::StatusOr<Expr> Celu(const Expr& x, const Attributes& a) {
  Expr alpha = Number(a.Float("alpha", 1), x);
  Expr zero = Number(0, x);
  return Max(zero, x) + Min(zero, alpha * (Exp(Div(x, alpha)) - Number(1, x)));
}

absl::StatusOr<Expr> ThresholdedRelu(const Expr& x, const Attributes& a) {
  return Select(Lt(Number(a.Float("alpha", 1), x), x), x, Number(0, x));
}

Expr HardSigmoidOf(const Expr& x, double alpha, double beta) {
  Expr line = x * Number(alpha, x) + Number(beta, x);
  return Max(Number(0, x), Min(Number(1, x), line));
}

absl::StatusOr<Expr> HardSigmoid(const Expr& x, const Attributes& a) {
  return HardSigmoidOf(x, a.Float("alpha", 0.2F), a.Float("beta", 0.5F));
}

absl::StatusOr<Expr> HardSwish(const Expr& x, const Attributes&) {
  return x * HardSigmoidOf(x, 1.0 / 6.0, 0.5);
}

absl::StatusOr<Expr> Softplus(const Expr& x, const Attributes&) { return SoftplusOf(x); }

absl::StatusOr<Expr> Softsign(const Expr& x, const Attributes&) {
  return Div(x, Number(1, x) + Unary(ExprOp::kAbs, x));
}

absl::StatusOr<Expr> Gelu(const Expr& x, const Attributes& a) {
  std::string approximate = a.String("approximate", "none");
  Expr half = x * Number(0.5, x);
  if (approximate == "none") {
    Expr scaled = x * Number(1 / std::numbers::sqrt2, x);
    return half * (Number(1, x) + Unary(ExprOp::kErf, scaled));
  }
  if (approximate == "tanh") {
    Expr cubic = x + Number(0.044715, x) * x * x * x;
    Expr scale = Number(std::sqrt(2 / std::numbers::pi), x);
    return half * (Number(1, x) + Tanh(scale * cubic));
  }
  return AOTC_REFUSAL(InvalidArgument, StrCat("unknown approximation '", approximate, "'"));
}

absl::StatusOr<Expr> Mish(const Expr& x, const Attributes&) { return x * Tanh(SoftplusOf(x)); }

absl::StatusOr<Expr> Swish(const Expr& x, const Attributes& a) {
  return x * Sigmoid(x * Number(a.Float("alpha", 1), x));
}

absl::Status Relu(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireNumber(x));
  op.SetOutput(0, op.b().Map({x}, [](const auto& v) { return Max(v[0], Number(0, v[0])); }));
  return absl::OkStatus();
}

// select(x < -lambd, x + bias, select(x > lambd, x - bias, 0)); integers too.
absl::Status Shrink(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireNumber(x));
  // Integers are compared and shifted as floats, then truncated.
  DType compute = IsFloat(x.dtype()) ? ComputeType(x.dtype()) : DType::kF32;
  Expr bias = NumberConst(op.attributes().Float("bias", 0), compute);
  Expr lambd = NumberConst(op.attributes().Float("lambd", 0.5F), compute);
  auto body = [&](const auto& v) {
    Expr value = Cast(compute, v[0]);
    Expr above = Select(Lt(lambd, value), value - bias, Number(0, value));
    return Select(Lt(value, -lambd), value + bias, above);
  };
  op.SetOutput(0, op.b().Map({x}, body, x.dtype()));
  return absl::OkStatus();
}

absl::Status PRelu(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(std::vector<Tensor> x, BroadcastInputs(op, 0, 2));
  AOTC_RETURN_IF_ERROR(RequireNumber(x[0]));
  op.SetOutput(0, op.b().Map(x, [](const auto& v) {
    return Select(Lt(v[0], Number(0, v[0])), v[0] * v[1], v[0]);
  }));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "Celu",
     .compute = Activation<Celu>,
     .summary = "continuous exponential unit",
     .traits = kElementwise,
     .gradient = GradientOfCelu},
    {.name = "Elu",
     .compute = Activation<Elu>,
     .summary = "x, or alpha * (exp(x) - 1) below 0",
     .traits = kElementwise,
     .gradient = GradientOfElu},
    {.name = "Gelu",
     .compute = Activation<Gelu>,
     .summary = "Gaussian error unit",
     .traits = kElementwise,
     .gradient = GradientOfGelu},
    {.name = "HardSigmoid",
     .compute = Activation<HardSigmoid>,
     .summary = "clamped line",
     .traits = kElementwise,
     .gradient = GradientOfHardSigmoid},
    {.name = "HardSwish",
     .compute = Activation<HardSwish>,
     .summary = "x * hard sigmoid of x",
     .traits = kElementwise,
     .gradient = GradientOfHardSwish},
    {.name = "LeakyRelu",
     .compute = Activation<LeakyRelu>,
     .summary = "x, or alpha * x below 0",
     .traits = kElementwise,
     .gradient = GradientOfLeakyRelu},
    {.name = "Mish",
     .compute = Activation<Mish>,
     .summary = "x * tanh(softplus(x))",
     .traits = kElementwise,
     .gradient = GradientOfMish},
    {.name = "PRelu",
     .compute = PRelu,
     .summary = "x, or slope * x below 0",
     .gradient = GradientOfPRelu},
    {.name = "Relu",
     .compute = Relu,
     .summary = "max(x, 0)",
     .traits = kElementwise,
     .gradient = GradientOfRelu},
    {.name = "Selu",
     .compute = Activation<Selu>,
     .summary = "scaled exponential unit",
     .traits = kElementwise,
     .gradient = GradientOfSelu},
    {.name = "Shrink",
     .compute = Shrink,
     .summary = "0 near 0, shifted by bias outside",
     .traits = kElementwise,
     .gradient = GradientOfShrink},
    {.name = "Softplus",
     .compute = Activation<Softplus>,
     .summary = "log(1 + exp(x))",
     .traits = kElementwise,
     .gradient = GradientOfSoftplus},
    {.name = "Softsign",
     .compute = Activation<Softsign>,
     .summary = "x / (1 + |x|)",
     .traits = kElementwise,
     .gradient = GradientOfSoftsign},
    {.name = "Swish",
     .compute = Activation<Swish>,
     .summary = "x * sigmoid(alpha * x)",
     .traits = kElementwise,
     .gradient = GradientOfSwish},
    {.name = "ThresholdedRelu",
     .compute = Activation<ThresholdedRelu>,
     .summary = "x above alpha, else 0",
     .traits = kElementwise,
     .gradient = GradientOfThresholdedRelu},
};

}  // namespace

std::span<const OpDef> ActivationOps() { return kOps; }

}  // namespace aotc
