// Resize: sampling a tensor at other places along its axes.
#include <algorithm>
#include <functional>

#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/ops/resize_of_run.h"
#include "compiler/ops/resize_sampler.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// The element that is taken for a place. Beyond ONNX's modes, old forms of the operator round up
// along axes that shrink, and else down (opset_rules.h).
absl::StatusOr<Expr> Nearest(const Fraction& f, const std::string& mode, const Fraction& scale) {
  const Expr &n = f.numerator, &d = f.denominator;
  if (mode == "floor_or_ceil") {
    return Select(Lt(scale.numerator, scale.denominator), CeilDiv(n, d), FloorDiv(n, d));
  }
  if (mode == "floor") return FloorDiv(n, d);
  if (mode == "ceil") return CeilDiv(n, d);
  if (mode == "round_prefer_floor") return CeilDiv(n * 2 - d, d * 2);
  if (mode == "round_prefer_ceil") return FloorDiv(n * 2 + d, d * 2);
  return AOTC_REFUSAL(InvalidArgument, StrCat("unknown nearest_mode '", mode, "'"));
}

// Multilinear interpolation: blends along axis d what the axes after it give.
Expr Linear(const Sampler& s, const Indices& i, size_t d, Indices& indices) {
  if (d == i.size()) return Cast(s.compute, s.x(indices));
  if (!s.axes[d].resized) {
    indices[d] = i[d];
    return Linear(s, i, d + 1, indices);
  }
  Fraction place = s.PlaceAt(d, i[d]);
  indices[d] = Clamp(FloorOf(place), 0, s.LastOf(d));
  Expr low = Linear(s, i, d + 1, indices);
  indices[d] = Clamp(FloorOf(place) + 1, 0, s.LastOf(d));
  Expr high = Linear(s, i, d + 1, indices);
  Expr weight = Remainder(place, s.compute);
  return low * (Number(1, weight) - weight) + high * weight;
}

struct Cubic {
  double coefficient = -0.75;
  bool exclude_outside = false;

  // Weight of tap r (0 to 3, at floor(place) - 1 + r) along axis d.
  Expr Weight(const Sampler& s, size_t d, const Fraction& place, const Expr& r) const {
    Expr offset = Cast(s.compute, r - 1) - Remainder(place, s.compute);
    Expr weight = CubicWeight(Unary(ExprOp::kAbs, offset), coefficient);
    if (!exclude_outside) return weight;
    return Select(InBounds(FloorOf(place) - 1 + r, s.axes[d].in), weight, Number(0, weight));
  }
};

// Weight of tap r (0 or 1, at floor(place) + r) of two.
Expr LinearWeight(const Sampler& s, const Fraction& place, const Expr& r) {
  const Expr weight = Remainder(place, s.compute);
  return Select(Eq(r, 0), Number(1, weight) - weight, weight);
}

bool IsOfRun(const Sampler& s) { return std::ranges::any_of(s.axes, &ResizedAxis::of_run); }

// Taps along each resized axis: tap r is at floor(place) + first + r.
struct Taps {
  int64_t count = 2;
  int64_t first = 0;
  std::function<Expr(size_t d, const Fraction& place, const Expr& r)> weight = {};
};

// The sum over all of them.
Tensor TapSums(TensorBuilder& b, const Sampler& s, const Taps& along, const Shape& shape) {
  Shape taps;
  for (const ResizedAxis& axis : s.axes) {
    if (axis.resized) taps.push_back(along.count);
  }
  return b.Reduce("sum", s.compute, shape, taps, [&](const Indices& i, const Indices& r) {
    Indices indices = i;
    Expr weight = NumberConst(1, s.compute);
    size_t next = 0;
    for (size_t d = 0; d < i.size(); ++d) {
      if (!s.axes[d].resized) continue;
      Fraction place = s.PlaceAt(d, i[d]);
      indices[d] = Clamp(FloorOf(place) + along.first + r[next], 0, s.LastOf(d));
      weight = weight * along.weight(d, place, r[next++]);
    }
    const Expr term = Cast(s.compute, s.x(indices)) * weight;
    // What is not finite spoils no place beside it along an axis that stays as it is.
    return IsOfRun(s) ? Select(Eq(weight, Number(0, weight)), Number(0, term), term) : term;
  });
}

Tensor LinearSums(TensorBuilder& b, const Sampler& s, const Shape& shape) {
  Taps taps;
  taps.weight = [&](size_t, const Fraction& place, const Expr& r) {
    return LinearWeight(s, place, r);
  };
  return TapSums(b, s, taps, shape);
}

Tensor CubicSums(TensorBuilder& b, const Sampler& s, const Cubic& cubic, const Shape& shape) {
  Taps taps = {.count = 4, .first = -1};
  taps.weight = [&](size_t d, const Fraction& place, const Expr& r) {
    return cubic.Weight(s, d, place, r);
  };
  return TapSums(b, s, taps, shape);
}

// What the weights of an element add up to: 1 unless taps outside are excluded.
Expr CubicTotal(const Sampler& s, const Cubic& cubic, const Indices& i) {
  Expr product = NumberConst(1, s.compute);
  for (size_t d = 0; d < i.size(); ++d) {
    if (!s.axes[d].resized) continue;
    Fraction place = s.PlaceAt(d, i[d]);
    Expr sum = NumberConst(0, s.compute);
    for (int r = 0; r < 4; ++r) sum = sum + cubic.Weight(s, d, place, r);
    product = product * sum;
  }
  return product;
}

// Whether the place of an element lies within the input along all axes: what is not cropped away.
Expr WithinInput(const Sampler& s, const Indices& i) {
  Expr within = Bool(true);
  for (size_t d = 0; d < i.size(); ++d) {
    if (!s.axes[d].resized) continue;
    Fraction place = s.PlaceAt(d, i[d]);
    Expr last = s.LastOf(d) * place.denominator;
    within = And(within, And(Le(0, place.numerator), Le(place.numerator, last)));
  }
  return within;
}

// Whether an axis may be shorter in the result, where a filter that is asked for spans more taps.
bool MayShrink(const OpContext& op, const Sampler& s) {
  return std::ranges::any_of(s.axes, [&](const ResizedAxis& axis) {
    const Fraction& scale = axis.scale;
    return axis.resized && Prove(Le(scale.denominator, scale.numerator), op.bounds()) != true;
  });
}

absl::StatusOr<Sampler> SamplerOf(OpContext& op) {
  Sampler s;
  AOTC_ASSIGN_OR_RETURN(s.x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireNumber(s.x));
  s.coordinate_mode = op.attributes().String(kCoordinates, "half_pixel");
  AOTC_ASSIGN_OR_RETURN(s.axes, ResizedAxes(op, s.x.shape()));
  if (s.x.dtype() == DType::kF64) s.compute = DType::kF64;
  for (const ResizedAxis& axis : s.axes) {
    AOTC_RETURN_IF_ERROR(Place(axis, s.coordinate_mode, 0).status());
  }
  return s;
}

absl::StatusOr<TensorBuilder::Body> SampleBody(OpContext& op, const Sampler& s,
                                               const Shape& shape) {
  std::string mode = op.attributes().String("mode", "nearest");
  if (mode == "nearest") {
    std::string rounding = op.attributes().String("nearest_mode", "round_prefer_floor");
    AOTC_RETURN_IF_ERROR(Nearest({}, rounding, {}).status());
    return TensorBuilder::Body([&s, rounding](const Indices& i) {
      Indices indices = i;
      for (size_t d = 0; d < i.size(); ++d) {
        if (!s.axes[d].resized) continue;
        indices[d] = Clamp(*Nearest(s.PlaceAt(d, i[d]), rounding, s.axes[d].scale), 0, s.LastOf(d));
      }
      return s.x.Stored(indices);
    });
  }
  const bool exclude_outside = op.attributes().Int("exclude_outside") != 0;
  const double coefficient = op.attributes().Float("cubic_coeff_a", -0.75F);
  const bool is_known = mode == "linear" || mode == "cubic";
  if (is_known && op.attributes().Int("antialias") != 0 && MayShrink(op, s)) {
    const AntialiasFilter filter = {.is_cubic = mode == "cubic",
                                    .coefficient = coefficient,
                                    .exclude_outside = exclude_outside};
    Tensor sums = AntialiasSums(op.b(), s, filter);
    return TensorBuilder::Body([sums](const Indices& i) { return sums(i); });
  }
  if (mode == "linear" && IsOfRun(s)) {  // of all axes, most of which may stay: a short loop
    const Tensor sums = LinearSums(op.b(), s, shape);
    return TensorBuilder::Body([sums](const Indices& i) { return sums(i); });
  }
  if (mode == "linear") {
    return TensorBuilder::Body([&s](const Indices& i) {
      Indices indices(i.size());
      return Linear(s, i, 0, indices);
    });
  }
  if (mode == "cubic") {
    Cubic cubic = {.coefficient = coefficient, .exclude_outside = exclude_outside};
    Tensor sums = CubicSums(op.b(), s, cubic, shape);
    return TensorBuilder::Body([&s, cubic, sums](const Indices& i) {
      return cubic.exclude_outside ? Div(sums(i), CubicTotal(s, cubic, i)) : sums(i);
    });
  }
  return AOTC_REFUSAL(InvalidArgument, StrCat("unknown mode '", mode, "'"));
}

absl::Status Resize(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Sampler s, SamplerOf(op));
  Shape shape;
  for (const ResizedAxis& axis : s.axes) shape.push_back(axis.out);
  AOTC_ASSIGN_OR_RETURN(TensorBuilder::Body sample, SampleBody(op, s, shape));
  bool crops = s.coordinate_mode == "tf_crop_and_resize";
  double outside = op.attributes().Float("extrapolation_value", 0);
  op.SetOutput(0, op.b().Compute(s.x.dtype(), shape, [&](const Indices& i) {
    Expr value = sample(i);
    if (!crops) return value;
    value = Cast(ComputeType(value.dtype()), value);
    return Select(WithinInput(s, i), value, Number(outside, value));
  }));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "Resize",
     .compute = Resize,
     .expand = ExpandResize,
     .summary = "samples at other places: nearest, linear, cubic"},
    {.name = "ResizeRegions",
     .compute = ResizeRegions,
     .summary = "the regions of a Resize as fractions of the input",
     .traits = kOwn},
    {.name = "ResizeScales",
     .compute = ResizeScales,
     .summary = "the scales of a Resize as fractions, and the lengths of the result",
     .traits = kOwn},
    {.name = "ResizeSizes",
     .compute = ResizeSizes,
     .summary = "the same for sizes, whose aspect ratio may be kept",
     .traits = kOwn},
    {.name = kResizeTo,
     .compute = Resize,
     .summary = "Resize by fractions and lengths that a run gives",
     .traits = kOwn},
};

}  // namespace

std::span<const OpDef> ResizeOps() { return kOps; }

}  // namespace aotc
