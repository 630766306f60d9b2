// Det: determinants of square matrices.
//
// Gaussian elimination with row pivots, a few stages for each column: the matrix that is left
// shrinks by a row and a column, and the pivots are multiplied.
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

Indices With(const Indices& batch, const Expr& row, const Expr& column) {
  Indices all = batch;
  all.push_back(row);
  all.push_back(column);
  return all;
}

Indices BatchOf(const Indices& i) { return {i.begin(), i.end() - 2}; }

// [batch...]: the row with the largest element of the first column, by magnitude.
Tensor PivotRow(TensorBuilder& b, const Tensor& a, const Shape& batch) {
  const DType type = ComputeType(a.dtype());
  const Combiner combiner = ArgCombiner(type, /*maximum=*/true, /*prefer_last=*/false);
  auto body = [&](const Indices& i, const Indices& r) {
    return std::vector<Expr>{Unary(ExprOp::kAbs, a(With(i, r[0], 0))), r[0]};
  };
  Tensor row = b.ReduceTuple(combiner, batch, {a.dim(-1)}, body)[1];
  // NaN is above nothing: any row will do.
  return b.Compute(DType::kI64, batch,
                   [&](const Indices& i) { return Clamp(row(i), 0, a.dim(-1) - 1); });
}

// What is left of `a` below and right of the pivot, whose row changes places with the first.
Tensor Eliminated(TensorBuilder& b, const Tensor& a, const Tensor& pivot_row) {
  Shape shape = a.shape();
  for (size_t axis : {shape.size() - 2, shape.size() - 1}) shape[axis] = shape[axis] - 1;
  return b.Compute(ComputeType(a.dtype()), shape, [&](const Indices& i) {
    const Indices batch = BatchOf(i);
    const Expr pivot = pivot_row(batch), from = i[i.size() - 2] + 1, column = i.back() + 1;
    const Expr row = Select(Eq(from, pivot), 0, from);
    const Expr divisor = a(With(batch, pivot, 0)), zero = Number(0, divisor);
    const Expr factor = Select(Eq(divisor, zero), zero, Div(a(With(batch, row, 0)), divisor));
    return a(With(batch, row, column)) - factor * a(With(batch, pivot, column));
  });
}

absl::Status Det(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 2));
  const std::optional<int64_t> size = x.dim(-1).AsInt();
  constexpr int64_t kLargest = 16;  // the stages are written out
  if (!size || !x.dim(-2).IsInt(*size)) {
    return AOTC_REFUSAL(InvalidArgument, "needs square matrices of a fixed size");
  }
  if (*size > kLargest) {
    return AOTC_REFUSAL(Unimplemented, StrCat("matrices of more than ", kLargest, " rows"));
  }
  TensorBuilder& b = op.b();
  const DType type = ComputeType(x.dtype());
  const Shape batch(x.shape().begin(), x.shape().end() - 2);
  auto one = [&](const Indices&) { return NumberConst(1, type); };
  Tensor result = b.Compute(type, batch, one), left = x;
  for (int64_t k = 0; k < *size; ++k) {
    const Tensor pivot = PivotRow(b, left, batch), before = result;
    result = b.Compute(type, batch, [&](const Indices& i) {
      const Expr product = before(i) * left(With(i, pivot(i), 0));
      return Select(Eq(pivot(i), 0), product, -product);
    });
    if (k + 1 < *size) left = Eliminated(b, left, pivot);
  }
  op.SetOutput(0, b.Convert(result, x.dtype()));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "Det", .compute = Det, .summary = "determinants of square matrices"},
};

}  // namespace

std::span<const OpDef> DeterminantOps() { return kOps; }

}  // namespace aotc
