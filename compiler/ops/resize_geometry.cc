#include "compiler/ops/resize_geometry.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/ops/helpers.h"
#include "compiler/ops/resize_of_run.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// The axes that roi, scales and sizes are about.
absl::StatusOr<std::vector<size_t>> NamedAxes(const OpContext& op, size_t rank) {
  std::vector<size_t> axes;
  if (!op.attributes().Has("axes")) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), size_t{0});
    return axes;
  }
  for (int64_t axis : op.attributes().Ints("axes")) {
    AOTC_ASSIGN_OR_RETURN(int normalized, op.NormalizeAxis(axis, static_cast<int>(rank)));
    axes.push_back(static_cast<size_t>(normalized));
  }
  return axes;
}

// The floats of an input that must be known; empty where it is absent or empty.
absl::StatusOr<std::vector<float>> KnownFloats(const OpContext& op, size_t index) {
  std::vector<float> values;
  if (!op.HasInput(index)) return values;
  const Constant* constant = op.ConstInput(index);
  if (constant == nullptr) {
    const Shape& dims = op.InputType(index).dims;
    if (dims.size() == 1 && dims[0].IsInt(0)) return values;
    return absl::FailedPreconditionError(StrCat("needs input ", index, " at compile time"));
  }
  for (int64_t i = 0; i < constant->element_count(); ++i) {
    values.push_back(static_cast<float>(constant->FloatAt(i)));
    if (!std::isfinite(values.back())) {
      return AOTC_REFUSAL(InvalidArgument, StrCat("input ", index, " is not finite"));
    }
  }
  return values;
}

// Numbers beyond it, and those whose inverse is, have no fraction of 64-bit integers.
constexpr float kMostScale = 1U << 30;

int64_t RoundedLength(int64_t in, float scale) {
  return static_cast<int64_t>(static_cast<float>(in) * scale);
}

// The operator's text counts the region's length instead of the input's; ONNX's inference of
// shapes, its reference and onnxruntime do not. The product is one of floats, as in onnxruntime: 90
// elements by 1.3 are 116. Error: it is not that of integers for some size of a symbolic dim.
absl::StatusOr<Expr> ScaledLength(const Expr& in, float scale, const Fraction& fraction,
                                  const Bounds& bounds) {
  constexpr int64_t kMostLength = int64_t{1} << 30, kMostCompared = 1 << 16;
  const Interval range = RangeOf(in, bounds);
  if (range.min == range.max && range.max < kMostLength) return RoundedLength(range.max, scale);
  const int64_t p = *fraction.numerator.AsInt(), q = *fraction.denominator.AsInt();
  const int64_t least = std::clamp<int64_t>(range.min, 0, kMostLength);
  for (int64_t n = least; n <= std::min(range.max, least + kMostCompared); ++n) {
    const int64_t exact = n * p / q, rounded = RoundedLength(n, scale);
    if (exact == rounded) continue;
    return AOTC_REFUSAL(
        Unimplemented,
        StrCat("a scale of ", scale, " needs a known length (", n, " elements give ", rounded,
               " as floats are rounded, ", exact, " exactly): pin the dim with --dim"));
  }
  return Simplify(FloorDiv(in * fraction.numerator, fraction.denominator), bounds);
}

// With align_corners a scale aligns the length that it gives, not the next below it that the result
// has: 4 elements by 0.6 are 2, at 0 and 3 / 1.4. ONNX's reference and its data have it so, on
// purpose (onnx/onnx issue 2462); onnxruntime aligns the last element of the result, as for sizes.
absl::Status KeepFraction(OpContext& op, ResizedAxis& axis) {
  const Expr &p = axis.scale.numerator, &q = axis.scale.denominator;
  if (ProveEqual(axis.in * p, axis.out * q, op.bounds())) return absl::OkStatus();
  axis.aligned = {axis.in * p, q};
  // So that places are numbers of 64 bits.
  const Expr most = FloorDiv(INT64_MAX / 4, Max(axis.in * axis.out, 1));
  return op.Require(Le(q, most), "an axis is too long to be resized");
}

absl::Status SetScales(OpContext& op, const std::vector<float>& scales,
                       const std::vector<size_t>& axes, std::vector<ResizedAxis>& result) {
  if (scales.size() != axes.size()) {
    return AOTC_REFUSAL(InvalidArgument, "scales must have one element per axis");
  }
  for (size_t k = 0; k < axes.size(); ++k) {
    if (!(scales[k] > 0)) return AOTC_REFUSAL(InvalidArgument, "scales must be positive");
    if (scales[k] < 1 / kMostScale || scales[k] > kMostScale) {
      return AOTC_REFUSAL(InvalidArgument, StrCat("a scale of ", scales[k], " is out of range"));
    }
    ResizedAxis& axis = result[axes[k]];
    axis.scale = SimplestFraction(scales[k]);
    AOTC_ASSIGN_OR_RETURN(axis.out, ScaledLength(axis.in, scales[k], axis.scale, op.bounds()));
    axis.resized = scales[k] != 1;
    if (op.attributes().String(kCoordinates) == kAlignCorners) {
      AOTC_RETURN_IF_ERROR(KeepFraction(op, axis));
    }
  }
  return absl::OkStatus();
}

// One scale for all axes, that of the axis with the least (greatest) ratio; lengths round to the
// nearest, as floats do in onnxruntime.
absl::Status KeepAspectRatio(const std::vector<size_t>& axes, bool not_larger,
                             std::vector<ResizedAxis>& result) {
  const ResizedAxis* chosen = nullptr;
  auto number = [](const Expr& e) { return static_cast<float>(e.AsInt().value_or(-1)); };
  float ratio = 0;
  for (size_t k : axes) {
    const ResizedAxis& axis = result[k];
    if (number(axis.in) < 1 || number(axis.out) < 0) {
      return absl::FailedPreconditionError("keep_aspect_ratio_policy needs static dims");
    }
    const float own = number(axis.out) / number(axis.in);
    if (chosen != nullptr && (not_larger ? own >= ratio : own <= ratio)) continue;
    chosen = &axis;
    ratio = own;
  }
  if (chosen == nullptr) return absl::OkStatus();
  const Fraction scale = chosen->scale;
  for (size_t k : axes) {
    ResizedAxis& axis = result[k];
    axis.scale = scale;
    axis.out = static_cast<int64_t>(std::round(ratio * number(axis.in)));
  }
  return absl::OkStatus();
}

absl::Status SetSizes(OpContext& op, const std::vector<size_t>& axes,
                      std::vector<ResizedAxis>& result) {
  AOTC_ASSIGN_OR_RETURN(std::vector<Expr> sizes, op.IntElements(3));
  if (sizes.size() != axes.size()) {
    return AOTC_REFUSAL(InvalidArgument, "sizes must have one element per axis");
  }
  for (size_t k = 0; k < axes.size(); ++k) {
    ResizedAxis& axis = result[axes[k]];
    axis.out = op.Size(sizes[k], 0, static_cast<int>(axes[k]));
    axis.scale = {axis.out, axis.in};
  }
  std::string policy = op.attributes().String("keep_aspect_ratio_policy", "stretch");
  if (policy == "not_larger" || policy == "not_smaller") {
    AOTC_RETURN_IF_ERROR(KeepAspectRatio(axes, policy == "not_larger", result));
  } else if (policy != "stretch") {
    return AOTC_REFUSAL(InvalidArgument, StrCat("unknown keep_aspect_ratio_policy '", policy, "'"));
  }
  for (size_t k : axes) {
    result[k].resized =
        !ProveEqual(result[k].scale.numerator, result[k].scale.denominator, op.bounds());
  }
  return absl::OkStatus();
}

absl::Status SetLengths(OpContext& op, const std::vector<size_t>& axes,
                        std::vector<ResizedAxis>& result) {
  AOTC_ASSIGN_OR_RETURN(std::vector<float> scales, KnownFloats(op, 2));
  return scales.empty() ? SetSizes(op, axes, result) : SetScales(op, scales, axes, result);
}

// Input 1: all starts, then all ends, as parts of the input's lengths.
absl::Status SetRegions(const OpContext& op, const std::vector<size_t>& axes,
                        std::vector<ResizedAxis>& result) {
  AOTC_ASSIGN_OR_RETURN(std::vector<float> roi, KnownFloats(op, 1));
  if (roi.size() != 2 * axes.size()) {
    return AOTC_REFUSAL(InvalidArgument, "roi must have a start and an end per axis");
  }
  for (size_t k = 0; k < axes.size(); ++k) {
    Fraction start = SimplestFraction(roi[k]), end = SimplestFraction(roi[k + axes.size()]);
    ResizedAxis& axis = result[axes[k]];
    axis.roi_start = start;
    axis.roi_size = {end.numerator * start.denominator - start.numerator * end.denominator,
                     start.denominator * end.denominator};
  }
  return absl::OkStatus();
}

// The elements of an input of ResizeTo, i64[3, axes].
absl::StatusOr<std::vector<Expr>> GivenRows(OpContext& op, size_t index, size_t axes,
                                            const std::string& text) {
  AOTC_ASSIGN_OR_RETURN(std::vector<Expr> rows, op.IntElements(index));
  return rows.size() == 3 * axes ? absl::StatusOr<std::vector<Expr>>(std::move(rows))
                                 : AOTC_REFUSAL(InvalidArgument, text);
}

constexpr int64_t kMostPart = int64_t{1} << 30;  // of numbers of which a fraction is made

absl::Status RequireWithin(OpContext& op, int64_t least, const Expr& value, int64_t most,
                           const std::string& text) {
  return op.Require(And(Le(least, value), Le(value, most)), text);
}

absl::Status SetGivenRegions(OpContext& op, const std::vector<size_t>& axes,
                             std::vector<ResizedAxis>& result) {
  AOTC_ASSIGN_OR_RETURN(const std::vector<Expr> rows,
                        GivenRows(op, 2, axes.size(), "roi must have a start and an end per axis"));
  for (size_t k = 0; k < axes.size(); ++k) {
    const Expr &start = rows[k], &size = rows[axes.size() + k], &parts = rows[2 * axes.size() + k];
    const std::string text = "roi must be within -64 and 64 times the length";
    AOTC_RETURN_IF_ERROR(RequireWithin(op, 1, parts, 1 << 24, text));
    AOTC_RETURN_IF_ERROR(RequireWithin(op, -kMostPart, start, kMostPart, text));
    AOTC_RETURN_IF_ERROR(RequireWithin(op, -2 * kMostPart + 1, size, 2 * kMostPart - 1, text));
    result[axes[k]].roi_start = {start, parts};
    result[axes[k]].roi_size = {size, parts};
  }
  return absl::OkStatus();
}

// Rows of input 1: numerators and denominators of scales, lengths of the result.
absl::Status SetGivenLengths(OpContext& op, const std::vector<size_t>& axes,
                             std::vector<ResizedAxis>& result) {
  AOTC_ASSIGN_OR_RETURN(const std::vector<Expr> rows,
                        GivenRows(op, 1, axes.size(), "needs one scale or size per axis"));
  const bool keeps_fraction = op.attributes().Int(kKeepsFraction) != 0;
  for (size_t k = 0; k < axes.size(); ++k) {
    const Expr &p = rows[k], &q = rows[axes.size() + k];
    AOTC_RETURN_IF_ERROR(
        RequireWithin(op, 1, p, kMostPart, "a scale must be positive, and finite"));
    AOTC_RETURN_IF_ERROR(RequireWithin(op, 1, q, kMostPart, "an axis is too long to be resized"));
    result[axes[k]].scale = {p, q};
    result[axes[k]].of_run = !p.IsConst() || !q.IsConst();
    result[axes[k]].resized = !Same(p, q);
  }
  for (size_t k = 0; k < axes.size(); ++k) {
    const Expr& length = rows[2 * axes.size() + k];
    ResizedAxis& axis = result[axes[k]];
    if (!axis.in.IsInt(0)) {
      axis.out = op.Size(length, 0, static_cast<int>(axes[k]));
      if (keeps_fraction) AOTC_RETURN_IF_ERROR(KeepFraction(op, axis));
      continue;
    }
    AOTC_RETURN_IF_ERROR(op.RequireEqual(length, 0, "an empty axis has nothing to resize"));
    axis.out = axis.in;
  }
  return absl::OkStatus();
}

// The middle of the region where the result has one element, else from its start to its end.
Fraction PlaceInRegion(const ResizedAxis& axis, const Expr& i) {
  const Fraction &start = axis.roi_start, &size = axis.roi_size;
  const Expr last = axis.in - 1;
  // Both in parts of one size.
  const bool is_common = Same(start.denominator, size.denominator);
  const Expr parts = is_common ? start.denominator : start.denominator * size.denominator;
  const Expr first = is_common ? start.numerator : start.numerator * size.denominator;
  const Expr length = is_common ? size.numerator : size.numerator * start.denominator;
  Fraction middle = {last * (first * 2 + length), parts * 2};
  if (axis.out.IsInt(1)) return middle;
  const Expr steps = Max(axis.out - 1, 1);
  Fraction along = {last * (first * steps + i * length), parts * steps};
  if (axis.out.IsConst()) return along;
  const Expr is_one = Eq(axis.out, 1);
  return {Select(is_one, middle.numerator, along.numerator), parts * Select(is_one, 2, steps)};
}

}  // namespace

// The continued fraction of the value, until it rounds to it.
Fraction SimplestFraction(float value) {
  double rest = std::abs(static_cast<double>(value));
  int64_t p0 = 0, q0 = 1, p1 = 1, q1 = 0;
  constexpr int kMaxTerms = 40;
  for (int term = 0; term < kMaxTerms; ++term) {
    auto whole = static_cast<int64_t>(std::floor(rest));
    int64_t p = whole * p1 + p0, q = whole * q1 + q0;
    p0 = p1, q0 = q1, p1 = p, q1 = q;
    double ratio = static_cast<double>(p) / static_cast<double>(q);
    if (static_cast<float>(ratio) == std::abs(value)) break;
    rest = 1 / (rest - static_cast<double>(whole));
    if (!(rest < kMostScale) || std::max(p, q) > INT64_MAX / (int64_t{2} << 30)) break;
  }
  return {.numerator = std::signbit(value) ? -p1 : p1, .denominator = q1};
}

absl::StatusOr<std::vector<ResizedAxis>> ResizedAxes(OpContext& op, const Shape& shape) {
  std::vector<ResizedAxis> result;
  for (const Expr& dim : shape) result.push_back({.in = dim, .out = dim});
  AOTC_ASSIGN_OR_RETURN(std::vector<size_t> axes, NamedAxes(op, shape.size()));
  bool crops = op.attributes().String(kCoordinates) == "tf_crop_and_resize";
  if (op.node().op == kResizeTo) {
    if (crops) AOTC_RETURN_IF_ERROR(SetGivenRegions(op, axes, result));
    AOTC_RETURN_IF_ERROR(SetGivenLengths(op, axes, result));
  } else {
    if (crops) AOTC_RETURN_IF_ERROR(SetRegions(op, axes, result));
    AOTC_RETURN_IF_ERROR(SetLengths(op, axes, result));
  }
  for (size_t k : axes) {
    const Fraction &start = result[k].roi_start, &size = result[k].roi_size;
    bool whole = start.numerator.IsInt(0) && Same(size.numerator, size.denominator);
    result[k].resized |= crops && !whole;
  }
  return result;
}

absl::StatusOr<Fraction> Place(const ResizedAxis& axis, const std::string& mode, const Expr& i) {
  const Expr &p = axis.scale.numerator, &q = axis.scale.denominator;
  // (i + 1/2) / scale - 1/2
  Fraction half_pixel = {(i * 2 + 1) * q - p, p * 2};
  if (mode == "half_pixel") return half_pixel;
  if (mode == "pytorch_half_pixel") {
    return Fraction{Select(Eq(axis.out, 1), 0, half_pixel.numerator), half_pixel.denominator};
  }
  if (mode == "half_pixel_symmetric") {
    // Moved so that the middles of input and result meet also where the length was rounded.
    return Fraction{half_pixel.numerator + axis.in * p - axis.out * q, half_pixel.denominator};
  }
  if (mode == "tf_half_pixel_for_nn") return Fraction{(i * 2 + 1) * q, p * 2};  // until opset 12
  if (mode == "asymmetric") return Fraction{i * q, p};
  if (mode == kAlignCorners) {
    if (axis.out.IsInt(1)) return Fraction{};
    const auto& [length, parts] = axis.aligned.value_or(Fraction{axis.out, 1});
    return Fraction{i * (axis.in - 1) * parts, Max(length - parts, 1)};
  }
  if (mode == "tf_crop_and_resize") return PlaceInRegion(axis, i);
  return AOTC_REFUSAL(InvalidArgument,
                      StrCat("unknown coordinate_transformation_mode '", mode, "'"));
}

}  // namespace aotc
