// Pools: a reduction over the taps of a sliding window, or over all spatial axes.
#include <algorithm>
#include <numeric>

#include "compiler/ops/gradient.h"
#include "compiler/ops/gradient_rules.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/ops/window.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

struct Pool {
  Tensor x;  // [N, C, spatial...]
  Window window;

  Shape OutShape() const {
    Shape shape = {x.dim(0), x.dim(1)};
    shape.insert(shape.end(), window.out.begin(), window.out.end());
    return shape;
  }

  // Where tap r of the window of result element i reads.
  Indices InputIndices(const Indices& i, const Indices& r) const {
    Indices indices = {i[0], i[1]};
    for (const Expr& p : window.Positions(Indices(i.begin() + 2, i.end()), r)) indices.push_back(p);
    return indices;
  }
};

absl::StatusOr<Pool> PoolOf(OpContext& op) {
  Pool pool;
  AOTC_ASSIGN_OR_RETURN(pool.x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireNumber(pool.x));
  AOTC_RETURN_IF_ERROR(RequireRank(pool.x, 3));
  Shape spatial(pool.x.shape().begin() + 2, pool.x.shape().end());
  std::vector<int64_t> kernel = op.attributes().Ints("kernel_shape");
  AOTC_ASSIGN_OR_RETURN(pool.window, MakeWindow(op, spatial, kernel));
  return pool;
}

// The reduction over all taps of lift(element), with `outside` in the padding.
Tensor ReduceTaps(OpContext& op, const Pool& pool, std::string_view combiner, const Expr& outside,
                  const std::function<Expr(const Expr&)>& lift = {}) {
  Shape taps = MakeShape(pool.window.kernel);
  auto body = [&](const Indices& i, const Indices& r) {
    Indices indices = pool.InputIndices(i, r);
    Expr value = lift ? lift(pool.x(indices)) : pool.x(indices);
    return Select(pool.window.Inside(Indices(i.begin() + 2, i.end()), r), value, outside);
  };
  return op.b().Reduce(combiner, outside.dtype(), pool.OutShape(), taps, body);
}

// Of a row-major position, the one where the first spatial axis is the fastest.
Expr ColumnMajor(const Expr& position, const Shape& shape) {
  Shape dims = shape;
  Indices place = Unraveled(position, shape);
  std::reverse(dims.begin() + 2, dims.end());
  std::reverse(place.begin() + 2, place.end());
  return LinearIndex(place, RowMajorStrides(dims));
}

// The maximum and its position in the whole input, of equal ones the first in row-major order,
// whatever storage_order says; padding loses against every element.
absl::Status MaxPoolWithIndices(OpContext& op, const Pool& pool) {
  DType compute = ComputeType(pool.x.dtype());
  Combiner combiner = ArgCombiner(compute, /*maximum=*/true, /*prefer_last=*/false);
  auto body = [&](const Indices& i, const Indices& r) {
    Indices indices = pool.InputIndices(i, r);
    Expr inside = pool.window.Inside(Indices(i.begin() + 2, i.end()), r);
    Expr position = LinearIndex(indices, RowMajorStrides(pool.x.shape()));
    return std::vector<Expr>{Select(inside, pool.x(indices), combiner.identity[0]),
                             Select(inside, position, combiner.identity[1])};
  };
  std::vector<Tensor> top =
      op.b().ReduceTuple(combiner, pool.OutShape(), MakeShape(pool.window.kernel), body);
  op.SetOutput(0, op.b().Convert(top[0], pool.x.dtype()));
  if (op.attributes().Int("storage_order") == 0) {
    op.SetOutput(1, top[1]);
    return absl::OkStatus();
  }
  op.SetOutput(1, op.b().Compute(DType::kI64, pool.OutShape(), [&](const Indices& i) {
    return ColumnMajor(top[1](i), pool.x.shape());
  }));
  return absl::OkStatus();
}

absl::Status MaxPool(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Pool pool, PoolOf(op));
  if (op.WantsOutput(1)) return MaxPoolWithIndices(op, pool);
  Tensor top = ReduceTaps(op, pool, "max", LowestOf(ComputeType(pool.x.dtype())));
  op.SetOutput(0, op.b().Convert(top, pool.x.dtype()));
  return absl::OkStatus();
}

// Taps of a window that count, in the type of the sums. A product of one factor per axis, so that
// what depends on one axis stays apart from the others.
Expr TapCount(const OpContext& op, const Window& window, const Indices& windows, DType type) {
  bool count_padding = op.attributes().Int("count_include_pad") != 0;
  Bounds bounds = op.bounds();
  for (size_t d = 0; d < window.rank(); ++d) bounds.Add(windows[d]->name, 0, window.out[d] - 1);
  int64_t known = 1;
  Expr varying;
  for (size_t d = 0; d < window.rank(); ++d) {
    Expr count = Simplify(window.TapCount(d, windows[d], count_padding), bounds);
    if (std::optional<int64_t> value = count.AsInt()) {
      known *= *value;
    } else {
      varying = varying.valid() ? varying * Cast(type, count) : Cast(type, count);
    }
  }
  Expr factor = NumberConst(static_cast<double>(known), type);
  if (!varying.valid()) return factor;
  return known == 1 ? varying : varying * factor;
}

absl::Status AveragePool(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Pool pool, PoolOf(op));
  AOTC_RETURN_IF_ERROR(RequireFloat(pool.x));
  DType compute = ComputeType(pool.x.dtype());
  Tensor total = ReduceTaps(op, pool, "sum", NumberConst(0, compute));
  auto divide = [&](const Indices& i) {
    Indices windows(i.begin() + 2, i.end());
    return Div(total(i), TapCount(op, pool.window, windows, compute));
  };
  op.SetOutput(0, op.b().Compute(pool.x.dtype(), pool.OutShape(), divide));
  return absl::OkStatus();
}

// Attribute p of the p-norms.
absl::StatusOr<double> NormExponent(const OpContext& op) {
  int64_t p = op.attributes().Int("p", 2);
  if (p >= 1) return static_cast<double>(p);
  return AOTC_REFUSAL(InvalidArgument, "attribute p must be at least 1");
}

Expr Power(const Expr& x, double exponent) { return Binary(ExprOp::kPow, x, Number(exponent, x)); }

// (sum of |x|^p)^(1/p)
absl::Status LpPool(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Pool pool, PoolOf(op));
  AOTC_RETURN_IF_ERROR(RequireFloat(pool.x));
  AOTC_ASSIGN_OR_RETURN(double p, NormExponent(op));
  auto lift = [&](const Expr& x) { return Power(Unary(ExprOp::kAbs, x), p); };
  Tensor total = ReduceTaps(op, pool, "sum", NumberConst(0, ComputeType(pool.x.dtype())), lift);
  auto root = [&](const auto& v) { return Power(v[0], 1 / p); };
  op.SetOutput(0, op.b().Map({total}, root, pool.x.dtype()));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int>> SpatialAxes(const Tensor& x) {
  AOTC_RETURN_IF_ERROR(RequireNumber(x));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 3));
  std::vector<int> axes(static_cast<size_t>(x.rank() - 2));
  std::iota(axes.begin(), axes.end(), 2);
  return axes;
}

absl::Status GlobalMaxPool(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(std::vector<int> axes, SpatialAxes(x));
  Tensor top = op.b().ReduceAxes("max", x, axes, /*keep_dims=*/true);
  op.SetOutput(0, op.b().Convert(top, x.dtype()));
  return absl::OkStatus();
}

absl::Status GlobalAveragePool(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  AOTC_ASSIGN_OR_RETURN(std::vector<int> axes, SpatialAxes(x));
  Tensor total = op.b().ReduceAxes("sum", x, axes, /*keep_dims=*/true);
  Expr count = ElementCount(Shape(x.shape().begin() + 2, x.shape().end()));
  auto divide = [&](const auto& v) { return Div(v[0], Cast(v[0].dtype(), count)); };
  op.SetOutput(0, op.b().Map({total}, divide, x.dtype()));
  return absl::OkStatus();
}

absl::Status GlobalLpPool(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  AOTC_ASSIGN_OR_RETURN(std::vector<int> axes, SpatialAxes(x));
  AOTC_ASSIGN_OR_RETURN(double p, NormExponent(op));
  auto lift = [&](const Expr& v) { return Power(Unary(ExprOp::kAbs, v), p); };
  Tensor total = op.b().ReduceAxes("sum", x, axes, /*keep_dims=*/true, lift);
  op.SetOutput(0,
               op.b().Map({total}, [&](const auto& v) { return Power(v[0], 1 / p); }, x.dtype()));
  return absl::OkStatus();
}

// To the element that each window has taken, the first of equal ones.
absl::Status GradientOfMaxPool(GradientContext& c) {
  if (!c.Wants(0)) return absl::OkStatus();
  if (c.attributes().Int("storage_order") != 0) {
    return AOTC_REFUSAL(Unimplemented, "with storage_order 1; hint: 0 is the default");
  }
  const Quantity x = c.Operand(), all(&c, c.emit().Ints("all", {-1}));
  const ValueId places = c.emit().EmitSeveral("MaxPool", {x.id()}, 2, c.AttributesAnd({})).back();
  const Quantity sums =
      ZerosLike(x.To("Reshape", {all}))
          .To("ScatterElements",
              {Quantity(&c, places).To("Reshape", {all}), c.OfResult().To("Reshape", {all})},
              {{"reduction", std::string("add")}});
  c.Give(0, ShapedAs(sums, x));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "AveragePool", .compute = AveragePool, .summary = "mean over a sliding window"},
    {.name = "GlobalAveragePool",
     .compute = GlobalAveragePool,
     .summary = "mean of each channel",
     .gradient = GradientOfGlobalAveragePool},
    {.name = "GlobalLpPool", .compute = GlobalLpPool, .summary = "p-norm of each channel"},
    {.name = "GlobalMaxPool",
     .compute = GlobalMaxPool,
     .summary = "maximum of each channel",
     .traits = kMovesElements},
    {.name = "LpPool", .compute = LpPool, .summary = "p-norm over a sliding window"},
    {.name = "MaxPool",
     .compute = MaxPool,
     .summary = "maximum over a sliding window",
     .traits = kMovesElements,
     .gradient = GradientOfMaxPool},
};

}  // namespace

std::span<const OpDef> PoolOps() { return kOps; }

}  // namespace aotc
