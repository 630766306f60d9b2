// Softmax, LogSoftmax and Hardmax along one axis.
#include "compiler/ops/gradient_rules.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

absl::Status Softmax(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  AOTC_ASSIGN_OR_RETURN(int axis, op.Axis("axis", -1, x.rank()));
  TensorBuilder& b = op.b();
  DType compute = ComputeType(x.dtype());
  Tensor top = b.ReduceAxes("max", x, {axis}, /*keep_dims=*/true);
  Tensor power = b.Map({x, top}, [](const auto& v) { return Exp(v[0] - v[1]); }, compute);
  Tensor total = b.ReduceAxes("sum", power, {axis}, /*keep_dims=*/true);
  op.SetOutput(0, b.Map({power, total}, [](const auto& v) { return Div(v[0], v[1]); }, x.dtype()));
  return absl::OkStatus();
}

// (x - top) - log(sum(exp(x - top)))
absl::Status LogSoftmax(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  AOTC_ASSIGN_OR_RETURN(int axis, op.Axis("axis", -1, x.rank()));
  TensorBuilder& b = op.b();
  DType compute = ComputeType(x.dtype());
  Tensor top = b.ReduceAxes("max", x, {axis}, /*keep_dims=*/true);
  Tensor power = b.Map({x, top}, [](const auto& v) { return Exp(v[0] - v[1]); }, compute);
  Tensor total = b.ReduceAxes("sum", power, {axis}, /*keep_dims=*/true);
  auto body = [](const auto& v) { return (v[0] - v[1]) - Unary(ExprOp::kLog, v[2]); };
  op.SetOutput(0, b.Map({x, top, total}, body, x.dtype()));
  return absl::OkStatus();
}

// 1 at the first maximum, 0 elsewhere.
absl::Status Hardmax(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  AOTC_ASSIGN_OR_RETURN(const int axis, op.Axis("axis", -1, x.rank()));
  const auto along = static_cast<size_t>(axis);
  Shape shape = x.shape();
  shape[along] = 1;
  auto body = [&](const Indices& i, const Indices& r) {
    Indices indices = i;
    indices[along] = r[0];
    return std::vector<Expr>{x(indices), r[0]};
  };
  Combiner combiner = ArgCombiner(ComputeType(x.dtype()), /*maximum=*/true, /*prefer_last=*/false);
  Tensor place = op.b().ReduceTuple(combiner, shape, {x.dim(axis)}, body)[1];
  op.SetOutput(0, op.b().Compute(x.dtype(), x.shape(), [&](const Indices& i) {
    Expr one = NumberConst(1, ComputeType(x.dtype()));
    return Select(Eq(place(BroadcastIndices(shape, i)), i[along]), one, Number(0, one));
  }));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "Hardmax",
     .compute = Hardmax,
     .summary = "1 at the maximum of an axis, else 0",
     .traits = kNoDerivative | kAlongAxis},
    {.name = "LogSoftmax",
     .compute = LogSoftmax,
     .summary = "logarithm of the softmax",
     .traits = kAlongAxis,
     .gradient = GradientOfLogSoftmax},
    {.name = "Softmax",
     .compute = Softmax,
     .summary = "exp(x) / sum(exp(x)) along an axis",
     .traits = kAlongAxis,
     .gradient = GradientOfSoftmax},
};

}  // namespace

std::span<const OpDef> SoftmaxOps() { return kOps; }

}  // namespace aotc
