// Sampling at points of a grid: GridSample, and AffineGrid, which makes such grids.
//
// Coordinates run from -1 to 1 over each axis, in reverse order of the axes: x, y, z. With
// align_corners they end at the middle of the first and last elements, else at their outer edges.
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

enum class Outside { kZeros, kBorder, kReflection };

struct Sampling {
  Tensor x;     // [N, C, spatial...]
  Tensor grid;  // [N, out..., one coordinate per spatial axis]
  std::string mode;
  Outside outside = Outside::kZeros;
  bool align_corners = false;

  size_t rank() const { return static_cast<size_t>(x.rank()) - 2; }
  const Expr& Length(size_t axis) const { return x.shape()[axis + 2]; }
  DType coordinate_type() const { return ComputeType(grid.dtype()); }
};

absl::StatusOr<Sampling> SamplingOf(OpContext& op) {
  Sampling s;
  AOTC_ASSIGN_OR_RETURN(s.x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(s.grid, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireFloat(s.grid));
  AOTC_RETURN_IF_ERROR(RequireRank(s.x, 3));
  AOTC_RETURN_IF_ERROR(RequireRank(s.grid, s.x.rank(), s.x.rank()));
  AOTC_RETURN_IF_ERROR(op.RequireEqual(s.grid.dim(-1), static_cast<int64_t>(s.rank()),
                                       "the grid needs one coordinate per spatial axis"));
  AOTC_RETURN_IF_ERROR(
      op.RequireEqual(s.grid.dim(0), s.x.dim(0), "the grid needs a batch as the input has"));
  s.mode = op.attributes().String("mode", "linear");
  if (s.mode != "linear" && s.mode != "nearest" && s.mode != "cubic") {
    return AOTC_REFUSAL(InvalidArgument, StrCat("unknown mode '", s.mode, "'"));
  }
  AOTC_RETURN_IF_ERROR(s.mode == "nearest" ? RequireNumber(s.x) : RequireFloat(s.x));
  const std::string outside = op.attributes().String("padding_mode", "zeros");
  if (outside == "border") s.outside = Outside::kBorder;
  if (outside == "reflection") s.outside = Outside::kReflection;
  if (s.outside == Outside::kZeros && outside != "zeros") {
    return AOTC_REFUSAL(InvalidArgument, StrCat("unknown padding_mode '", outside, "'"));
  }
  s.align_corners = op.attributes().Int("align_corners") != 0;
  return s;
}

// The ends of an axis, in elements, as far as nothing lies outside.
struct Ends {
  Expr least, most;
};

Ends EndsOf(const Sampling& s, size_t axis, DType type) {
  const double edge = s.align_corners ? 0 : 0.5;
  const Expr length = Cast(type, s.Length(axis));
  return {NumberConst(-edge, type), length - NumberConst(1 - edge, type)};
}

// A place beyond an end mirrored there, and at the other end, until it is between them.
Expr Reflected(const Expr& place, const Ends& ends) {
  const Expr range = ends.most - ends.least;
  const Expr low = Lt(place, ends.least);
  const Expr beyond = Select(low, ends.least - place, place - ends.most);
  const Expr turns = Unary(ExprOp::kFloor, Div(beyond, range));
  const Expr rest = beyond - turns * range;
  const Expr half = turns * Number(0.5, turns);
  const Expr even = Eq(Unary(ExprOp::kFloor, half), half);
  // From below, an even number of turns ends at the low end; from above at the high one.
  const Expr from_least = Or(And(low, even), And(Not(low), Not(even)));
  const Expr mirrored = Select(from_least, ends.least + rest, ends.most - rest);
  return Select(Or(low, Lt(ends.most, place)), mirrored, place);
}

// [N, out...]: where the points lie along an axis, in elements.
Tensor PlacesAlong(TensorBuilder& b, const Sampling& s, size_t axis) {
  const DType type = s.coordinate_type();
  const Shape shape(s.grid.shape().begin(), s.grid.shape().end() - 1);
  const Ends ends = EndsOf(s, axis, type);
  return b.Compute(type, shape, [&](const Indices& i) {
    Indices point = i;
    point.push_back(static_cast<int64_t>(s.rank() - 1 - axis));
    const Expr one = NumberConst(1, type), half = NumberConst(0.5, type);
    const Expr length = Cast(type, s.Length(axis)), from_zero = s.grid(point) + one;
    Expr place =
        s.align_corners ? from_zero * half * (length - one) : (from_zero * length - one) * half;
    if (s.mode == "nearest") place = Unary(ExprOp::kRound, place);
    if (s.outside == Outside::kReflection) return Reflected(place, ends);
    // Around a place outside, the cubic kernel blends what its taps read at the border.
    if (s.outside == Outside::kZeros || s.mode == "cubic") return place;
    const Expr off = Or(Lt(place, ends.least), Lt(ends.most, place));
    return Select(off, Clamp(place, NumberConst(0, type), length - one), place);
  });
}

// Keys' cubic kernel with a = -0.75 of tap t in 0 .. 3 for a fraction in [0, 1).
Expr CubicWeight(const Expr& t, const Expr& fraction) {
  auto number = [&](double value) { return Number(value, fraction); };
  constexpr double kA = -0.75;
  auto far = [&](const Expr& d) {  // 1 < d < 2
    return ((number(kA) * d - number(5 * kA)) * d + number(8 * kA)) * d - number(4 * kA);
  };
  auto near = [&](const Expr& d) {  // d < 1
    return (number(kA + 2) * d - number(kA + 3)) * d * d + number(1);
  };
  const Expr rest = number(1) - fraction;
  return Select(
      Eq(t, 0), far(fraction + number(1)),
      Select(Eq(t, 1), near(fraction), Select(Eq(t, 2), near(rest), far(rest + number(1)))));
}

// The element at [n, c, index...]; indices outside are treated as padding_mode says.
Expr Pixel(const Sampling& s, const Indices& i, const Indices& index) {
  Indices at = {i[0], i[1]};
  Expr inside = Bool(true);
  for (size_t d = 0; d < s.rank(); ++d) {
    Expr here = index[d];
    if (s.outside == Outside::kZeros) inside = And(inside, InBounds(here, s.Length(d)));
    if (s.outside == Outside::kReflection) {
      const DType type = s.coordinate_type();
      here = Cast(DType::kI64, Reflected(Cast(type, here), EndsOf(s, d, type)));
    }
    at.push_back(Clamp(here, 0, s.Length(d) - 1));
  }
  const Expr value = s.x(at);
  return inside.IsConst() ? value : Select(inside, value, Number(0, value));
}

absl::Status GridSample(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Sampling s, SamplingOf(op));
  TensorBuilder& b = op.b();
  std::vector<Tensor> places;
  for (size_t d = 0; d < s.rank(); ++d) places.push_back(PlacesAlong(b, s, d));
  Shape shape = {s.x.dim(0), s.x.dim(1)};
  shape.insert(shape.end(), s.grid.shape().begin() + 1, s.grid.shape().end() - 1);
  auto place = [&](const Indices& i, size_t d) {
    Indices point = i;
    point.erase(point.begin() + 1);
    return places[d](point);
  };
  if (s.mode == "nearest") {
    op.SetOutput(0, b.Compute(s.x.dtype(), shape, [&](const Indices& i) {
      Indices index;
      for (size_t d = 0; d < s.rank(); ++d) index.push_back(Cast(DType::kI64, place(i, d)));
      return Pixel(s, i, index);
    }));
    return absl::OkStatus();
  }
  const bool cubic = s.mode == "cubic";
  const DType compute = ComputeType(s.x.dtype());
  auto body = [&](const Indices& i, const Indices& r) {
    Indices index;
    Expr weight;
    for (size_t d = 0; d < s.rank(); ++d) {
      const Expr at = place(i, d), first = Unary(ExprOp::kFloor, at);
      const Expr fraction = Cast(compute, at - first);
      index.push_back(Cast(DType::kI64, first) + (cubic ? r[d] - 1 : r[d]));
      const Expr linear = Select(Eq(r[d], 0), Number(1, fraction) - fraction, fraction);
      const Expr here = cubic ? CubicWeight(r[d], fraction) : linear;
      weight = d == 0 ? here : weight * here;
    }
    return Pixel(s, i, index) * weight;
  };
  const Shape taps(s.rank(), Expr(cubic ? 4 : 2));
  op.SetOutput(0, b.Reduce("sum", s.x.dtype(), shape, taps, body));
  return absl::OkStatus();
}

// [N, spatial..., k]: row k of theta times (x, y, z, 1) at each point.
absl::Status AffineGrid(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor theta, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(std::vector<Expr> size, op.IntElements(1));
  AOTC_RETURN_IF_ERROR(RequireFloat(theta));
  AOTC_RETURN_IF_ERROR(RequireRank(theta, 3, 3));
  const auto rank = static_cast<int64_t>(size.size()) - 2;
  if (rank < 2 || rank > 3 || !theta.dim(1).IsInt(rank) || !theta.dim(2).IsInt(rank + 1)) {
    return AOTC_REFUSAL(InvalidArgument,
                        "needs theta of [N, 2, 3] and a size of 4 elements, or [N, 3, 4] and 5");
  }
  const bool align_corners = op.attributes().Int("align_corners") != 0;
  const DType type = ComputeType(theta.dtype());
  auto coordinate = [&](const Expr& at, const Expr& length) {
    const Expr extent = Cast(type, align_corners ? length - 1 : length);
    const Expr steps = Cast(type, align_corners ? at * 2 : at * 2 + 1);
    Expr place = Div(steps, extent) - NumberConst(1, type);
    if (!align_corners) return place;
    // ONNX leaves open which end a single point has; it is the last for onnxruntime.
    return Select(Eq(length, 1), NumberConst(1, type), place);
  };
  Shape shape = {theta.dim(0)};
  for (size_t d = 2; d < size.size(); ++d) shape.push_back(Simplify(size[d], op.bounds()));
  const Shape spatial(shape.begin() + 1, shape.end());
  shape.push_back(rank);
  op.SetOutput(0, op.b().Compute(theta.dtype(), shape, [&](const Indices& i) {
    Expr sum = theta({i[0], i.back(), Expr(rank)});
    for (int64_t j = 0; j < rank; ++j) {
      const auto axis = static_cast<size_t>(rank - 1 - j);
      sum = sum + theta({i[0], i.back(), Expr(j)}) * coordinate(i[axis + 1], spatial[axis]);
    }
    return sum;
  }));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "AffineGrid", .compute = AffineGrid, .summary = "points of an affine map"},
    {.name = "GridSample", .compute = GridSample, .summary = "interpolation at points of a grid"},
};

}  // namespace

std::span<const OpDef> GridSampleOps() { return kOps; }

}  // namespace aotc
