// MatMul of any rank and Gemm.
#include "compiler/ir/expr_text.h"
#include "compiler/ops/contraction.h"
#include "compiler/ops/gradient_rules.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

absl::Status RequireEqualDims(const Expr& a, const Expr& b, OpContext& op) {
  return op.RequireEqual(
      a, b, StrCat("the inner dims of the operands differ: ", PrintExpr(a), " and ", PrintExpr(b)));
}

// The dims before the last two.
Shape BatchOf(const Tensor& x) {
  if (x.rank() <= 2) return {};
  return Shape(x.shape().begin(), x.shape().end() - 2);
}

// Indices of an operand of MatMul: its batch dims broadcast from the result's, then `inner`.
Indices OperandIndices(const Tensor& x, const Indices& batch, const Indices& inner) {
  Indices indices = BroadcastIndices(BatchOf(x), batch);
  indices.insert(indices.end(), inner.begin(), inner.end());
  return indices;
}

// [..., m, k] x [..., k, n] -> [..., m, n]; an operand of rank 1 is a row (left) or a column
// (right) whose dim of 1 the result does not have.
absl::Status MatMul(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor a, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(Tensor b, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireSameType({a, b}));
  AOTC_RETURN_IF_ERROR(RequireNumber(a));
  AOTC_RETURN_IF_ERROR(RequireRank(a, 1));
  AOTC_RETURN_IF_ERROR(RequireRank(b, 1));
  bool has_rows = a.rank() > 1, has_columns = b.rank() > 1;
  AOTC_RETURN_IF_ERROR(RequireEqualDims(a.dim(-1), b.dim(has_columns ? -2 : -1), op));
  AOTC_ASSIGN_OR_RETURN(Shape shape, op.b().Broadcast({BatchOf(a), BatchOf(b)}));
  size_t batch_rank = shape.size();
  if (has_rows) shape.push_back(a.dim(-2));
  if (has_columns) shape.push_back(b.dim(-1));
  auto batch = [&](const Indices& i) { return Indices(i.begin(), i.begin() + batch_rank); };
  Tensor total = SumOfProducts(op.b(), {.accumulator = AccumulatorOf(a.dtype()),
                                        .shape = shape,
                                        .reduce_shape = {a.dim(-1)},
                                        .left =
                                            [&](const Indices& i, const Indices& r) {
                                              Indices inner = {r[0]};
                                              if (has_rows)
                                                inner.insert(inner.begin(), i[batch_rank]);
                                              return a(OperandIndices(a, batch(i), inner));
                                            },
                                        .right =
                                            [&](const Indices& i, const Indices& r) {
                                              Indices inner = {r[0]};
                                              if (has_columns) inner.push_back(i.back());
                                              return b(OperandIndices(b, batch(i), inner));
                                            }});
  op.SetOutput(0, op.b().Convert(total, a.dtype()));
  return absl::OkStatus();
}

// alpha * A' * B' + beta * C where A' is A, or its transpose with attribute transA.
absl::Status Gemm(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor a, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(Tensor b, op.Input(1));
  std::vector<Tensor> operands = {a, b};
  if (op.HasInput(2)) {
    AOTC_ASSIGN_OR_RETURN(Tensor c, op.Input(2));
    operands.push_back(c);
  }
  AOTC_RETURN_IF_ERROR(RequireSameType(operands));
  AOTC_RETURN_IF_ERROR(RequireNumber(a));
  AOTC_RETURN_IF_ERROR(RequireRank(a, 2, 2));
  AOTC_RETURN_IF_ERROR(RequireRank(b, 2, 2));
  bool trans_a = op.attributes().Int("transA") != 0, trans_b = op.attributes().Int("transB") != 0;
  AOTC_RETURN_IF_ERROR(RequireEqualDims(a.dim(trans_a ? 0 : 1), b.dim(trans_b ? 1 : 0), op));
  Shape shape = {a.dim(trans_a ? 1 : 0), b.dim(trans_b ? 0 : 1)};
  Tensor total = SumOfProducts(
      op.b(),
      {.accumulator = AccumulatorOf(a.dtype()),
       .shape = shape,
       .reduce_shape = {a.dim(trans_a ? 0 : 1)},
       .left = [&](const Indices& i,
                   const Indices& r) { return trans_a ? a({r[0], i[0]}) : a({i[0], r[0]}); },
       .right = [&](const Indices& i,
                    const Indices& r) { return trans_b ? b({i[1], r[0]}) : b({r[0], i[1]}); }});
  double alpha = op.attributes().Float("alpha", 1), beta = op.attributes().Float("beta", 1);
  if (operands.size() == 3) {
    AOTC_ASSIGN_OR_RETURN(Shape common, op.b().Broadcast({shape, operands[2].shape()}));
    if (!SameShape(common, shape))
      return AOTC_REFUSAL(InvalidArgument, "C does not broadcast to A * B");
  }
  // Scales of integers are applied in f32 unless they are 1.
  DType scale_type = IsFloat(total.dtype()) ? total.dtype() : DType::kF32;
  auto scaled = [&](const Expr& x, double factor) {
    return factor == 1 ? x
                       : Cast(total.dtype(), NumberConst(factor, scale_type) * Cast(scale_type, x));
  };
  auto finish = [&](const Indices& i) {
    Expr result = scaled(total(i), alpha);
    if (operands.size() < 3 || beta == 0) return result;
    const Tensor& c = operands[2];
    return result + scaled(Cast(total.dtype(), c(BroadcastIndices(c.shape(), i))), beta);
  };
  bool plain = alpha == 1 && (operands.size() < 3 || beta == 0);
  op.SetOutput(0,
               plain ? op.b().Convert(total, a.dtype()) : op.b().Compute(a.dtype(), shape, finish));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "Gemm",
     .compute = Gemm,
     .summary = "alpha * A * B + beta * C",
     .traits = kContraction,
     .first_weight = 0,
     .gradient = GradientOfGemm},
    {.name = "MatMul",
     .compute = MatMul,
     .summary = "matrix product over the last two axes",
     .traits = kContraction,
     .first_weight = 0,
     .gradient = GradientOfMatMul},
};

}  // namespace

std::span<const OpDef> MatMulOps() { return kOps; }

}  // namespace aotc
