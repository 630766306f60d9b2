// Normalisations by statistics of the input itself: (x - mean) / deviation over groups of elements,
// then scale and bias. Statistics are computed in f32 (f64 for f64).
#include <algorithm>
#include <numeric>

#include "compiler/ops/gradient_rules.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

std::vector<int> AxesFrom(int first, int rank) {
  std::vector<int> axes(static_cast<size_t>(rank - first));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

// The number of elements along `axes`.
Expr CountAlong(const Tensor& x, const std::vector<int>& axes) {
  Shape dims;
  for (int axis : axes) dims.push_back(x.dim(axis));
  return ElementCount(dims);
}

Tensor MeanAlong(TensorBuilder& b, const Tensor& x, const std::vector<int>& axes) {
  Tensor total = b.ReduceAxes("sum", x, axes, /*keep_dims=*/true);
  Expr count = CountAlong(x, axes);
  return b.Map({total}, [&](const auto& v) { return Div(v[0], Cast(v[0].dtype(), count)); });
}

struct Moments {
  Tensor mean;
  Tensor variance;  // of all elements: divided by their number
};

Moments MomentsAlong(TensorBuilder& b, const Tensor& x, const std::vector<int>& axes) {
  Moments moments;
  moments.mean = MeanAlong(b, x, axes);
  auto square = [](const auto& v) { return (v[0] - v[1]) * (v[0] - v[1]); };
  Tensor squares = b.Map({x, moments.mean}, square, ComputeType(x.dtype()));
  moments.variance = MeanAlong(b, squares, axes);
  return moments;
}

// 1 / sqrt(x + epsilon)
Tensor InverseRoot(OpContext& op, const Tensor& x) {
  double epsilon = op.attributes().Float("epsilon", 1e-5F);
  return op.b().Map(
      {x}, [&](const auto& v) { return Div(Number(1, v[0]), Sqrt(v[0] + Number(epsilon, v[0]))); });
}

// Scale or bias of LayerNormalization: broadcast to x, which keeps its shape.
absl::StatusOr<Tensor> BroadcastOperand(OpContext& op, size_t index, const Tensor& x) {
  AOTC_ASSIGN_OR_RETURN(Tensor operand, op.Input(index));
  AOTC_RETURN_IF_ERROR(RequireFloat(operand));
  AOTC_ASSIGN_OR_RETURN(Shape common, op.b().Broadcast({x.shape(), operand.shape()}));
  if (SameShape(common, x.shape())) return operand;
  return AOTC_REFUSAL(InvalidArgument,
                      StrCat("input ", index, " does not broadcast to the shape of the input"));
}

absl::Status LayerNormalization(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  AOTC_ASSIGN_OR_RETURN(int axis, op.Axis("axis", -1, x.rank()));
  std::vector<Tensor> operands = {x};
  AOTC_ASSIGN_OR_RETURN(Tensor scale, BroadcastOperand(op, 1, x));
  TensorBuilder& b = op.b();
  Moments moments = MomentsAlong(b, x, AxesFrom(axis, x.rank()));
  Tensor inverse = InverseRoot(op, moments.variance);
  operands = {x, moments.mean, inverse, scale};
  if (op.HasInput(2)) {
    AOTC_ASSIGN_OR_RETURN(Tensor bias, BroadcastOperand(op, 2, x));
    operands.push_back(bias);
  }
  auto body = [](const auto& v) {
    Expr scaled = (v[0] - v[1]) * v[2] * Cast(v[0].dtype(), v[3]);
    return v.size() > 4 ? scaled + Cast(v[0].dtype(), v[4]) : scaled;
  };
  op.SetOutput(0, b.Map(operands, body, x.dtype()));
  // Statistics have the type that stash_type names: f32 wherever it is not bf16.
  bool bf16 = op.attributes().Int("stash_type", 1) == static_cast<int>(DType::kBF16);
  DType stash = bf16 ? DType::kBF16 : DType::kF32;
  if (op.WantsOutput(1)) op.SetOutput(1, b.Convert(moments.mean, stash));
  if (op.WantsOutput(2)) op.SetOutput(2, b.Convert(inverse, stash));
  return absl::OkStatus();
}

// x / sqrt(mean(x * x) + epsilon) * scale, of the type of the scale
absl::Status RmsNormalization(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  AOTC_ASSIGN_OR_RETURN(int axis, op.Axis("axis", -1, x.rank()));
  AOTC_ASSIGN_OR_RETURN(Tensor scale, BroadcastOperand(op, 1, x));
  TensorBuilder& b = op.b();
  auto square = [](const auto& v) { return v[0] * v[0]; };
  Tensor squares = b.Map({x}, square, ComputeType(x.dtype()));
  Tensor inverse = InverseRoot(op, MeanAlong(b, squares, AxesFrom(axis, x.rank())));
  auto body = [](const auto& v) { return v[0] * v[1] * Cast(v[0].dtype(), v[2]); };
  op.SetOutput(0, b.Map({x, inverse, scale}, body, scale.dtype()));
  return absl::OkStatus();
}

// Scale and bias, inputs 1 and 2, of one element per channel.
absl::StatusOr<std::vector<Tensor>> ChannelOperands(OpContext& op, const Tensor& x) {
  std::vector<Tensor> operands;
  for (size_t i = 1; i < 3; ++i) {
    AOTC_ASSIGN_OR_RETURN(Tensor operand, op.Input(i));
    AOTC_RETURN_IF_ERROR(RequireFloat(operand));
    AOTC_RETURN_IF_ERROR(RequireRank(operand, 1, 1));
    AOTC_RETURN_IF_ERROR(
        op.RequireEqual(operand.dim(0), x.dim(1), "scale and bias need one element per channel"));
    operands.push_back(operand);
  }
  return operands;
}

// [N, C, spatial...] with statistics of each sample and channel.
absl::Status InstanceNormalization(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 3));
  AOTC_ASSIGN_OR_RETURN(std::vector<Tensor> channel, ChannelOperands(op, x));
  TensorBuilder& b = op.b();
  Moments moments = MomentsAlong(b, x, AxesFrom(2, x.rank()));
  Tensor inverse = InverseRoot(op, moments.variance);
  auto body = [&](const Indices& i) {
    Expr value = x(i);
    Indices group = BroadcastIndices(inverse.shape(), i);
    return (value - moments.mean(group)) * inverse(group) *
               Cast(value.dtype(), channel[0]({i[1]})) +
           Cast(value.dtype(), channel[1]({i[1]}));
  };
  op.SetOutput(0, b.Compute(x.dtype(), x.shape(), body));
  return absl::OkStatus();
}

// The mean over the channels of each group and all spatial axes of lift(element, [n, group]).
Tensor GroupMean(TensorBuilder& b, const Tensor& x, int64_t groups, int64_t channels,
                 const std::function<Expr(const Expr&, const Indices&)>& lift) {
  Shape reduced = {Expr(channels)};
  reduced.insert(reduced.end(), x.shape().begin() + 2, x.shape().end());
  auto body = [&](const Indices& i, const Indices& r) {
    Indices indices = {i[0], i[1] * channels + r[0]};
    indices.insert(indices.end(), r.begin() + 1, r.end());
    return lift(x(indices), i);
  };
  DType compute = ComputeType(x.dtype());
  Tensor total = b.Reduce("sum", compute, {x.dim(0), Expr(groups)}, reduced, body);
  Expr count = Cast(compute, ElementCount(reduced));
  return b.Map({total}, [&](const auto& v) { return Div(v[0], count); });
}

// [N, groups * channels, spatial...] with statistics of each sample and group.
absl::Status GroupNormalization(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 2));
  AOTC_ASSIGN_OR_RETURN(std::vector<Tensor> channel, ChannelOperands(op, x));
  int64_t groups = op.attributes().Int("num_groups");
  std::optional<int64_t> all = x.dim(1).AsInt();
  if (!all) return AOTC_REFUSAL(Unimplemented, "needs a known number of channels");
  if (groups < 1 || *all % groups != 0) {
    return AOTC_REFUSAL(InvalidArgument,
                        StrCat(*all, " channels do not divide into ", groups, " groups"));
  }
  int64_t channels = *all / groups;
  TensorBuilder& b = op.b();
  Tensor mean = GroupMean(b, x, groups, channels, [](const Expr& v, const Indices&) { return v; });
  auto square = [&](const Expr& v, const Indices& i) { return (v - mean(i)) * (v - mean(i)); };
  Tensor inverse = InverseRoot(op, GroupMean(b, x, groups, channels, square));
  auto body = [&](const Indices& i) {
    Expr value = x(i);
    Indices group = {i[0], FloorDiv(i[1], channels)};
    return (value - mean(group)) * inverse(group) * Cast(value.dtype(), channel[0]({i[1]})) +
           Cast(value.dtype(), channel[1]({i[1]}));
  };
  op.SetOutput(0, b.Compute(x.dtype(), x.shape(), body));
  return absl::OkStatus();
}

// (x - mean) / (sqrt(variance) + 1e-9) along `axes`, as ONNX's function body has it.
absl::Status MeanVarianceNormalization(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  std::vector<int64_t> given = {0, 2, 3};
  if (op.attributes().Has("axes")) given = op.attributes().Ints("axes");
  std::vector<int> axes;
  for (int64_t axis : given) {
    AOTC_ASSIGN_OR_RETURN(int normalized, op.NormalizeAxis(axis, x.rank()));
    axes.push_back(normalized);
  }
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
    return AOTC_REFUSAL(InvalidArgument, "an axis is named twice");
  }
  Moments moments = MomentsAlong(op.b(), x, axes);
  auto body = [](const auto& v) { return Div(v[0] - v[1], Sqrt(v[2]) + Number(1e-9, v[2])); };
  op.SetOutput(0, op.b().Map({x, moments.mean, moments.variance}, body, x.dtype()));
  return absl::OkStatus();
}

// x / |x|_p along an axis; 0 where the norm is 0.
absl::Status LpNormalization(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  AOTC_ASSIGN_OR_RETURN(int axis, op.Axis("axis", -1, x.rank()));
  int64_t p = op.attributes().Int("p", 2);
  if (p != 1 && p != 2) return AOTC_REFUSAL(InvalidArgument, "attribute p must be 1 or 2");
  auto lift = [&](const Expr& v) { return p == 1 ? Unary(ExprOp::kAbs, v) : v * v; };
  Tensor total = op.b().ReduceAxes("sum", x, {axis}, /*keep_dims=*/true, lift);
  auto body = [&](const auto& v) {
    Expr norm = p == 1 ? v[1] : Sqrt(v[1]);
    return Select(Eq(norm, Number(0, norm)), Number(0, norm), Div(v[0], norm));
  };
  op.SetOutput(0, op.b().Map({x, total}, body, x.dtype()));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "GroupNormalization",
     .compute = GroupNormalization,
     .summary = "by mean and variance of groups of channels"},
    {.name = "InstanceNormalization",
     .compute = InstanceNormalization,
     .summary = "by mean and variance of each channel"},
    {.name = "LayerNormalization",
     .compute = LayerNormalization,
     .summary = "by mean and variance of the last axes",
     .gradient = GradientOfLayerNormalization},
    {.name = "LpNormalization", .compute = LpNormalization, .summary = "by the p-norm of an axis"},
    {.name = "MeanVarianceNormalization",
     .compute = MeanVarianceNormalization,
     .summary = "by mean and variance along axes"},
    {.name = "RMSNormalization",
     .compute = RmsNormalization,
     .summary = "by the root of the mean square of the last axes"},
};

}  // namespace

std::span<const OpDef> StatisticsNormOps() { return kOps; }

}  // namespace aotc
