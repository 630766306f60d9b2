#include "compiler/ops/convolution.h"

#include "compiler/ops/contraction.h"
#include "compiler/ops/helpers.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

absl::StatusOr<std::vector<int64_t>> KernelDims(const OpContext& op, const Tensor& weight) {
  std::optional<std::vector<int64_t>> dims = StaticDims(weight.shape());
  if (!dims) return AOTC_REFUSAL(Unimplemented, "needs a weight of static shape");
  std::vector<int64_t> kernel(dims->begin() + 2, dims->end());
  std::vector<int64_t> stated = op.attributes().Ints("kernel_shape");
  if (!stated.empty() && stated != kernel) {
    return AOTC_REFUSAL(InvalidArgument,
                        "attribute kernel_shape differs from the shape of the weight");
  }
  return kernel;
}

// x: [N, groups * C, spatial...], weight: [M, C, kernel...]
absl::Status CheckChannels(OpContext& op, const Tensor& x, const Tensor& weight, int64_t groups) {
  int64_t outputs = *weight.dim(0).AsInt(), inputs = *weight.dim(1).AsInt();
  if (groups < 1 || outputs % groups != 0) {
    return AOTC_REFUSAL(InvalidArgument,
                        StrCat(outputs, " output channels do not divide into ", groups, " groups"));
  }
  return op.RequireEqual(
      x.dim(1), inputs * groups,
      StrCat("the input must have ", inputs * groups, " channels (", inputs, " in each of ", groups,
             " groups)", x.dim(1).AsInt() ? StrCat(", not ", *x.dim(1).AsInt()) : ""));
}

}  // namespace

absl::StatusOr<Convolution> ConvolutionOf(OpContext& op, const Tensor& x, const Tensor& weight) {
  Convolution conv = {.x = x, .weight = weight, .groups = op.attributes().Int("group", 1)};
  AOTC_RETURN_IF_ERROR(RequireRank(x, 3));
  AOTC_RETURN_IF_ERROR(RequireRank(weight, x.rank(), x.rank()));
  AOTC_ASSIGN_OR_RETURN(const std::vector<int64_t> kernel, KernelDims(op, weight));
  AOTC_RETURN_IF_ERROR(CheckChannels(op, x, weight, conv.groups));
  const Shape spatial(x.shape().begin() + 2, x.shape().end());
  AOTC_ASSIGN_OR_RETURN(conv.window, MakeWindow(op, spatial, kernel));
  return conv;
}

Tensor ConvolutionSums(TensorBuilder& b, const Convolution& conv, const ConvolutionLifts& lifts) {
  const Tensor &x = conv.x, &weight = conv.weight;
  const Window& window = conv.window;
  const int64_t group_outputs = *weight.dim(0).AsInt() / conv.groups;
  const int64_t group_inputs = *weight.dim(1).AsInt();
  Contraction sums = {.accumulator = AccumulatorOf(x.dtype()),
                      .shape = {x.dim(0), weight.dim(0)},
                      .reduce_shape = Shape(weight.shape().begin() + 1, weight.shape().end())};
  sums.shape.insert(sums.shape.end(), window.out.begin(), window.out.end());
  sums.left = [&](const Indices& i, const Indices& r) {
    const Indices windows(i.begin() + 2, i.end()), taps(r.begin() + 1, r.end());
    const Expr group = conv.groups == 1 ? Expr(0) : FloorDiv(i[1], group_outputs);
    Indices indices = {i[0], group * group_inputs + r[0]};
    for (const Expr& position : window.Positions(windows, taps)) indices.push_back(position);
    Expr value = Cast(sums.accumulator, x(indices));
    if (lifts.x) value = lifts.x(value);
    const auto padding = static_cast<double>(lifts.padding.value_or(0));
    return Select(window.Inside(windows, taps), value, Number(padding, value));
  };
  sums.right = [&](const Indices& i, const Indices& r) {
    Indices indices = {i[1]};
    indices.insert(indices.end(), r.begin(), r.end());
    const Expr value = weight(indices);
    return lifts.weight ? lifts.weight(Cast(sums.accumulator, value), i[1]) : value;
  };
  return SumOfProducts(b, sums);
}

}  // namespace aotc
