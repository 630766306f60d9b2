// Normalisations over channels.
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

// (x - mean) * (scale / sqrt(variance + epsilon)) + bias, per channel (axis 1), in the widest of
// the types.
absl::Status BatchNormalization(OpContext& op) {
  if (op.attributes().Int("training_mode") != 0) {
    return absl::UnimplementedError("training_mode is not supported");
  }
  std::vector<Tensor> operands;
  bool wide = false;
  for (size_t i = 0; i < 5; ++i) {
    AOTC_ASSIGN_OR_RETURN(Tensor operand, op.Input(i));
    AOTC_RETURN_IF_ERROR(RequireFloat(operand));
    wide |= operand.dtype() == DType::kF64;
    operands.push_back(operand);
  }
  const Tensor& x = operands[0];
  AOTC_RETURN_IF_ERROR(RequireRank(x, 1));
  for (size_t i = 1; i < 5; ++i) {
    AOTC_RETURN_IF_ERROR(RequireRank(operands[i], 1, 1));
    // A batch of rank 1 has one channel.
    Expr channels = x.rank() == 1 ? Expr(1) : x.dim(1);
    if (!ProveEqual(operands[i].dim(0), channels, op.bounds())) {
      return absl::InvalidArgumentError(
          "scale, bias, mean and variance need one element per channel");
    }
  }
  DType compute = wide ? DType::kF64 : DType::kF32;
  Expr epsilon = NumberConst(op.attributes().Float("epsilon", 1e-5F), compute);
  auto body = [&](const Indices& i) {
    Expr c = x.rank() == 1 ? Expr(0) : i[1];
    auto channel = [&](size_t k) { return Cast(compute, operands[k]({c})); };
    Expr factor = Div(channel(1), Sqrt(channel(4) + epsilon));
    return (Cast(compute, x(i)) - channel(3)) * factor + channel(2);
  };
  op.SetOutput(0, op.b().Compute(x.dtype(), x.shape(), body));
  return absl::OkStatus();
}

// x / (bias + alpha / size * (sum of squares over `size` channels around))^beta
absl::Status Lrn(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 2));
  int64_t size = op.attributes().Int("size");
  if (size < 1) return absl::InvalidArgumentError("attribute size must be at least 1");
  DType compute = ComputeType(x.dtype());
  auto squares = [&](const Indices& i, const Indices& r) {
    Indices indices = i;
    indices[1] = i[1] + r[0] - (size - 1) / 2;
    Expr value = x(indices);
    return Select(InBounds(indices[1], x.dim(1)), value * value, Number(0, value));
  };
  Tensor total = op.b().Reduce("sum", compute, x.shape(), {Expr(size)}, squares);
  double alpha = op.attributes().Float("alpha", 0.0001F) / static_cast<double>(size);
  double beta = op.attributes().Float("beta", 0.75F), bias = op.attributes().Float("bias", 1);
  op.SetOutput(0, op.b().Map(
                      {x, total},
                      [&](const auto& v) {
                        Expr base = Number(bias, v[1]) + Number(alpha, v[1]) * v[1];
                        return Div(v[0], Binary(ExprOp::kPow, base, Number(beta, base)));
                      },
                      x.dtype()));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "BatchNormalization",
     .compute = BatchNormalization,
     .summary = "by given statistics",
     .first_weight = 1},
    {.name = "LRN", .compute = Lrn, .summary = "by the squares of neighbouring channels"},
};

}  // namespace

std::span<const OpDef> NormalizationOps() { return kOps; }

}  // namespace aotc
