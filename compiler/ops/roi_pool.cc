// MaxRoiPool: the maxima of the bins of regions of an image, Fast R-CNN (ONNX MaxRoiPool-22).
//
// Regions are first rounded to whole elements; a bin covers those that it touches, and is 0 where
// it touches none. Maxima are taken along one axis after the other, of all elements, since how many
// are in a bin depends on the data.
#include "compiler/ir/graph_rebuild.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

struct RoiMaximum {
  Tensor x;                   // [N, C, H, W]
  Tensor rois;                // [R, 5]: image, x1, y1, x2, y2
  Tensor image;               // [R]: the first of those as integers
  std::vector<int64_t> bins;  // down, across
  double scale = 1;           // from the coordinates of regions to elements

  const Expr& Length(size_t axis) const { return x.shape()[axis + 2]; }
};

absl::StatusOr<RoiMaximum> ReadRegions(OpContext& op) {
  RoiMaximum pool;
  AOTC_ASSIGN_OR_RETURN(pool.x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(pool.rois, op.Input(1));
  AOTC_ASSIGN_OR_RETURN(pool.image, op.Input(2));
  AOTC_RETURN_IF_ERROR(RequireFloat(pool.x));
  AOTC_RETURN_IF_ERROR(RequireSameType({pool.x, pool.rois}));
  AOTC_RETURN_IF_ERROR(RequireRank(pool.x, 4, 4));
  AOTC_RETURN_IF_ERROR(RequireRank(pool.rois, 2, 2));
  if (!pool.rois.dim(1).IsInt(5)) return AOTC_REFUSAL(InvalidArgument, "needs regions of [R, 5]");
  pool.bins = op.attributes().Ints("pooled_shape");
  if (pool.bins.size() != 2 || pool.bins[0] < 1 || pool.bins[1] < 1) {
    return AOTC_REFUSAL(InvalidArgument, "pooled_shape needs two positive numbers");
  }
  pool.scale = static_cast<double>(op.attributes().Float("spatial_scale", 1));
  return pool;
}

// To the nearest integer, halves away from zero.
Expr RoundedAway(const Expr& x) {
  const Expr whole = Unary(ExprOp::kTrunc, x), rest = x - whole;
  const Expr half = Number(0.5, x), one = Number(1, x);
  const Expr up = Select(Le(half, rest), whole + one, whole);
  return Select(Le(rest, -half), whole - one, up);
}

// The elements [first, end) of a spatial axis that a bin of a region covers, as whole floats.
struct Bin {
  Expr first;
  Expr end;

  Expr Holds(const Expr& at) const {
    const Expr here = Cast(first.dtype(), at);
    return And(Le(first, here), Lt(here, end));
  }
  Expr IsEmpty() const { return Le(end, first); }
};

Bin BinOf(const RoiMaximum& pool, size_t axis, const Expr& region, const Expr& bin) {
  const auto side = [&](int64_t corner) {
    const int64_t column = 1 + corner * 2 + (axis == 0 ? 1 : 0);
    const Expr place = pool.rois({region, Expr(column)});
    return RoundedAway(place * Number(pool.scale, place));
  };
  const Expr start = side(0), zero = Number(0, start), one = Number(1, start);
  const Expr extent = Max(side(1) - start + one, one);
  const Expr size = Div(extent, Number(static_cast<double>(pool.bins[axis]), start));
  const Expr number = Cast(start.dtype(), bin), length = Cast(start.dtype(), pool.Length(axis));
  return {Clamp(Unary(ExprOp::kFloor, number * size) + start, zero, length),
          Clamp(Unary(ExprOp::kCeil, (number + one) * size) + start, zero, length)};
}

// Ours: MaxRoiPool with the images of the regions apart, so that a run can check them.
absl::Status RoiMaximumOp(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const RoiMaximum pool, ReadRegions(op));
  TensorBuilder& b = op.b();
  const DType compute = ComputeType(pool.x.dtype());
  const Expr none = LowestOf(compute);
  const Expr regions = pool.rois.dim(0), channels = pool.x.dim(1);
  const Expr down = pool.bins[0], across = pool.bins[1];
  const Expr& width = pool.Length(1);
  const Tensor columns = b.Reduce("max", compute, {regions, channels, down, width},
                                  {pool.Length(0)}, [&](const Indices& i, const Indices& r) {
                                    const Expr image =
                                        Clamp(pool.image({i[0]}), 0, pool.x.dim(0) - 1);
                                    return Select(BinOf(pool, 0, i[0], i[2]).Holds(r[0]),
                                                  pool.x({image, i[1], r[0], i[3]}), none);
                                  });
  const Tensor top = b.Reduce("max", compute, {regions, channels, down, across}, {width},
                              [&](const Indices& i, const Indices& r) {
                                return Select(BinOf(pool, 1, i[0], i[3]).Holds(r[0]),
                                              columns({i[0], i[1], i[2], r[0]}), none);
                              });
  op.SetOutput(0,
               b.Compute(pool.x.dtype(), {regions, channels, down, across}, [&](const Indices& i) {
                 const Expr empty =
                     Or(BinOf(pool, 0, i[0], i[2]).IsEmpty(), BinOf(pool, 1, i[0], i[3]).IsEmpty());
                 return Select(empty, NumberConst(0, compute), top(i));
               }));
  return absl::OkStatus();
}

absl::Status MaxRoiPool(Rebuilder& rebuilder, const Node& node) {
  if (!HasInput(node, 0) || !HasInput(node, 1)) {
    return AOTC_REFUSAL(InvalidArgument, "needs an image and regions");
  }
  const ValueId rois = rebuilder.Mapped(node.inputs[1]);
  const ValueId first =
      rebuilder.graph().AddConstant("first_column", Constant::SplatInt(DType::kI64, {}, 0));
  Attributes columns, integers;
  columns.Set("axis", int64_t{1});
  integers.Set("to", static_cast<int64_t>(DType::kI64));
  const ValueId image = rebuilder.Emit("Gather", {rois, first}, columns, UnknownType(), node);
  const ValueId places = rebuilder.Emit("Cast", {image}, integers, UnknownType(), node);
  rebuilder.Replace(node.outputs[0],
                    rebuilder.Emit("RoiMaximum", {rebuilder.Mapped(node.inputs[0]), rois, places},
                                   node.attributes, UnknownType(), node));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "MaxRoiPool", .expand = MaxRoiPool, .summary = "maxima of bins of regions"},
    {.name = "RoiMaximum",
     .compute = RoiMaximumOp,
     .summary = "MaxRoiPool, whose images are integers",
     .traits = kOwn,
     .indices = IndexOperand{.input = 2, .from_end = false}},
};

}  // namespace

std::span<const OpDef> RoiPoolOps() { return kOps; }

}  // namespace aotc
