// Convolution of any rank.
#include "compiler/ops/convolution.h"
#include "compiler/ops/gradient_rules.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

absl::Status Conv(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(Tensor weight, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  AOTC_RETURN_IF_ERROR(RequireSameType({x, weight}));
  AOTC_ASSIGN_OR_RETURN(const Convolution conv, ConvolutionOf(op, x, weight));
  Tensor sums = ConvolutionSums(op.b(), conv, {});
  if (!op.HasInput(2)) {
    op.SetOutput(0, op.b().Convert(sums, x.dtype()));
    return absl::OkStatus();
  }
  AOTC_ASSIGN_OR_RETURN(Tensor bias, op.Input(2));
  AOTC_RETURN_IF_ERROR(RequireSameType({x, bias}));
  constexpr const char* kWrong = "the bias must have one element per output channel";
  if (bias.rank() != 1) return AOTC_REFUSAL(InvalidArgument, kWrong);
  AOTC_RETURN_IF_ERROR(op.RequireEqual(bias.dim(0), weight.dim(0), kWrong));
  auto add_bias = [&](const Indices& i) { return sums(i) + bias({i[1]}); };
  op.SetOutput(0, op.b().Compute(x.dtype(), sums.shape(), add_bias));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "Conv",
     .compute = Conv,
     .summary = "convolution of any rank, with groups",
     .traits = kContraction | kConvolves,
     .first_weight = 1,
     .gradient = GradientOfConv},
};

}  // namespace

std::span<const OpDef> ConvOps() { return kOps; }

}  // namespace aotc
