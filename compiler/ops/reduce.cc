// Reductions along axes.
//
// Absent or empty axes mean all, or none with noop_with_empty_axes (then only what is done before
// and after the reduction takes place).
#include <algorithm>
#include <numeric>

#include "compiler/ops/gradient_rules.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/ops/run_axes.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

struct Reduction {
  Tensor x = {};
  std::vector<int> axes = {};  // ascending
  bool keep_dims = true;
  Expr count = {};  // elements that meet in one result
};

absl::StatusOr<std::vector<int>> ReduceAxesOf(const OpContext& op, int rank) {
  std::vector<int64_t> given;
  if (op.HasInput(1)) {
    AOTC_ASSIGN_OR_RETURN(given, op.ConstInts(1));
  }
  std::vector<int> axes;
  if (given.empty() && op.attributes().Int("noop_with_empty_axes") == 0) {
    axes.resize(static_cast<size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (int64_t axis : given) {
    AOTC_ASSIGN_OR_RETURN(int normalized, op.NormalizeAxis(axis, rank));
    axes.push_back(normalized);
  }
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
    return AOTC_REFUSAL(InvalidArgument, "an axis is named twice");
  }
  return axes;
}

// Axes of the run: a tensor that has those of the result in front, and behind them each axis of x
// again, of dim 1 where it is not named. All of these are reduced.
absl::StatusOr<Reduction> ReductionOfRun(OpContext& op, const Tensor& x) {
  AOTC_ASSIGN_OR_RETURN(const RunAxes axes, RunAxes::Read(op, 1, x.rank()));
  const bool keep_dims = op.attributes().Int("keepdims", 1) != 0;
  Shape dims = x.shape();
  Shape kept, reduced;
  for (size_t d = 0; d < dims.size(); ++d) {
    kept.push_back(Select(axes.Names(d), Expr(1), dims[d]));
    reduced.push_back(Select(axes.Names(d), dims[d], Expr(1)));
  }
  Reduction result = {.keep_dims = false, .count = ElementCount(reduced)};
  Shape shape = keep_dims ? kept : axes.Others(dims);
  const size_t rank = shape.size();
  shape.insert(shape.end(), reduced.begin(), reduced.end());
  for (size_t d = rank; d < shape.size(); ++d) result.axes.push_back(static_cast<int>(d));
  const bool is_empty = ElementCount(dims).IsInt(0);
  result.x = op.b().Compute(x.dtype(), shape, [&](const Indices& i) {
    if (is_empty) return NumberConst(0, x.dtype());  // there is nothing to read
    const Indices of_result(i.begin(), i.begin() + static_cast<int64_t>(rank));
    Indices indices;
    for (size_t d = 0; d < dims.size(); ++d) {
      // Below a bound of the user's a dim of the result is just required to be that of x.
      const Expr other = keep_dims ? i[d] : Min(axes.OfOther(d, of_result), dims[d] - 1);
      indices.push_back(Select(axes.Names(d), i[rank + d], other));
    }
    return x.Stored(indices);
  });
  return result;
}

absl::StatusOr<Reduction> ReductionOf(OpContext& op) {
  Reduction result;
  AOTC_ASSIGN_OR_RETURN(result.x, op.Input(0));
  if (op.HasInput(1)) {
    AOTC_ASSIGN_OR_RETURN(const bool of_run, HasRunElements(op, 1));
    if (of_run) return ReductionOfRun(op, result.x);
  }
  AOTC_ASSIGN_OR_RETURN(result.axes, ReduceAxesOf(op, result.x.rank()));
  result.keep_dims = op.attributes().Int("keepdims", 1) != 0;
  Shape reduced;
  for (int axis : result.axes) reduced.push_back(result.x.dim(axis));
  result.count = ElementCount(reduced);
  return result;
}

Expr Same(const Expr& x) { return x; }
Expr Absolute(const Expr& x) { return Unary(ExprOp::kAbs, x); }
Expr Square(const Expr& x) { return x * x; }
Expr Exact(const Expr& x) { return IsFloat(x.dtype()) ? x : Cast(DType::kF64, x); }
Expr Logarithm(const Expr& x) { return Unary(ExprOp::kLog, Exact(x)); }
Expr Root(const Expr& x) { return Sqrt(Exact(x)); }

// finish(sum of lift(x))
template <Expr (*kLift)(const Expr&), Expr (*kFinish)(const Expr&)>
absl::Status ReduceSumOf(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Reduction r, ReductionOf(op));
  AOTC_RETURN_IF_ERROR(RequireNumber(r.x));
  Tensor total = op.b().ReduceAxes("sum", r.x, r.axes, r.keep_dims, kLift);
  if (kFinish == Same) {
    op.SetOutput(0, op.b().Convert(total, r.x.dtype()));
  } else {
    auto finish = [](const auto& v) { return kFinish(v[0]); };
    op.SetOutput(0, op.b().Map({total}, finish, r.x.dtype()));
  }
  return absl::OkStatus();
}

absl::Status ReduceMean(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Reduction r, ReductionOf(op));
  AOTC_RETURN_IF_ERROR(RequireNumber(r.x));
  Tensor total = op.b().ReduceAxes("sum", r.x, r.axes, r.keep_dims);
  auto divide = [&](const auto& v) { return Div(v[0], Cast(v[0].dtype(), r.count)); };
  op.SetOutput(0, op.b().Map({total}, divide, r.x.dtype()));
  return absl::OkStatus();
}

absl::Status ReduceProd(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Reduction r, ReductionOf(op));
  AOTC_RETURN_IF_ERROR(RequireNumber(r.x));
  Tensor product = op.b().ReduceAxes("prod", r.x, r.axes, r.keep_dims);
  op.SetOutput(0, op.b().Convert(product, r.x.dtype()));
  return absl::OkStatus();
}

// Over nothing: the least (greatest) value of the type. On bool the order is false < true.
template <bool kMaximum>
absl::Status ReduceExtreme(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Reduction r, ReductionOf(op));
  std::string_view combiner = kMaximum ? "max" : "min";
  if (r.x.dtype() == DType::kBool) combiner = kMaximum ? "or" : "and";
  Tensor extreme = op.b().ReduceAxes(combiner, r.x, r.axes, r.keep_dims);
  op.SetOutput(0, op.b().Convert(extreme, r.x.dtype()));
  return absl::OkStatus();
}

// top + log(sum(exp(x - top))) with top = max(x), or 0 where that is infinite; of integers it is
// cut off.
absl::Status ReduceLogSumExp(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Reduction r, ReductionOf(op));
  AOTC_RETURN_IF_ERROR(RequireNumber(r.x));
  TensorBuilder& b = op.b();
  const DType type = r.x.dtype();
  if (!IsFloat(type)) r.x = b.Convert(r.x, DType::kF64);
  Tensor largest = b.ReduceAxes("max", r.x, r.axes, /*keep_dims=*/true);
  Tensor top = b.Map({largest}, [](const auto& v) {
    return Select(Unary(ExprOp::kIsInf, v[0]), Number(0, v[0]), v[0]);
  });
  DType compute = ComputeType(r.x.dtype());
  Tensor powers = b.Map({r.x, top}, [](const auto& v) { return Exp(v[0] - v[1]); }, compute);
  Tensor total = b.ReduceAxes("sum", powers, r.axes, /*keep_dims=*/true);
  auto logarithm = [&](const Indices& i) {
    Indices kept;
    size_t next = 0;
    for (int d = 0; d < r.x.rank(); ++d) {
      bool reduced = std::binary_search(r.axes.begin(), r.axes.end(), d);
      kept.push_back(reduced ? Expr(0) : i[next]);
      if (!reduced || r.keep_dims) ++next;
    }
    return Cast(type, top(kept) + Logarithm(total(kept)));
  };
  Shape shape;
  for (int d = 0; d < r.x.rank(); ++d) {
    bool reduced = std::binary_search(r.axes.begin(), r.axes.end(), d);
    if (!reduced || r.keep_dims) shape.push_back(reduced ? Expr(1) : r.x.dim(d));
  }
  op.SetOutput(0, b.Compute(type, shape, logarithm));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "ReduceL1",
     .compute = ReduceSumOf<Absolute, Same>,
     .summary = "sum of |x|",
     .traits = kReducesAxes,
     .gradient = GradientOfReduceL1},
    {.name = "ReduceL2",
     .compute = ReduceSumOf<Square, Root>,
     .summary = "root of the sum of x * x",
     .traits = kReducesAxes,
     .gradient = GradientOfReduceL2},
    {.name = "ReduceLogSum",
     .compute = ReduceSumOf<Same, Logarithm>,
     .summary = "log of the sum",
     .traits = kReducesAxes,
     .gradient = GradientOfReduceLogSum},
    {.name = "ReduceLogSumExp",
     .compute = ReduceLogSumExp,
     .summary = "log of the sum of exp(x)",
     .traits = kReducesAxes,
     .gradient = GradientOfReduceLogSumExp},
    {.name = "ReduceMax",
     .compute = ReduceExtreme<true>,
     .summary = "maximum along axes",
     .traits = kReducesAxes,
     .gradient = GradientOfReduceExtreme},
    {.name = "ReduceMean",
     .compute = ReduceMean,
     .summary = "mean along axes",
     .traits = kReducesAxes,
     .gradient = GradientOfReduceMean},
    {.name = "ReduceMin",
     .compute = ReduceExtreme<false>,
     .summary = "minimum along axes",
     .traits = kReducesAxes,
     .gradient = GradientOfReduceExtreme},
    {.name = "ReduceProd",
     .compute = ReduceProd,
     .summary = "product along axes",
     .traits = kReducesAxes},
    {.name = "ReduceSum",
     .compute = ReduceSumOf<Same, Same>,
     .summary = "sum along axes",
     .traits = kReducesAxes,
     .gradient = GradientOfReduceSum},
    {.name = "ReduceSumSquare",
     .compute = ReduceSumOf<Square, Same>,
     .summary = "sum of x * x",
     .traits = kReducesAxes,
     .gradient = GradientOfReduceSumSquare},
};

}  // namespace

std::span<const OpDef> ReduceOps() { return kOps; }

}  // namespace aotc
