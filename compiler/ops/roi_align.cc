// Regions of images, each resampled to one size: RoiAlign (Mask R-CNN), and CropAndResize of
// com.microsoft (and of TensorFlow).
//
// In RoiAlign a region is cut into output_height x output_width bins; a bin is the mean, or the
// maximum, of points in it, each interpolated between the four elements around it. Along an axis
// these are sampling_ratio points; where that is 0, as many as the bin has elements, rounded up:
// the greatest such number of a run's regions is a size then, which RoiSamples works out.
#include "compiler/ops/expansion.h"
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
  int64_t samples = 1;       // per bin and axis; 0 where that follows from the region
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
  return pool;
}

// A bin of a region along an axis: 0 goes down, 1 across.
struct Bin {
  Expr begin;
  Expr size;
  Expr samples;  // a whole number as a float; less than 1 where the region has no extent
  Expr first;    // those before it are outside of the image, and so is it where there are such
};

// The most samples of a bin that lie between the place -1 and the length of the image, of which two
// are at least half an element apart, and those that are looked at around them: up to three in
// front and one behind.
Expr MostSamples(const Expr& length) { return length * 2 + 8; }

Bin BinOf(const RoiPool& pool, size_t axis, const Expr& region, const Expr& bin) {
  const auto column = static_cast<int64_t>(1 - axis);
  const auto side = [&](int64_t corner) {
    const Expr place = pool.rois({region, Expr(column + 2 * corner)});
    return place * Number(pool.scale, place) - Number(pool.half_pixel ? 0.5 : 0, place);
  };
  const Expr start = side(0), extent = side(1) - start;
  const auto number = [&](double value) { return Number(value, start); };
  const Expr region_size = pool.half_pixel ? extent : Max(extent, number(1));
  const Expr size = Div(region_size, number(static_cast<double>(pool.bins[axis])));
  const Expr begin = start + Cast(start.dtype(), bin) * size;
  if (pool.samples > 0) {
    return {begin, size, number(static_cast<double>(pool.samples)), number(0)};
  }
  const Expr samples = Unary(ExprOp::kCeil, size);
  const Expr outside = Div((number(-1) - begin) * samples, size) - number(2);
  const Expr last = Max(samples - number(1), number(0));
  return {begin, size, samples, Clamp(Unary(ExprOp::kFloor, outside), number(0), last)};
}

// Of the samples of all regions the most that a bin needs, down and across: i64[2].
absl::Status RoiSamples(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const RoiPool pool, ReadRoiPool(op));
  const Tensor most = op.b().Reduce(
      "max", DType::kI64, {Expr(2)}, {pool.rois.dim(0)}, [&](const Indices& i, const Indices& r) {
        const auto along = [&](size_t axis) {
          const Expr count = BinOf(pool, axis, r[0], 0).samples;
          const Expr limit = Cast(count.dtype(), MostSamples(pool.x.shape()[axis + 2]));
          return Cast(DType::kI64, Clamp(count, Number(0, count), limit));
        };
        return Select(Eq(i[0], 0), along(0), along(1));
      });
  op.SetOutput(
      0, op.b().Compute(DType::kI64, {Expr(2)}, [&](const Indices& i) { return Max(most(i), 0); }));
  return absl::OkStatus();
}

// One of the two elements around a sample along an axis.
struct Corner {
  Expr index;
  Expr weight;
  Expr inside;   // the image
  Expr counted;  // it is a sample of the bin
};

// r: the sample of the bin and axis, then for each axis which of the two elements.
Corner CornerOf(const RoiPool& pool, size_t axis, const Indices& i, const Indices& r) {
  const Expr length = pool.x.shape()[axis + 2], &far = r[axis + 2];
  const Bin bin = BinOf(pool, axis, i[0], i[axis + 2]);
  auto number = [&](double value) { return Number(value, bin.begin); };
  auto real = [&](const Expr& e) { return Cast(bin.begin.dtype(), e); };
  const Expr sample = bin.first + real(r[axis]);
  const Expr place = bin.begin + Div((sample + number(0.5)) * bin.size, bin.samples);
  const Expr inside = And(Le(number(-1), place), Le(place, real(length)));
  const Expr low = Clamp(Cast(DType::kI64, Max(place, number(0))), 0, length - 1);
  const Expr fraction = Select(Eq(low, length - 1), number(0), Max(place, number(0)) - real(low));
  return {Select(Eq(far, 0), low, Min(low + 1, length - 1)),
          Select(Eq(far, 0), number(1) - fraction, fraction), inside, Lt(sample, bin.samples)};
}

// `samples`: those looked at, down and across. The maximum is that of the weighted corners,
// as onnxruntime and ONNX's data have it.
void SetBins(OpContext& op, const RoiPool& pool, const std::vector<Expr>& samples) {
  const Shape shape = {pool.rois.dim(0), pool.x.dim(1), pool.bins[0], pool.bins[1]};
  const bool mean = pool.mode == "avg";
  const DType type = ComputeType(pool.x.dtype());
  auto body = [&](const Indices& i, const Indices& r) {
    const Corner down = CornerOf(pool, 0, i, r), across = CornerOf(pool, 1, i, r);
    const Expr value = pool.At(i[0], i[1], down.index, across.index);
    const Expr point = Select(And(down.inside, across.inside), down.weight * across.weight * value,
                              Number(0, value));
    const Expr counted = And(down.counted, across.counted);
    return Select(counted, point, mean ? Number(0, value) : LowestOf(type));
  };
  const Tensor all =
      op.b().Reduce(mean ? "sum" : "max", type, shape, {samples[0], samples[1], 2, 2}, body);
  op.SetOutput(0, op.b().Compute(pool.x.dtype(), shape, [&](const Indices& i) {
    const Expr value = all(i), none = Number(0, value), one = Number(1, value);
    const auto count = [&](size_t axis) { return BinOf(pool, axis, i[0], 0).samples; };
    if (mean) return Div(value, Max(count(0) * count(1), one));
    return Select(And(Le(one, count(0)), Le(one, count(1))), value, none);
  }));
}

// FailedPrecondition: the regions say how many samples they have.
absl::Status RoiAlign(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const RoiPool pool, ReadRoiPool(op));
  if (pool.samples == 0) return absl::FailedPreconditionError("sampling_ratio is 0");
  SetBins(op, pool, {pool.samples, pool.samples});
  return absl::OkStatus();
}

// Ours: with the samples that are looked at, i64[2], behind its operands.
absl::Status AdaptiveRoiAlign(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const RoiPool pool, ReadRoiPool(op));
  AOTC_ASSIGN_OR_RETURN(std::vector<Expr> samples, op.IntElements(3));
  if (samples.size() != 2) return absl::InternalError("needs two numbers of samples");
  for (size_t axis = 0; axis < 2; ++axis) {
    const Expr most = MostSamples(pool.x.shape()[axis + 2]);
    samples[axis] = Simplify(Clamp(samples[axis], 0, most), op.bounds());
  }
  SetBins(op, pool, samples);
  return absl::OkStatus();
}

absl::Status ExpandRoiAlign(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1, 2}));
  const std::vector<ValueId> operands = {e.Input(0), e.Input(1), e.Input(2)};
  const auto emit = [&](std::string_view op, const std::vector<ValueId>& inputs) {
    return rebuilder.Emit(op, inputs, node.attributes, UnknownType(), node);
  };
  const ValueId samples = emit("RoiSamples", operands);
  e.SetOutput(0, emit("AdaptiveRoiAlign", {operands[0], operands[1], operands[2], samples}));
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
    {.name = "AdaptiveRoiAlign",
     .compute = AdaptiveRoiAlign,
     .summary = "RoiAlign with as many samples as a region has elements",
     .traits = kOwn,
     .indices = IndexOperand{.input = 2, .from_end = false}},
    {.name = "com.microsoft.CropAndResize",
     .compute = CropAndResize,
     .summary = "regions of an image in one size, by their corners",
     .indices = IndexOperand{.input = 2, .from_end = false}},
    {.name = "RoiAlign",
     .compute = RoiAlign,
     .expand = ExpandRoiAlign,
     .summary = "regions of an image in one size",
     .indices = IndexOperand{.input = 2, .from_end = false}},
    {.name = "RoiSamples",
     .compute = RoiSamples,
     .summary = "the most samples that bins of RoiAlign have along an axis",
     .traits = kCounts | kOwn},
};

}  // namespace

std::span<const OpDef> RoiAlignOps() { return kOps; }

}  // namespace aotc
