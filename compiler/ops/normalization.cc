// Normalisations over channels.
#include "compiler/ops/gradient_rules.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

struct BatchNorm {
  std::vector<Tensor> operands = {};  // x, scale, bias, mean, variance
  DType compute = DType::kF32;        // the widest of their types

  const Tensor& x() const { return operands[0]; }
  // A batch of rank 1 has one channel.
  Expr Channels() const { return x().rank() == 1 ? Expr(1) : x().dim(1); }
  Expr ChannelOf(const Indices& i) const { return x().rank() == 1 ? Expr(0) : i[1]; }
  Expr At(size_t operand, const Expr& channel) const {
    return Cast(compute, operands[operand]({channel}));
  }
};

absl::StatusOr<BatchNorm> ReadBatchNorm(OpContext& op) {
  BatchNorm norm;
  for (size_t i = 0; i < 5; ++i) {
    AOTC_ASSIGN_OR_RETURN(Tensor operand, op.Input(i));
    AOTC_RETURN_IF_ERROR(RequireFloat(operand));
    if (operand.dtype() == DType::kF64) norm.compute = DType::kF64;
    norm.operands.push_back(operand);
  }
  AOTC_RETURN_IF_ERROR(RequireRank(norm.x(), 1));
  for (size_t i = 1; i < 5; ++i) {
    AOTC_RETURN_IF_ERROR(RequireRank(norm.operands[i], 1, 1));
    AOTC_RETURN_IF_ERROR(
        op.RequireEqual(norm.operands[i].dim(0), norm.Channels(),
                        "scale, bias, mean and variance need one element per channel"));
  }
  return norm;
}

// [C]: the mean over all other axes of lift(element, channel).
Tensor ChannelMean(TensorBuilder& b, const BatchNorm& norm,
                   const std::function<Expr(const Expr&, const Expr&)>& lift) {
  Shape others = norm.x().shape();
  if (others.size() > 1) others.erase(others.begin() + 1);
  const Expr count = ElementCount(others);
  const bool one_axis = norm.x().rank() == 1;
  const Tensor sums = b.Reduce("sum", norm.compute, {norm.Channels()}, others,
                               [&](const Indices& i, const Indices& r) {
                                 Indices at = r;
                                 if (!one_axis) at.insert(at.begin() + 1, i[0]);
                                 return lift(Cast(norm.compute, norm.x()(at)), i[0]);
                               });
  return b.Map({sums}, [&](const auto& v) { return Div(v[0], Cast(norm.compute, count)); });
}

// The statistics of a batch in training, and what they make of the running ones.
void TrainBatchNorm(OpContext& op, const BatchNorm& norm, std::vector<Tensor>& statistics) {
  TensorBuilder& b = op.b();
  const Tensor mean = ChannelMean(b, norm, [](const Expr& x, const Expr&) { return x; });
  const Tensor variance = ChannelMean(
      b, norm, [&](const Expr& x, const Expr& c) { return (x - mean({c})) * (x - mean({c})); });
  statistics = {mean, variance};
  const double momentum = op.attributes().Float("momentum", 0.9F);
  for (size_t k = 0; k < 2; ++k) {
    if (!op.WantsOutput(k + 1)) continue;
    const DType type = norm.operands[k + 3].dtype();
    const Shape shape = {norm.Channels()};
    op.SetOutput(k + 1, b.Compute(type, shape, [&](const Indices& i) {
      const Expr before = norm.At(k + 3, i[0]), now = statistics[k](i);
      return before * Number(momentum, now) + now * Number(1 - momentum, now);
    }));
  }
}

// (x - mean) * (scale / sqrt(variance + epsilon)) + bias, per channel (axis 1). In training mean
// and variance are those of the batch.
absl::Status BatchNormalization(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const BatchNorm norm, ReadBatchNorm(op));
  std::vector<Tensor> statistics;
  if (op.attributes().Int("training_mode") != 0) TrainBatchNorm(op, norm, statistics);
  const Expr epsilon = NumberConst(op.attributes().Float("epsilon", 1e-5F), norm.compute);
  const Shape shape = norm.x().shape();
  op.SetOutput(0, op.b().Compute(norm.x().dtype(), shape, [&](const Indices& i) {
    const Expr c = norm.ChannelOf(i);
    const Expr mean = statistics.empty() ? norm.At(3, c) : statistics[0]({c});
    const Expr variance = statistics.empty() ? norm.At(4, c) : statistics[1]({c});
    const Expr factor = Div(norm.At(1, c), Sqrt(variance + epsilon));
    return (Cast(norm.compute, norm.x()(i)) - mean) * factor + norm.At(2, c);
  }));
  return absl::OkStatus();
}

// x / (bias + alpha / size * (sum of squares over `size` channels around))^beta
absl::Status Lrn(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 2));
  int64_t size = op.attributes().Int("size");
  if (size < 1) return AOTC_REFUSAL(InvalidArgument, "attribute size must be at least 1");
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
     .summary = "by given statistics, in training by those of the batch",
     .first_weight = 1,
     .gradient = GradientOfBatchNormalization},
    {.name = "LRN", .compute = Lrn, .summary = "by the squares of neighbouring channels"},
};

}  // namespace

std::span<const OpDef> NormalizationOps() { return kOps; }

}  // namespace aotc
