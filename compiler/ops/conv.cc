// Convolution of any rank.
#include "compiler/ops/contraction.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/ops/window.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

absl::StatusOr<std::vector<int64_t>> KernelDims(const OpContext& op, const Tensor& weight) {
  std::optional<std::vector<int64_t>> dims = StaticDims(weight.shape());
  if (!dims) return absl::UnimplementedError("needs a weight of static shape");
  std::vector<int64_t> kernel(dims->begin() + 2, dims->end());
  std::vector<int64_t> stated = op.attributes().Ints("kernel_shape");
  if (!stated.empty() && stated != kernel) {
    return absl::InvalidArgumentError(
        "attribute kernel_shape differs from the shape of the weight");
  }
  return kernel;
}

// x: [N, groups * C, spatial...], weight: [M, C, kernel...]
absl::Status CheckChannels(const OpContext& op, const Tensor& x, const Tensor& weight,
                           int64_t groups) {
  int64_t outputs = *weight.dim(0).AsInt(), inputs = *weight.dim(1).AsInt();
  if (groups < 1 || outputs % groups != 0) {
    return absl::InvalidArgumentError(
        StrCat(outputs, " output channels do not divide into ", groups, " groups"));
  }
  if (!ProveEqual(x.dim(1), inputs * groups, op.bounds())) {
    return absl::InvalidArgumentError(
        StrCat("the input must have ", inputs * groups, " channels (", inputs, " in each of ",
               groups, " groups)", x.dim(1).AsInt() ? StrCat(", not ", *x.dim(1).AsInt()) : ""));
  }
  return absl::OkStatus();
}

// The sums over input channels of the group and taps: axes [n, m, spatial...], reduce axes [c,
// taps...]. The group of output channel m is floor_div(m, M / groups), so that the input channel is
// affine in m for one group and for a group per channel.
Tensor ConvolutionSums(TensorBuilder& b, const Tensor& x, const Tensor& weight,
                       const Window& window, int64_t groups) {
  int64_t group_outputs = *weight.dim(0).AsInt() / groups, group_inputs = *weight.dim(1).AsInt();
  Contraction sums = {.accumulator = AccumulatorOf(x.dtype()),
                      .shape = {x.dim(0), weight.dim(0)},
                      .reduce_shape = Shape(weight.shape().begin() + 1, weight.shape().end())};
  sums.shape.insert(sums.shape.end(), window.out.begin(), window.out.end());
  sums.left = [&](const Indices& i, const Indices& r) {
    Indices windows(i.begin() + 2, i.end()), taps(r.begin() + 1, r.end());
    Expr group = groups == 1 ? Expr(0) : FloorDiv(i[1], group_outputs);
    Indices indices = {i[0], group * group_inputs + r[0]};
    for (const Expr& position : window.Positions(windows, taps)) indices.push_back(position);
    Expr value = Cast(sums.accumulator, x(indices));
    return Select(window.Inside(windows, taps), value, Number(0, value));
  };
  sums.right = [&](const Indices& i, const Indices& r) {
    Indices indices = {i[1]};
    indices.insert(indices.end(), r.begin(), r.end());
    return weight(indices);
  };
  return Contract(b, sums);
}

absl::Status Conv(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(Tensor weight, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  AOTC_RETURN_IF_ERROR(RequireSameType({x, weight}));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 3));
  AOTC_RETURN_IF_ERROR(RequireRank(weight, x.rank(), x.rank()));
  AOTC_ASSIGN_OR_RETURN(std::vector<int64_t> kernel, KernelDims(op, weight));
  int64_t groups = op.attributes().Int("group", 1);
  AOTC_RETURN_IF_ERROR(CheckChannels(op, x, weight, groups));
  Shape spatial(x.shape().begin() + 2, x.shape().end());
  AOTC_ASSIGN_OR_RETURN(Window window, MakeWindow(op, spatial, kernel));
  Tensor sums = ConvolutionSums(op.b(), x, weight, window, groups);
  if (!op.HasInput(2)) {
    op.SetOutput(0, op.b().Convert(sums, x.dtype()));
    return absl::OkStatus();
  }
  AOTC_ASSIGN_OR_RETURN(Tensor bias, op.Input(2));
  AOTC_RETURN_IF_ERROR(RequireSameType({x, bias}));
  if (bias.rank() != 1 || !ProveEqual(bias.dim(0), weight.dim(0), op.bounds())) {
    return absl::InvalidArgumentError("the bias must have one element per output channel");
  }
  auto add_bias = [&](const Indices& i) { return sums(i) + bias({i[1]}); };
  op.SetOutput(0, op.b().Compute(x.dtype(), sums.shape(), add_bias));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "Conv", .compute = Conv, .summary = "convolution of any rank, with groups"},
};

}  // namespace

std::span<const OpDef> ConvOps() { return kOps; }

}  // namespace aotc
