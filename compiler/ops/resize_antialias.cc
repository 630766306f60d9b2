// Resize with attribute antialias where an axis shrinks.
#include "compiler/ops/helpers.h"
#include "compiler/ops/resize_sampler.h"

namespace aotc {
namespace {

// The nearest integer that `type` holds, halves up; wider types hold what 32 bits of float do.
Expr Rounded(const Expr& value, DType type) {
  Expr result = Unary(ExprOp::kFloor, value + Number(0.5, value));
  if (BitWidth(type) <= 16) {
    const auto [low, high] = IntegerRange(type);
    result = Clamp(result, Number(static_cast<double>(low), result),
                   Number(static_cast<double>(high), result));
  }
  return Cast(type, result);
}

// The filter along axis d. Tap r, of twice `side`, is element floor(place) + 1 - side + r.
struct AxisFilter {
  const Sampler& s;
  const AntialiasFilter& filter;
  size_t d;

  // Taps at either side of a place: the reach of the filter, 1 or 2, in elements of the input where
  // the axis grows, else of the result, rounded up.
  Expr Side() const {
    const Fraction& scale = s.axes[d].scale;
    const Expr reach = filter.is_cubic ? 2 : 1;
    const Expr side = Max(CeilDiv(reach * scale.denominator, scale.numerator), reach);
    // Where the result has elements, it is at most twice as many times shorter.
    return s.axes[d].of_run ? Min(side, reach * 2 * s.axes[d].in) : side;
  }

  Expr Element(const Fraction& place, const Expr& r) const {
    return FloorOf(place) + 1 - Side() + r;
  }

  Expr Weight(const Expr& i, const Expr& r) const {
    const Fraction place = s.PlaceAt(d, i), &scale = s.axes[d].scale;
    const Expr offset = Cast(s.compute, r + 1 - Side()) - Remainder(place, s.compute);
    const Expr shrink = Div(Cast(s.compute, scale.numerator), Cast(s.compute, scale.denominator));
    const Expr distance = Unary(ExprOp::kAbs, offset) * Min(shrink, Number(1, shrink));
    const Expr zero = Number(0, distance);
    Expr weight = filter.is_cubic ? Select(Lt(distance, Number(2, distance)),
                                           CubicWeight(distance, filter.coefficient), zero)
                                  : Max(Number(1, distance) - distance, zero);
    if (!filter.exclude_outside) return weight;
    return Select(InBounds(Element(place, r), s.axes[d].in), weight, zero);
  }

  // Axis d of x, which has the lengths of the result along the axes after it.
  Tensor Apply(TensorBuilder& b, const Tensor& x) const {
    const Shape taps = {Side() * 2};
    const Expr& out = s.axes[d].out;
    const Tensor weights =
        b.Compute(s.compute, {out, taps[0]}, [&](const Indices& i) { return Weight(i[0], i[1]); });
    const Tensor total =
        b.Reduce("sum", s.compute, {out}, taps,
                 [&](const Indices& i, const Indices& r) { return weights({i[0], r[0]}); });
    Shape shape = x.shape();
    shape[d] = out;
    const Tensor sums =
        b.Reduce("sum", s.compute, shape, taps, [&](const Indices& i, const Indices& r) {
          Indices from = i;
          from[d] = Clamp(Element(s.PlaceAt(d, i[d]), r[0]), 0, s.LastOf(d));
          const Expr weight = weights({i[d], r[0]});
          Expr term = Cast(s.compute, x(from)) * weight;
          if (!s.axes[d].of_run) return term;
          return Select(Eq(weight, Number(0, weight)), Number(0, term), term);
        });
    return b.Compute(IsInteger(x.dtype()) ? x.dtype() : s.compute, shape, [&](const Indices& i) {
      const Expr mean = Div(sums(i), total({i[d]}));
      return IsInteger(x.dtype()) ? Rounded(mean, x.dtype()) : mean;
    });
  }
};

}  // namespace

Expr CubicWeight(const Expr& distance, double a) {
  auto number = [&](double value) { return Number(value, distance); };
  Expr square = distance * distance, cube = square * distance;
  Expr near = number(a + 2) * cube - number(a + 3) * square + number(1);
  Expr far = number(a) * cube - number(5 * a) * square + number(8 * a) * distance - number(4 * a);
  return Select(Le(distance, number(1)), near, far);
}

Tensor AntialiasSums(TensorBuilder& b, const Sampler& s, const AntialiasFilter& filter) {
  Tensor x = s.x;
  for (size_t d = s.axes.size(); d-- > 0;) {
    if (s.axes[d].resized) x = AxisFilter{s, filter, d}.Apply(b, x);
  }
  return x;
}

}  // namespace aotc
