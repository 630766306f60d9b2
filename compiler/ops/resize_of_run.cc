#include "compiler/ops/resize_of_run.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/expansion.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/resize_geometry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

// Fractions are looked for up to this number, as numerator or denominator whichever is less: up to
// it two of them are hardly ever the same float.
constexpr int64_t kMostTried = 4096;
constexpr int64_t kNone = INT64_MAX;
constexpr DType kI64 = DType::kI64, kF32 = DType::kF32, kF64 = DType::kF64;

// To the nearest, halves up.
Expr Rounded(const Expr& x) { return Unary(ExprOp::kFloor, x + Number(0.5, x)); }

// An integer as the f32 next to it, in f64: so that what is made of it is rounded once, by a cast,
// wherever it is computed.
Expr AsFloat(const Expr& x) { return Cast(kF64, Cast(kF32, x)); }

// numerator / denominator, which are whole, as f64.
struct WholeRatio {
  Expr numerator, denominator;
};

// Scales of less than 1 have few digits in the numerator, others in the denominator.
WholeRatio RatioOf(const Expr& scale, const Expr& few) {
  const Expr grows = Le(Number(1, scale), scale);
  return {Select(grows, Rounded(few * scale), few), Select(grows, few, Rounded(Div(few, scale)))};
}

// The least of 1, 2, 3 ... for which `ratio` of an element and it rounds to the element; kNone
// where there is none.
Tensor LeastFew(OpContext& op, const Tensor& x,
                const std::function<WholeRatio(const Expr&, const Expr&)>& ratio) {
  const Shape& shape = x.shape();
  return op.b().Reduce("min", kI64, shape, {kMostTried}, [&](const Indices& i, const Indices& r) {
    const WholeRatio made = ratio(Cast(kF64, x(i)), Cast(kF64, r[0] + 1));
    const Expr rounds = Eq(Cast(kF32, Div(made.numerator, made.denominator)), x(i));
    return Select(rounds, r[0] + 1, kNone);
  });
}

// Row 0, 1 or 2 of a result.
Expr Row(const Expr& row, const Expr& first, const Expr& second, const Expr& third) {
  return Select(Eq(row, 0), first, Select(Eq(row, 1), second, third));
}

absl::Status RequireSameLength(OpContext& op, const Tensor& dims, const Tensor& x,
                               const std::string& text) {
  AOTC_RETURN_IF_ERROR(RequireRank(dims, 1, 1));
  if (x.shape().size() != 1) return AOTC_REFUSAL(InvalidArgument, text);
  return op.RequireEqual(dims.dim(0), x.dim(0), text);
}

// Regions further out than this are none.
constexpr double kFarthest = 64;
constexpr int64_t kFineParts = int64_t{1} << 24;  // of the input's length

// Of a length that is asked for, with the ratio of the axis that decides for all.
struct ChosenAxis {
  Tensor ratio;     // f32 []
  Tensor place;     // i64 []
  Tensor is_wrong;  // bool []
};

ChosenAxis Choose(OpContext& op, const Tensor& dims, const Tensor& sizes, bool not_larger) {
  TensorBuilder& b = op.b();
  const Shape& all = dims.shape();
  const auto ratio = [&](const Indices& r) {
    return Cast(kF32, Div(AsFloat(sizes(r)), AsFloat(dims(r))));
  };
  ChosenAxis chosen;
  chosen.ratio = b.Reduce(not_larger ? "min" : "max", kF32, {}, all,
                          [&](const Indices&, const Indices& r) { return ratio(r); });
  chosen.place = b.Reduce("min", kI64, {}, all, [&](const Indices&, const Indices& r) {
    return Select(Eq(ratio(r), chosen.ratio({})), r[0], all[0] - 1);
  });
  chosen.is_wrong = b.Reduce("or", DType::kBool, {}, all, [&](const Indices&, const Indices& r) {
    return Or(Lt(dims(r), 1), Lt(sizes(r), 0));
  });
  return chosen;
}

}  // namespace

absl::Status ResizeScales(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor dims, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor scales, op.Input(1));
  if (scales.dtype() != kF32) return AOTC_REFUSAL(InvalidArgument, "scales must be f32");
  AOTC_RETURN_IF_ERROR(
      RequireSameLength(op, dims, scales, "scales must have one element per axis"));
  const Expr& axes = dims.dim(0);
  const Tensor least = LeastFew(op, scales, RatioOf);
  const auto is_scale = [&](const Indices& k) {
    constexpr double kMostScale = 1U << 30;
    const Expr given = scales(k);
    return And(Le(Number(1 / kMostScale, given), given), Le(given, Number(kMostScale, given)));
  };
  const Tensor scale = op.b().Compute(kF64, {axes}, [&](const Indices& k) {
    return Select(is_scale(k), Cast(kF64, scales(k)), NumberConst(1, kF64));
  });
  const Tensor few = op.b().Compute(kF64, {axes}, [&](const Indices& k) {
    constexpr double kMostDigits = 1U << 29;
    const Expr reach = Max(scale(k), Div(NumberConst(1, kF64), scale(k)));
    const Expr digits = Unary(ExprOp::kFloor, Div(NumberConst(kMostDigits, kF64), reach));
    return Select(Lt(least(k), kNone), Cast(kF64, least(k)), Max(digits, Number(1, digits)));
  });
  op.SetOutput(0, op.b().Compute(kI64, {3, axes}, [&](const Indices& i) {
    const Indices k = {i[1]};
    const WholeRatio ratio = RatioOf(scale(k), few(k));
    // A product of floats, as in ScaledLength.
    const Expr length = Cast(kF32, AsFloat(dims(k)) * scale(k));
    return Row(i[0], Select(is_scale(k), Cast(kI64, ratio.numerator), 0),
               Cast(kI64, ratio.denominator), Cast(kI64, length));
  }));
  return absl::OkStatus();
}

absl::Status ResizeSizes(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor dims, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor sizes, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireSameLength(op, dims, sizes, "sizes must have one element per axis"));
  const std::string policy = op.attributes().String("policy", "stretch");
  const Shape shape = {3, dims.dim(0)};
  if (policy == "stretch") {
    op.SetOutput(0, op.b().Compute(kI64, shape, [&](const Indices& i) {
      const Expr size = sizes({i[1]}), dim = dims({i[1]});
      return Row(i[0], Select(Or(Lt(size, 0), Lt(dim, 1)), 0, Max(size, 1)), Max(dim, 1), size);
    }));
    return absl::OkStatus();
  }
  const ChosenAxis chosen = Choose(op, dims, sizes, policy == "not_larger");
  op.SetOutput(0, op.b().Compute(kI64, shape, [&](const Indices& i) {
    const Expr place = chosen.place({}), is_wrong = chosen.is_wrong({});
    const Expr ratio = Select(is_wrong, NumberConst(0, kF32), chosen.ratio({}));
    const Expr product = Cast(kF32, Cast(kF64, ratio) * AsFloat(dims({i[1]})));
    const Expr length = Cast(kI64, Rounded(Cast(kF64, product)));
    return Row(i[0], Select(is_wrong, 0, Max(sizes({place}), 1)), Max(dims({place}), 1), length);
  }));
  return absl::OkStatus();
}

absl::Status ResizeRegions(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor given, op.Input(0));
  if (!IsFloat(given.dtype())) return AOTC_REFUSAL(InvalidArgument, "roi must be floats");
  AOTC_RETURN_IF_ERROR(RequireRank(given, 1, 1));
  const Tensor roi =
      op.b().Compute(kF32, given.shape(), [&](const Indices& i) { return Cast(kF32, given(i)); });
  const Expr axes = FloorDiv(roi.dim(0), 2);
  AOTC_RETURN_IF_ERROR(op.RequireEqual(roi.dim(0), axes * 2, "roi must have a start and an end"));
  const Tensor least = LeastFew(
      op, roi, [](const Expr& x, const Expr& few) { return WholeRatio{Rounded(few * x), few}; });
  op.SetOutput(0, op.b().Compute(kI64, {3, axes}, [&](const Indices& i) {
    const Expr& start = i[1];
    const Expr end = i[1] + axes;
    const Expr is_simple = And(Lt(least({start}), kNone), Lt(least({end}), kNone));
    Expr is_region = Bool(true);
    // In parts of the input's length: exact where both are simple fractions.
    const auto numerator = [&](const Expr& at, const Expr& other) {
      const Expr part = roi({at});
      const Expr is_near = Le(Unary(ExprOp::kAbs, part), Number(kFarthest, part));
      is_region = And(is_region, is_near);
      const Expr place = Cast(kF64, Select(is_near, part, Number(0, part)));
      const Expr own = Select(is_simple, least({at}), kFineParts);
      return Cast(kI64, Rounded(place * Cast(kF64, own))) * Select(is_simple, least({other}), 1);
    };
    const Expr first = numerator(start, end), last = numerator(end, start);
    const Expr parts = Select(is_simple, least({start}) * least({end}), kFineParts);
    return Row(i[0], first, last - first, Select(is_region, parts, 0));
  }));
  return absl::OkStatus();
}

absl::Status ExpandResize(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  const bool has_sizes = e.HasInput(3);
  const std::string coordinates = e.attributes().String(kCoordinates);
  const bool crops = coordinates == "tf_crop_and_resize";
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, size_t{has_sizes ? 3U : 2U}, size_t{crops ? 1U : 0U}}));
  ValueId dims = e.Emit("Shape", {e.Input(0)});
  if (e.attributes().Has("axes")) {
    dims = e.Emit("Gather", {dims, e.Ints("axes", e.attributes().Ints("axes"))});
  }
  const std::string policy = e.attributes().String("keep_aspect_ratio_policy", "stretch");
  const ValueId lengths = has_sizes
                              ? e.Emit("ResizeSizes", {dims, e.Input(3)}, {{"policy", policy}})
                              : e.Emit("ResizeScales", {dims, e.Input(2)});
  std::vector<ValueId> inputs = {e.Input(0), lengths};
  if (crops) inputs.push_back(e.Emit("ResizeRegions", {e.Input(1)}));
  Attributes attributes = node.attributes;
  if (!has_sizes && coordinates == kAlignCorners) attributes.Set(kKeepsFraction, int64_t{1});
  e.SetOutput(0, rebuilder.Emit(kResizeTo, inputs, std::move(attributes), UnknownType(), node));
  return absl::OkStatus();
}

}  // namespace aotc
