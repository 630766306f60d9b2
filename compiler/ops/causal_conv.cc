// CausalConvWithState: a convolution of each channel over this step and the k - 1 before it, of
// which the first come from the call before (ONNX CausalConvWithState-27).
#include "compiler/ops/contraction.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

struct CausalConv {
  Tensor x;            // [B, C, L]
  Tensor weight;       // [C, 1, k]
  Tensor bias;         // [C]
  Tensor past;         // [B, C, k - 1]; zeros where absent
  int64_t before = 0;  // k - 1
  bool silu = false;

  // The element at a step of the input behind its past, in the storage type.
  Expr At(const Expr& sample, const Expr& channel, const Expr& step) const {
    Expr given = x.Stored({sample, channel, step - before});
    if (before == 0) return given;
    const Expr early =
        past.valid() ? past.Stored({sample, channel, step}) : NumberConst(0, x.dtype());
    return Select(Lt(step, before), early, given);
  }
};

absl::Status CheckDims(OpContext& op, CausalConv& conv) {
  AOTC_RETURN_IF_ERROR(RequireFloat(conv.x));
  AOTC_RETURN_IF_ERROR(RequireRank(conv.x, 3, 3));
  AOTC_RETURN_IF_ERROR(RequireRank(conv.weight, 3, 3));
  const std::optional<int64_t> taps = conv.weight.dim(2).AsInt();
  if (!taps) return AOTC_REFUSAL(Unimplemented, "needs a weight of known length");
  if (*taps < 1 || !conv.weight.dim(1).IsInt(1)) {
    return AOTC_REFUSAL(InvalidArgument, "needs a weight of [channels, 1, k]");
  }
  conv.before = *taps - 1;
  const Expr samples = conv.x.dim(0), channels = conv.x.dim(1);
  const std::string each = "needs one kernel and one bias per channel";
  AOTC_RETURN_IF_ERROR(op.RequireEqual(conv.weight.dim(0), channels, each));
  if (conv.bias.valid()) {
    AOTC_RETURN_IF_ERROR(RequireRank(conv.bias, 1, 1));
    AOTC_RETURN_IF_ERROR(op.RequireEqual(conv.bias.dim(0), channels, each));
  }
  if (!conv.past.valid()) return absl::OkStatus();
  AOTC_RETURN_IF_ERROR(RequireRank(conv.past, 3, 3));
  const std::string state = "past_state needs the dims [batch, channels, k - 1]";
  AOTC_RETURN_IF_ERROR(op.RequireEqual(conv.past.dim(0), samples, state));
  AOTC_RETURN_IF_ERROR(op.RequireEqual(conv.past.dim(1), channels, state));
  return op.RequireEqual(conv.past.dim(2), conv.before, state);
}

absl::StatusOr<CausalConv> ReadConv(OpContext& op) {
  CausalConv conv;
  AOTC_ASSIGN_OR_RETURN(conv.x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(conv.weight, op.Input(1));
  std::vector<Tensor> operands = {conv.x, conv.weight};
  if (op.HasInput(2)) {
    AOTC_ASSIGN_OR_RETURN(conv.bias, op.Input(2));
    operands.push_back(conv.bias);
  }
  if (op.HasInput(3)) {
    AOTC_ASSIGN_OR_RETURN(conv.past, op.Input(3));
    operands.push_back(conv.past);
  }
  AOTC_RETURN_IF_ERROR(RequireSameType(operands));
  AOTC_RETURN_IF_ERROR(CheckDims(op, conv));
  const std::string activation = op.attributes().String("activation", "none");
  conv.silu = activation == "silu" || activation == "swish";
  if (conv.silu || activation == "none") return conv;
  return AOTC_REFUSAL(InvalidArgument, StrCat("unknown activation '", activation, "'"));
}

// Sums and bias are rounded to the type of the input before the activation, as in the function that
// defines the op.
absl::Status CausalConvWithState(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const CausalConv conv, ReadConv(op));
  TensorBuilder& b = op.b();
  const DType type = conv.x.dtype(), compute = ComputeType(type);
  Contraction sums = {
      .accumulator = compute, .shape = conv.x.shape(), .reduce_shape = {Expr(conv.before + 1)}};
  sums.left = [&](const Indices& i, const Indices& r) {
    return Cast(compute, conv.At(i[0], i[1], i[2] + r[0]));
  };
  sums.right = [&](const Indices& i, const Indices& r) { return conv.weight({i[1], 0, r[0]}); };
  const Tensor products = SumOfProducts(b, sums);
  const Tensor y = b.Compute(type, products.shape(), [&](const Indices& i) {
    return conv.bias.valid() ? products(i) + conv.bias({i[1]}) : products(i);
  });
  auto silu = [](const auto& v) { return v[0] * Unary(ExprOp::kSigmoid, v[0]); };
  op.SetOutput(0, conv.silu ? b.Map({y}, silu, type) : y);
  const Shape state = {conv.x.dim(0), conv.x.dim(1), Expr(conv.before)};
  const Expr length = conv.x.dim(2);
  if (op.WantsOutput(1)) {
    op.SetOutput(1, b.Compute(type, state, [&](const Indices& i) {
      return conv.At(i[0], i[1], length + i[2]);
    }));
  }
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "CausalConvWithState",
     .compute = CausalConvWithState,
     .summary = "convolution of each channel over the steps so far"},
};

}  // namespace

std::span<const OpDef> CausalConvOps() { return kOps; }

}  // namespace aotc
