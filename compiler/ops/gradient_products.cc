// Rules of differentiation of MatMul and Gemm, and the gradients of MatMul's operands, which are
// sums of products too.
#include "compiler/ops/contraction.h"
#include "compiler/ops/gradient.h"
#include "compiler/ops/gradient_rules.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/status.h"

namespace aotc {

absl::Status GradientOfMatMul(GradientContext& c) {
  const Quantity g = c.OfResult(), a = c.Operand(0), b = c.Operand(1);
  if (c.Wants(0)) c.Give(0, g.To("MatMulGradient", {b, a}, {{"operand", int64_t{0}}}));
  if (c.Wants(1)) c.Give(1, g.To("MatMulGradient", {a, b}, {{"operand", int64_t{1}}}));
  return absl::OkStatus();
}

// alpha * A' * B' + beta * C, A' and B' being transposed or not.
absl::Status GradientOfGemm(GradientContext& c) {
  const Quantity g = c.OfResult(), a = c.Operand(0), b = c.Operand(1);
  const bool trans_a = c.attributes().Int("transA") != 0,
             trans_b = c.attributes().Int("transB") != 0;
  const float alpha = c.attributes().Float("alpha", 1), beta = c.attributes().Float("beta", 1);
  auto product = [&](const Quantity& left, bool trans_left, const Quantity& right,
                     bool trans_right) {
    return left.To("Gemm", {right},
                   {{"alpha", alpha},
                    {"transA", int64_t{trans_left ? 1 : 0}},
                    {"transB", int64_t{trans_right ? 1 : 0}}});
  };
  if (c.Wants(0))
    c.Give(0, trans_a ? product(b, trans_b, g, true) : product(g, false, b, !trans_b));
  if (c.Wants(1))
    c.Give(1, trans_b ? product(g, true, a, trans_a) : product(a, !trans_a, g, false));
  if (c.Wants(2)) c.Give(2, SummedTo(g * static_cast<double>(beta), c.Operand(2)));
  return absl::OkStatus();
}

namespace {

// One operand of MatMul, or its result, [batch..., rows, columns], of which vectors lack one.
struct Matrices {
  Tensor x = {};
  bool has_rows = true;
  bool has_columns = true;

  size_t BatchRank() const {
    return x.shape().size() - (has_rows ? 1U : 0U) - (has_columns ? 1U : 0U);
  }
  Shape Batch() const { return Shape(x.shape().begin(), x.shape().begin() + BatchRank()); }
  Expr Rows() const { return has_rows ? x.shape()[BatchRank()] : Expr(1); }
  Expr Columns() const { return has_columns ? x.dim(-1) : Expr(1); }
  // The element at a row and a column of the matrix at `batch`, whose dims may be broadcast here.
  Expr At(const Indices& batch, const Expr& row, const Expr& column) const {
    Indices indices = BroadcastIndices(Batch(), batch);
    if (has_rows) indices.push_back(row);
    if (has_columns) indices.push_back(column);
    return x(indices);
  }
};

// The gradient of one operand, in whose shape it is, of [batch..., rows, inner] x [batch..., inner,
// columns]. Along batch axes where that operand was broadcast the products are summed.
class ProductGradient {
 public:
  ProductGradient(const Matrices& g, const Matrices& other, const Matrices& like, bool of_left)
      : g_(g), other_(other), like_(like), of_left_(of_left) {}

  absl::Status Require(OpContext& op) const {
    const Shape batch = g_.Batch(), own = like_.Batch();
    const size_t added = batch.size() - own.size();
    for (size_t d = 0; d < own.size(); ++d) {
      if (IsSummed(batch, own, d + added)) continue;
      AOTC_RETURN_IF_ERROR(op.RequireEqual(
          own[d], batch[d + added], "the batch dims of a product differ from its gradient's"));
    }
    return absl::OkStatus();
  }

  Tensor Sums(TensorBuilder& b) const {
    Contraction sums = {.accumulator = AccumulatorOf(like_.x.dtype()), .shape = like_.x.shape()};
    const Shape batch = g_.Batch(), own = like_.Batch();
    for (size_t d = 0; d < batch.size(); ++d) {
      if (IsSummed(batch, own, d)) sums.reduce_shape.push_back(batch[d]);
    }
    sums.reduce_shape.push_back(of_left_ ? g_.Columns() : g_.Rows());
    sums.left = [this](const Indices& i, const Indices& r) { return Element(i, r, of_left_); };
    sums.right = [this](const Indices& i, const Indices& r) { return Element(i, r, !of_left_); };
    return SumOfProducts(b, sums);
  }

 private:
  // Whether the operand is one along an axis of the batch where the result is several.
  static bool IsSummed(const Shape& batch, const Shape& own, size_t d) {
    const size_t added = batch.size() - own.size();
    return d < added || (own[d - added].IsInt(1) && !batch[d].IsInt(1));
  }

  // A factor of the product: of g, or of the other operand.
  Expr Element(const Indices& i, const Indices& r, bool of_g) const {
    const Shape batch = g_.Batch(), own = like_.Batch();
    Indices at;
    size_t next = 0;
    for (size_t d = 0; d < batch.size(); ++d) {
      at.push_back(IsSummed(batch, own, d) ? r[next++] : i[d - (batch.size() - own.size())]);
    }
    const Expr row = like_.has_rows ? i[own.size()] : Expr(0);
    const Expr column = like_.has_columns ? i.back() : Expr(0);
    if (of_left_) return of_g ? g_.At(at, row, r.back()) : other_.At(at, column, r.back());
    return of_g ? g_.At(at, r.back(), column) : other_.At(at, r.back(), row);
  }

  const Matrices g_, other_, like_;
  const bool of_left_;
};

// Of g, the other operand, and the one whose gradient it is.
absl::Status MatMulGradient(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor g, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor other, op.Input(1));
  AOTC_ASSIGN_OR_RETURN(const Tensor like, op.Input(2));
  AOTC_RETURN_IF_ERROR(RequireFloat(g));
  AOTC_RETURN_IF_ERROR(RequireSameType({g, other, like}));
  const bool of_left = op.attributes().Int("operand") == 0;
  const Tensor &left = of_left ? like : other, &right = of_left ? other : like;
  const bool has_rows = left.rank() > 1, has_columns = right.rank() > 1;
  const Matrices a = {left, has_rows, true}, b = {right, true, has_columns};
  const ProductGradient gradient({g, has_rows, has_columns}, of_left ? b : a, of_left ? a : b,
                                 of_left);
  AOTC_RETURN_IF_ERROR(gradient.Require(op));
  op.SetOutput(0, op.b().Convert(gradient.Sums(op.b()), like.dtype()));
  return absl::OkStatus();
}

// It is a product itself: of the sum of h * MatMulGradient(g, other) the slope by g is MatMul of h
// and the other operand, and by that the gradient of MatMul(h, other) for g.
absl::Status GradientOfMatMulGradient(GradientContext& c) {
  const Quantity h = c.OfResult(), g = c.Operand(0), other = c.Operand(1);
  const bool of_left = c.attributes().Int("operand") == 0;
  if (c.Wants(0)) c.Give(0, of_left ? h.To("MatMul", {other}) : other.To("MatMul", {h}));
  if (c.Wants(1)) {
    const Expansion::NamedValues of_other = {{"operand", int64_t{of_left ? 1 : 0}}};
    c.Give(1, g.To("MatMulGradient", {h, other}, of_other));
  }
  c.GiveNothing(2);
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "MatMulGradient",
     .compute = MatMulGradient,
     .summary = "the gradient of an operand of MatMul",
     .traits = kOwn,
     .first_weight = 0,
     .gradient = GradientOfMatMulGradient},
};

}  // namespace

std::span<const OpDef> GradientProductOps() { return kOps; }

}  // namespace aotc
