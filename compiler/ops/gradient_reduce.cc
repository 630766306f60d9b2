// Rules of differentiation of reductions along axes, and of softmax.
#include "compiler/ops/gradient.h"
#include "compiler/ops/gradient_rules.h"

namespace aotc {
namespace {

// x reduced as the node reduces it, along the same axes, all of which are kept.
Quantity Kept(GradientContext& c, std::string_view op, const Quantity& x) {
  Expansion::NamedValues attributes = {{"keepdims", int64_t{1}}};
  if (const int64_t noop = c.attributes().Int("noop_with_empty_axes"); noop != 0) {
    attributes.emplace_back("noop_with_empty_axes", noop);
  }
  return x.To(op, {c.Operand(1)}, attributes);
}

// A tensor of the shape of the result, with the axes that the result may lack.
Quantity WithAxes(GradientContext& c, const Quantity& result) {
  if (c.attributes().Int("keepdims", 1) != 0) return result;
  return ShapedAs(result, Kept(c, "ReduceSum", c.Operand()));
}

// Of a sum: kFormula(x, y) is the slope by one element, y being the result with all axes.
template <Quantity (*kSlope)(const Quantity& x, const Quantity& y)>
absl::Status BySlope(GradientContext& c) {
  if (!c.Wants(0)) return absl::OkStatus();
  const Quantity slope = kSlope(c.Operand(), WithAxes(c, c.Result()));
  c.Give(0, WithAxes(c, c.OfResult()) * slope);
  return absl::OkStatus();
}

Quantity SlopeOfL1(const Quantity& x, const Quantity&) { return x.To("Sign"); }

// 0 where all elements are: as everywhere on a kink that is a minimum.
Quantity SlopeOfL2(const Quantity& x, const Quantity& y) {
  const Quantity zero = y.Number(0);
  const Quantity is_zero = y.To("Equal", {zero});
  return Choose(is_zero, zero, x / Choose(is_zero, y.Number(1), y));
}

Quantity SlopeOfLogSumExp(const Quantity& x, const Quantity& y) { return (x - y).To("Exp"); }
Quantity SlopeOfSumSquare(const Quantity& x, const Quantity&) { return x * 2; }

}  // namespace

absl::Status GradientOfReduceSum(GradientContext& c) {
  if (c.Wants(0)) c.Give(0, ExpandedTo(WithAxes(c, c.OfResult()), c.Operand()));
  return absl::OkStatus();
}

namespace {

// The gradient of the result divided among the elements that meet in one, of which there are as
// many as x has for each of y.
Quantity Share(GradientContext& c) {
  const Expansion::NamedValues to_double = {{"to", static_cast<int64_t>(DType::kF64)}};
  const Quantity x = c.Operand(), g = c.OfResult();
  const Quantity results = c.Result().To("Size").To("Cast", {}, to_double);
  const Quantity share = results / x.To("Size").To("Cast", {}, to_double);
  return g * share.To("CastLike", {g});
}

}  // namespace

absl::Status GradientOfReduceMean(GradientContext& c) {
  if (c.Wants(0)) c.Give(0, ExpandedTo(WithAxes(c, Share(c)), c.Operand()));
  return absl::OkStatus();
}

absl::Status GradientOfGlobalAveragePool(GradientContext& c) {
  if (c.Wants(0)) c.Give(0, ExpandedTo(Share(c), c.Operand()));
  return absl::OkStatus();
}

// Each sum has the gradient of all that come behind it.
absl::Status GradientOfCumSum(GradientContext& c) {
  const Expansion::NamedValues attributes = {
      {"exclusive", c.attributes().Int("exclusive")},
      {"reverse", int64_t{c.attributes().Int("reverse") != 0 ? 0 : 1}}};
  if (c.Wants(0)) c.Give(0, c.OfResult().To("CumSum", {c.Operand(1)}, attributes));
  return absl::OkStatus();
}

absl::Status GradientOfReduceL1(GradientContext& c) { return BySlope<SlopeOfL1>(c); }
absl::Status GradientOfReduceL2(GradientContext& c) { return BySlope<SlopeOfL2>(c); }
absl::Status GradientOfReduceLogSumExp(GradientContext& c) { return BySlope<SlopeOfLogSumExp>(c); }
absl::Status GradientOfReduceSumSquare(GradientContext& c) { return BySlope<SlopeOfSumSquare>(c); }

absl::Status GradientOfReduceLogSum(GradientContext& c) {
  if (!c.Wants(0)) return absl::OkStatus();
  const Quantity total = Kept(c, "ReduceSum", c.Operand());
  c.Give(0, ExpandedTo(WithAxes(c, c.OfResult()) / total, c.Operand()));
  return absl::OkStatus();
}

// Equal elements share it.
absl::Status GradientOfReduceExtreme(GradientContext& c) {
  if (!c.Wants(0)) return absl::OkStatus();
  const Quantity x = c.Operand(), y = WithAxes(c, c.Result());
  const Quantity chosen = x.To("Equal", {y}).To("CastLike", {x});
  c.Give(0, WithAxes(c, c.OfResult()) * (chosen / Kept(c, "ReduceSum", chosen)));
  return absl::OkStatus();
}

namespace {

// The sum along the axis of a softmax.
Quantity SumAlong(GradientContext& c, const Quantity& x) {
  const ValueId axes = c.emit().Ints("axis", {c.attributes().Int("axis", -1)});
  return x.To("ReduceSum", {Quantity(&c, axes)}, {{"keepdims", int64_t{1}}});
}

}  // namespace

absl::Status GradientOfSoftmax(GradientContext& c) {
  const Quantity g = c.OfResult(), y = c.Result();
  if (c.Wants(0)) c.Give(0, y * (g - SumAlong(c, g * y)));
  return absl::OkStatus();
}

absl::Status GradientOfLogSoftmax(GradientContext& c) {
  const Quantity g = c.OfResult(), y = c.Result();
  if (c.Wants(0)) c.Give(0, g - y.To("Exp") * SumAlong(c, g));
  return absl::OkStatus();
}

}  // namespace aotc
