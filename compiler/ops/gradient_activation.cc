// Rules of differentiation of activations. Where a function has a kink, the slope is that on the
// left of it for those that are 0 there, as frameworks have it.
#include <cmath>
#include <numbers>

#include "compiler/ops/gradient.h"
#include "compiler/ops/gradient_rules.h"

namespace aotc {
namespace {

double Attribute(const Quantity& x, std::string_view name, float fallback) {
  return x.context().attributes().Float(name, fallback);
}

Quantity Exp(const Quantity& x) { return x.To("Exp"); }
Quantity Sigmoid(const Quantity& x) { return x.To("Sigmoid"); }
Quantity IsNegative(const Quantity& x) { return x.To("Less", {x.Number(0)}); }
Quantity IsAbove(const Quantity& x, double limit) { return x.To("Greater", {x.Number(limit)}); }
Quantity IsBelow(const Quantity& x, double limit) { return x.To("Less", {x.Number(limit)}); }

Quantity Celu(const Quantity& g, const Quantity& x, const Quantity&) {
  const double alpha = Attribute(x, "alpha", 1);
  return Choose(IsNegative(x), g * Exp(x / x.Number(alpha)), g);
}

Quantity Elu(const Quantity& g, const Quantity& x, const Quantity&) {
  return Choose(IsNegative(x), g * Exp(x) * Attribute(x, "alpha", 1), g);
}

Quantity Selu(const Quantity& g, const Quantity& x, const Quantity&) {
  const double alpha = Attribute(x, "alpha", 1.67326319217681884765625F);
  const double gamma = Attribute(x, "gamma", 1.05070102214813232421875F);
  return g * gamma * Choose(IsNegative(x), Exp(x) * alpha, x.Number(1));
}

Quantity HardSigmoid(const Quantity& g, const Quantity& x, const Quantity& y) {
  const Quantity inside = IsAbove(y, 0).To("And", {IsBelow(y, 1)});
  return ChooseOrZero(inside, g * Attribute(x, "alpha", 0.2F));
}

// x * clip(x / 6 + 1 / 2, 0, 1)
Quantity HardSwish(const Quantity& g, const Quantity& x, const Quantity&) {
  const Quantity middle = Choose(IsBelow(x, 3), g * (x / x.Number(3) + 0.5), g);
  return ChooseOrZero(IsAbove(x, -3), middle);
}

Quantity LeakyRelu(const Quantity& g, const Quantity& x, const Quantity&) {
  return Choose(IsNegative(x), g * Attribute(x, "alpha", 0.01F), g);
}

Quantity Mish(const Quantity& g, const Quantity& x, const Quantity&) {
  const Quantity t = x.To("Softplus").To("Tanh");
  return g * (t + x * (1 - t * t) * Sigmoid(x));
}

Quantity Relu(const Quantity& g, const Quantity& x, const Quantity&) {
  return ChooseOrZero(IsAbove(x, 0), g);
}

Quantity Shrink(const Quantity& g, const Quantity& x, const Quantity&) {
  return ChooseOrZero(IsAbove(x.To("Abs"), Attribute(x, "lambd", 0.5F)), g);
}

Quantity Softplus(const Quantity& g, const Quantity& x, const Quantity&) { return g * Sigmoid(x); }

Quantity Softsign(const Quantity& g, const Quantity& x, const Quantity&) {
  const Quantity scale = x.To("Abs") + 1;
  return g / (scale * scale);
}

Quantity Swish(const Quantity& g, const Quantity& x, const Quantity&) {
  const double alpha = Attribute(x, "alpha", 1);
  const Quantity s = Sigmoid(x * alpha);
  return g * (s + x * alpha * s * (1 - s));
}

Quantity ThresholdedRelu(const Quantity& g, const Quantity& x, const Quantity&) {
  return ChooseOrZero(IsAbove(x, Attribute(x, "alpha", 1)), g);
}

// P(x) + x * p(x), of the normal distribution.
Quantity GeluByErf(const Quantity& g, const Quantity& x) {
  const Quantity below = ((x * (1 / std::numbers::sqrt2)).To("Erf") + 1) * 0.5;
  const double scale = 1 / std::sqrt(2 * std::numbers::pi);
  return g * (below + x * Exp(x * x * -0.5) * scale);
}

// x / 2 * (1 + tanh(s * (x + c * x^3)))
Quantity GeluByTanh(const Quantity& g, const Quantity& x) {
  const double c = 0.044715, s = std::sqrt(2 / std::numbers::pi);
  const Quantity square = x * x;
  const Quantity t = (x * (square * c + 1) * s).To("Tanh");
  const Quantity inner = (square * (3 * c) + 1) * s;
  return g * ((t + 1) * 0.5 + x * 0.5 * (1 - t * t) * inner);
}

Quantity Gelu(const Quantity& g, const Quantity& x, const Quantity&) {
  const bool by_tanh = x.context().attributes().String("approximate", "none") == "tanh";
  return by_tanh ? GeluByTanh(g, x) : GeluByErf(g, x);
}

}  // namespace

absl::Status GradientOfCelu(GradientContext& c) { return OfOperand<Celu>(c); }
absl::Status GradientOfElu(GradientContext& c) { return OfOperand<Elu>(c); }
absl::Status GradientOfGelu(GradientContext& c) { return OfOperand<Gelu>(c); }
absl::Status GradientOfHardSigmoid(GradientContext& c) { return OfOperand<HardSigmoid>(c); }
absl::Status GradientOfHardSwish(GradientContext& c) { return OfOperand<HardSwish>(c); }
absl::Status GradientOfLeakyRelu(GradientContext& c) { return OfOperand<LeakyRelu>(c); }
absl::Status GradientOfMish(GradientContext& c) { return OfOperand<Mish>(c); }
absl::Status GradientOfRelu(GradientContext& c) { return OfOperand<Relu>(c); }
absl::Status GradientOfSelu(GradientContext& c) { return OfOperand<Selu>(c); }
absl::Status GradientOfShrink(GradientContext& c) { return OfOperand<Shrink>(c); }
absl::Status GradientOfSoftplus(GradientContext& c) { return OfOperand<Softplus>(c); }
absl::Status GradientOfSoftsign(GradientContext& c) { return OfOperand<Softsign>(c); }
absl::Status GradientOfSwish(GradientContext& c) { return OfOperand<Swish>(c); }
absl::Status GradientOfThresholdedRelu(GradientContext& c) { return OfOperand<ThresholdedRelu>(c); }

absl::Status GradientOfPRelu(GradientContext& c) {
  const Quantity g = c.OfResult(), x = c.Operand(0), slope = c.Operand(1);
  if (c.Wants(0)) c.Give(0, SummedTo(Choose(IsNegative(x), g * slope, g), x));
  if (c.Wants(1)) c.Give(1, SummedTo(ChooseOrZero(IsNegative(x), g * x), slope));
  return absl::OkStatus();
}

}  // namespace aotc
