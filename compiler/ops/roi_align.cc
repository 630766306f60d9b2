// Regions of images, each resampled to one size: RoiAlign (Mask R-CNN), and CropAndResize of
// com.microsoft (and of TensorFlow).
//
// In RoiAlign a region is cut into output_height x output_width bins; a bin is the mean, or the
// maximum, of sampling_ratio x sampling_ratio points, each interpolated between the four elements
// around it.
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

struct Regions {
  Tensor x;      // [N, C, H, W]
  Tensor rois;   // [R, 4]
  Tensor image;  // [R]: which of the N

  // The element of x in the image of region `region`.
  Expr At(const Expr& region, const Expr& channel, const Expr& y, const Expr& x_place) const {
    const Expr which = Clamp(Cast(DType::kI64, image({region})), 0, x.dim(0) - 1);
    return x({which, channel, y, x_place});
  }
};

absl::Status ReadRegions(OpContext& op, Regions& regions) {
  AOTC_ASSIGN_OR_RETURN(regions.x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(regions.rois, op.Input(1));
  AOTC_ASSIGN_OR_RETURN(regions.image, op.Input(2));
  AOTC_RETURN_IF_ERROR(RequireFloat(regions.x));
  AOTC_RETURN_IF_ERROR(RequireSameType({regions.x, regions.rois}));
  AOTC_RETURN_IF_ERROR(RequireRank(regions.x, 4, 4));
  AOTC_RETURN_IF_ERROR(RequireRank(regions.rois, 2, 2));
  AOTC_RETURN_IF_ERROR(RequireRank(regions.image, 1, 1));
  constexpr const char* kWrong = "needs regions of [R, 4] and R batch indices";
  AOTC_RETURN_IF_ERROR(op.RequireEqual(regions.rois.dim(1), 4, kWrong));
  AOTC_RETURN_IF_ERROR(op.RequireEqual(regions.rois.dim(0), regions.image.dim(0), kWrong));
  return absl::OkStatus();
}

// The coordinates of a region are x1, y1, x2, y2.
struct RoiPool : Regions {
  std::string mode;
  bool half_pixel = true;
  int64_t bins[2] = {1, 1};  // down, across
  int64_t samples = 1;       // per bin and axis
  double scale = 1;          // from the coordinates of regions to elements
};

absl::StatusOr<RoiPool> ReadRoiPool(OpContext& op) {
  RoiPool pool;
  AOTC_RETURN_IF_ERROR(ReadRegions(op, pool));
  const Attributes& attributes = op.attributes();
  pool.mode = attributes.String("mode", "avg");
  if (pool.mode != "avg" && pool.mode != "max") {
    return AOTC_REFUSAL(InvalidArgument, StrCat("unknown mode '", pool.mode, "'"));
  }
  const std::string places = attributes.String("coordinate_transformation_mode", "half_pixel");
  pool.half_pixel = places == "half_pixel";
  if (!pool.half_pixel && places != "output_half_pixel") {
    return AOTC_REFUSAL(InvalidArgument,
                        StrCat("unknown coordinate_transformation_mode '", places, "'"));
  }
  pool.bins[0] = attributes.Int("output_height", 1);
  pool.bins[1] = attributes.Int("output_width", 1);
  pool.samples = attributes.Int("sampling_ratio", 0);
  pool.scale = static_cast<double>(attributes.Float("spatial_scale", 1));
  if (pool.bins[0] < 1 || pool.bins[1] < 1 || pool.samples < 0) {
    return AOTC_REFUSAL(InvalidArgument,
                        "output_height, output_width or sampling_ratio is too small");
  }
  if (pool.samples == 0) {
    return AOTC_REFUSAL(Unimplemented,
                        "sampling_ratio 0, for which the number of samples depends on the regions");
  }
  return pool;
}

// One of the two elements around a sample along an axis.
struct Corner {
  Expr index;
  Expr weight;
  Expr inside;
};

// Axis 0 goes down, 1 across. `far`: of the two elements the one behind the sample.
Corner CornerOf(const RoiPool& pool, size_t axis, const Indices& i, const Indices& r) {
  const size_t other = 1 - axis;
  const Expr length = pool.x.shape()[axis + 2], &far = r[axis + 2];
  const Expr first = pool.rois({i[0], Expr(static_cast<int64_t>(other))});
  auto number = [&](double value) { return Number(value, first); };
  auto real = [&](const Expr& e) { return Cast(first.dtype(), e); };
  const Expr offset = number(pool.half_pixel ? 0.5 : 0);
  const Expr start = first * number(pool.scale) - offset;
  const Expr end =
      pool.rois({i[0], Expr(static_cast<int64_t>(other + 2))}) * number(pool.scale) - offset;
  const Expr size = pool.half_pixel ? end - start : Max(end - start, number(1));
  const Expr bin = Div(size, number(static_cast<double>(pool.bins[axis])));
  const Expr within =
      Div((real(r[axis]) + number(0.5)) * bin, number(static_cast<double>(pool.samples)));
  const Expr place = start + real(i[axis + 2]) * bin + within;
  const Expr inside = And(Le(number(-1), place), Le(place, real(length)));
  const Expr low = Clamp(Cast(DType::kI64, Max(place, number(0))), 0, length - 1);
  const Expr fraction = Select(Eq(low, length - 1), number(0), Max(place, number(0)) - real(low));
  return {Select(Eq(far, 0), low, Min(low + 1, length - 1)),
          Select(Eq(far, 0), number(1) - fraction, fraction), inside};
}

// The maximum is that of the weighted corners, as onnxruntime and ONNX's data have it.
absl::Status RoiAlign(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const RoiPool pool, ReadRoiPool(op));
  const Shape shape = {pool.rois.dim(0), pool.x.dim(1), pool.bins[0], pool.bins[1]};
  const Shape points = {pool.samples, pool.samples, 2, 2};
  auto body = [&](const Indices& i, const Indices& r) {
    const Corner down = CornerOf(pool, 0, i, r), across = CornerOf(pool, 1, i, r);
    const Expr value = pool.At(i[0], i[1], down.index, across.index);
    return Select(And(down.inside, across.inside), down.weight * across.weight * value,
                  Number(0, value));
  };
  TensorBuilder& b = op.b();
  const bool mean = pool.mode == "avg";
  Tensor y = b.Reduce(mean ? "sum" : "max", ComputeType(pool.x.dtype()), shape, points, body);
  const double count = static_cast<double>(pool.samples * pool.samples);
  auto scaled = [&](const auto& v) { return mean ? Div(v[0], Number(count, v[0])) : v[0]; };
  op.SetOutput(0, b.Map({y}, scaled, pool.x.dtype()));
  return absl::OkStatus();
}

// The coordinates of a region are y1, x1, y2, x2, where 0 is the first element of an axis and 1 the
// last.
struct Crops : Regions {
  Shape shape;  // of the result: [R, C, height, width]
  bool nearest = false;
};

absl::StatusOr<Crops> ReadCrops(OpContext& op) {
  Crops crops;
  AOTC_RETURN_IF_ERROR(ReadRegions(op, crops));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Expr> size, op.IntElements(3));
  if (size.size() != 2) return AOTC_REFUSAL(InvalidArgument, "needs a height and a width");
  const std::string mode = op.attributes().String("mode", "bilinear");
  crops.nearest = mode == "nearest";
  if (!crops.nearest && mode != "bilinear") {
    return AOTC_REFUSAL(InvalidArgument, StrCat("unknown mode '", mode, "'"));
  }
  crops.shape = {crops.rois.dim(0), crops.x.dim(1), op.Size(Max(size[0], 0), 0, 2),
                 op.Size(Max(size[1], 0), 0, 3)};
  return crops;
}

// Where an element of the result is along an axis of the image: 0 goes down, 1 across.
Expr PlaceOf(const Crops& crops, size_t axis, const Indices& i) {
  const Expr first = crops.rois({i[0], Expr(static_cast<int64_t>(axis))});
  const Expr last = crops.rois({i[0], Expr(static_cast<int64_t>(axis + 2))});
  const Expr length = crops.shape[axis + 2];
  const Expr reach = Cast(first.dtype(), crops.x.shape()[axis + 2] - 1);
  const Expr step = Div((last - first) * reach, Cast(first.dtype(), Max(length - 1, 1)));
  return Select(Lt(1, length), first * reach + Cast(first.dtype(), i[axis + 2]) * step,
                (first + last) * reach * Number(0.5, first));
}

Expr Interpolated(const Expr& near, const Expr& far, const Expr& fraction) {
  return near + (far - near) * fraction;
}

// What is outside of the image is `extrapolation_value`.
absl::Status CropAndResize(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Crops crops, ReadCrops(op));
  const double outside = static_cast<double>(op.attributes().Float("extrapolation_value"));
  op.SetOutput(0, op.b().Compute(crops.x.dtype(), crops.shape, [&](const Indices& i) {
    Expr inside = Bool(true), near[2], far[2], fraction[2];
    for (size_t axis = 0; axis < 2; ++axis) {
      const Expr place = PlaceOf(crops, axis, i), last = crops.x.shape()[axis + 2] - 1;
      const Expr end = Cast(place.dtype(), last);
      inside = And(inside, And(Le(Number(0, place), place), Le(place, end)));
      const Expr within = Clamp(place, Number(0, place), end);
      const Expr low = Unary(ExprOp::kFloor, within);
      const Expr start = crops.nearest ? Unary(ExprOp::kFloor, within + Number(0.5, place)) : low;
      near[axis] = Clamp(Cast(DType::kI64, start), 0, last);
      far[axis] = Min(near[axis] + 1, last);
      fraction[axis] = within - low;
    }
    const auto at = [&](const Expr& y, const Expr& x) { return crops.At(i[0], i[1], y, x); };
    Expr value = at(near[0], near[1]);
    if (!crops.nearest) {
      const Expr above = Interpolated(value, at(near[0], far[1]), fraction[1]);
      const Expr below = Interpolated(at(far[0], near[1]), at(far[0], far[1]), fraction[1]);
      value = Interpolated(above, below, fraction[0]);
    }
    return Select(inside, value, Number(outside, value));
  }));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "com.microsoft.CropAndResize",
     .compute = CropAndResize,
     .summary = "regions of an image in one size, by their corners",
     .indices = IndexOperand{.input = 2, .from_end = false}},
    {.name = "RoiAlign",
     .compute = RoiAlign,
     .summary = "regions of an image in one size",
     .indices = IndexOperand{.input = 2, .from_end = false}},
};

}  // namespace

std::span<const OpDef> RoiAlignOps() { return kOps; }

}  // namespace aotc
