// Rules of differentiation of arithmetic, of choices and of changes of type.
#include "compiler/ops/gradient.h"
#include "compiler/ops/gradient_rules.h"

namespace aotc {

absl::Status GradientOfAdd(GradientContext& c) { return GradientOfSum(c); }

absl::Status GradientOfSum(GradientContext& c) {
  for (size_t k = 0; k < c.OperandCount(); ++k) c.Give(k, c.OfResult());
  return absl::OkStatus();
}

absl::Status GradientOfMean(GradientContext& c) {
  const Quantity share = c.OfResult() * (1.0 / static_cast<double>(c.OperandCount()));
  for (size_t k = 0; k < c.OperandCount(); ++k) c.Give(k, share);
  return absl::OkStatus();
}

absl::Status GradientOfSub(GradientContext& c) {
  c.Give(0, c.OfResult());
  if (c.Wants(1)) c.Give(1, -c.OfResult());
  return absl::OkStatus();
}

absl::Status GradientOfMul(GradientContext& c) {
  if (c.Wants(0)) c.Give(0, c.OfResult() * c.Operand(1));
  if (c.Wants(1)) c.Give(1, c.OfResult() * c.Operand(0));
  return absl::OkStatus();
}

absl::Status GradientOfDiv(GradientContext& c) {
  const Quantity quotient = c.OfResult() / c.Operand(1);
  c.Give(0, quotient);
  if (c.Wants(1)) c.Give(1, -(quotient * c.Result()));
  return absl::OkStatus();
}

absl::Status GradientOfExtreme(GradientContext& c) {
  const Quantity g = c.OfResult(), y = c.Result();
  std::vector<Quantity> chosen;
  for (size_t k = 0; k < c.OperandCount(); ++k) {
    chosen.push_back(c.Operand(k).To("Equal", {y}).To("CastLike", {y}));
  }
  Quantity count = chosen[0];
  for (size_t k = 1; k < chosen.size(); ++k) count = count + chosen[k];
  for (size_t k = 0; k < chosen.size(); ++k) c.Give(k, g * (chosen[k] / count));
  return absl::OkStatus();
}

// b * x^(b - 1), and x^b * log(x); 0 where a power of 0, or a zeroth power, does not vary.
absl::Status GradientOfPow(GradientContext& c) {
  const Quantity g = c.OfResult(), x = c.Operand(0), power = c.Operand(1).To("CastLike", {x});
  const Quantity zero = x.Number(0);
  if (c.Wants(0)) {
    const Quantity slope = power * x.To("Pow", {power - 1});
    c.Give(0, g * Choose(power.To("Equal", {zero}), zero, slope));
  }
  if (c.Wants(1)) {
    const Quantity stays = x.To("Equal", {zero}).To("And", {power.To("GreaterOrEqual", {zero})});
    const Quantity slope = Choose(stays, zero, c.Result() * x.To("Log"));
    c.Give(1, (g * slope).To("CastLike", {c.Operand(1)}));
  }
  return absl::OkStatus();
}

absl::Status GradientOfCast(GradientContext& c) {
  if (c.Wants(0)) c.Give(0, c.OfResult().To("CastLike", {c.Operand(0)}));
  return absl::OkStatus();
}

// Of floats: a gradient of integers would not be 0 where it should.
absl::Status GradientOfCastLike(GradientContext& c) {
  const Quantity g = SummedTo(c.OfResult(), c.Result());
  if (c.Wants(0)) c.Give(0, g.To("CastLike", {c.Operand(0)}));
  c.GiveNothing(1);
  return absl::OkStatus();
}

absl::Status GradientOfWhere(GradientContext& c) {
  const Quantity g = c.OfResult(), condition = c.Operand(0);
  if (c.Wants(1)) c.Give(1, ChooseOrZero(condition, g));
  if (c.Wants(2)) c.Give(2, Choose(condition, g.Number(0), g));
  return absl::OkStatus();
}

// The bounds are part of the interval; `high` wins where low > high.
absl::Status GradientOfClip(GradientContext& c) {
  const Quantity g = c.OfResult(), x = c.Operand(0), low = c.Operand(1), high = c.Operand(2);
  const Quantity raised = low.valid() ? x.To("Max", {low}) : x;
  Quantity below_high = g;
  if (high.valid()) {
    const Quantity is_above = high.To("Less", {raised});
    below_high = Choose(is_above, g.Number(0), g);
    if (c.Wants(2)) c.Give(2, SummedTo(ChooseOrZero(is_above, g), high));
  }
  if (!low.valid()) {
    c.Give(0, below_high);
    return absl::OkStatus();
  }
  const Quantity is_below = x.To("Less", {low});
  c.Give(0, Choose(is_below, g.Number(0), below_high));
  if (c.Wants(1)) c.Give(1, SummedTo(ChooseOrZero(is_below, below_high), low));
  return absl::OkStatus();
}

}  // namespace aotc
