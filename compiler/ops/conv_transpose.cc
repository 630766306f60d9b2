// Transposed convolution of any rank.
//
// Stated as a gather: element o of the result sums over the taps k for which some input element i
// has i * stride + k * dilation - pad = o. Behind type inference the pass split-phases writes it as
// a convolution without holes (canonicalize/split_phases.h).
#include "compiler/ops/contraction.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/ops/transposed_window.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// x: [N, C, spatial...], weight: [C, M / groups, kernel...]
absl::Status CheckChannels(OpContext& op, const Tensor& x, const Tensor& weight, int64_t groups) {
  int64_t inputs = *weight.dim(0).AsInt();
  if (groups < 1 || inputs % groups != 0) {
    return AOTC_REFUSAL(InvalidArgument,
                        StrCat(inputs, " input channels do not divide into ", groups, " groups"));
  }
  return op.RequireEqual(x.dim(1), inputs,
                         StrCat("the input must have ", inputs, " channels, as the weight has"));
}

Tensor TransposedSums(TensorBuilder& b, const Tensor& x, const Tensor& weight,
                      const TransposedWindow& window, int64_t groups) {
  int64_t group_inputs = *weight.dim(0).AsInt() / groups;
  int64_t group_outputs = *weight.dim(1).AsInt();
  Contraction sums = {.accumulator = ComputeType(x.dtype()),
                      .shape = {x.dim(0), Expr(group_outputs * groups)},
                      .reduce_shape = {Expr(group_inputs)}};
  sums.shape.insert(sums.shape.end(), window.out.begin(), window.out.end());
  sums.reduce_shape.insert(sums.reduce_shape.end(), weight.shape().begin() + 2,
                           weight.shape().end());
  auto channel = [=](const Indices& i, const Indices& r) {
    Expr group = groups == 1 ? Expr(0) : FloorDiv(i[1], group_outputs);
    return group * group_inputs + r[0];
  };
  sums.left = [&, channel](const Indices& i, const Indices& r) {
    Indices places(i.begin() + 2, i.end()), taps(r.begin() + 1, r.end());
    Indices indices = {i[0], channel(i, r)};
    for (const Expr& position : window.Positions(places, taps)) indices.push_back(position);
    Expr value = x(indices);
    return Select(window.Reached(places, taps), value, Number(0, value));
  };
  sums.right = [&, channel](const Indices& i, const Indices& r) {
    Indices indices = {channel(i, r), groups == 1 ? i[1] : Mod(i[1], group_outputs)};
    indices.insert(indices.end(), r.begin() + 1, r.end());
    return weight(indices);
  };
  return SumOfProducts(b, sums);
}

absl::Status ConvTranspose(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(Tensor weight, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  AOTC_RETURN_IF_ERROR(RequireSameType({x, weight}));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 3));
  AOTC_RETURN_IF_ERROR(RequireRank(weight, x.rank(), x.rank()));
  if (!StaticDims(weight.shape())) {
    return AOTC_REFUSAL(Unimplemented, "needs a weight of static shape");
  }
  int64_t groups = op.attributes().Int("group", 1);
  AOTC_RETURN_IF_ERROR(CheckChannels(op, x, weight, groups));
  AOTC_ASSIGN_OR_RETURN(
      TransposedWindow window,
      MakeTransposedWindow(op.node(), x.shape(), *StaticDims(weight.shape()), op.bounds()));
  Tensor sums = TransposedSums(op.b(), x, weight, window, groups);
  if (!op.HasInput(2)) {
    op.SetOutput(0, op.b().Convert(sums, x.dtype()));
    return absl::OkStatus();
  }
  AOTC_ASSIGN_OR_RETURN(Tensor bias, op.Input(2));
  AOTC_RETURN_IF_ERROR(RequireSameType({x, bias}));
  constexpr const char* kWrong = "the bias must have one element per output channel";
  if (bias.rank() != 1) return AOTC_REFUSAL(InvalidArgument, kWrong);
  AOTC_RETURN_IF_ERROR(op.RequireEqual(bias.dim(0), sums.dim(1), kWrong));
  auto add_bias = [&](const Indices& i) { return sums(i) + bias({i[1]}); };
  op.SetOutput(0, op.b().Compute(x.dtype(), sums.shape(), add_bias));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "ConvTranspose",
     .compute = ConvTranspose,
     .summary = "transposed convolution of any rank, with groups",
     .first_weight = 1},
};

}  // namespace

std::span<const OpDef> ConvTransposeOps() { return kOps; }

}  // namespace aotc
