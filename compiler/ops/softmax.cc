// Softmax and LogSoftmax along one axis.
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

constexpr OpDef kOps[] = {
    {.name = "LogSoftmax", .compute = LogSoftmax, .summary = "logarithm of the softmax"},
    {.name = "Softmax", .compute = Softmax, .summary = "exp(x) / sum(exp(x)) along an axis"},
};

}  // namespace

std::span<const OpDef> SoftmaxOps() { return kOps; }

}  // namespace aotc
