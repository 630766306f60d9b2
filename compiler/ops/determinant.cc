// Det: determinants of square matrices, and Inverse of com.microsoft.
//
// Gaussian elimination with row pivots, a few stages for each column. For Det the matrix that is
// left shrinks by a row and a column, and the pivots are multiplied; for Inverse it keeps its rows,
// beside which those of the unit matrix become the inverse.
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

// [batch...]: of the rows from `first` on that with the largest element of the column `first`, by
// magnitude.
Tensor PivotRow(TensorBuilder& b, const Tensor& a, const Shape& batch, int64_t first = 0) {
  const DType type = ComputeType(a.dtype());
  const Combiner combiner = ArgCombiner(type, /*maximum=*/true, /*prefer_last=*/false);
  auto body = [&](const Indices& i, const Indices& r) {
    return std::vector<Expr>{Unary(ExprOp::kAbs, a(With(i, r[0] + first, first))), r[0]};
  };
  const Expr count = Simplify(a.dim(-2) - first);
  Tensor row = b.ReduceTuple(combiner, batch, {count}, body)[1];
  // NaN is above nothing: any row will do.
  return b.Compute(DType::kI64, batch,
                   [&](const Indices& i) { return Clamp(row(i), 0, count - 1) + first; });
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

// The rows of square matrices.
absl::StatusOr<int64_t> SizeOf(const Tensor& x) {
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 2));
  const std::optional<int64_t> size = x.dim(-1).AsInt();
  constexpr int64_t kLargest = 16;  // the stages are written out
  if (!size || !x.dim(-2).IsInt(*size)) {
    return AOTC_REFUSAL(InvalidArgument, "needs square matrices of a fixed size");
  }
  if (*size <= kLargest) return *size;
  return AOTC_REFUSAL(Unimplemented, StrCat("matrices of more than ", kLargest, " rows"));
}

absl::Status Det(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const int64_t size, SizeOf(x));
  TensorBuilder& b = op.b();
  const DType type = ComputeType(x.dtype());
  const Shape batch(x.shape().begin(), x.shape().end() - 2);
  auto one = [&](const Indices&) { return NumberConst(1, type); };
  Tensor result = b.Compute(type, batch, one), left = x;
  for (int64_t k = 0; k < size; ++k) {
    const Tensor pivot = PivotRow(b, left, batch), before = result;
    result = b.Compute(type, batch, [&](const Indices& i) {
      const Expr product = before(i) * left(With(i, pivot(i), 0));
      return Select(Eq(pivot(i), 0), product, -product);
    });
    if (k + 1 < size) left = Eliminated(b, left, pivot);
  }
  op.SetOutput(0, b.Convert(result, x.dtype()));
  return absl::OkStatus();
}

// [batch..., n, 2 n]: matrices beside the unit matrix.
Tensor BesideUnit(TensorBuilder& b, const Tensor& x, int64_t size) {
  Shape shape = x.shape();
  shape.back() = 2 * size;
  const DType type = ComputeType(x.dtype());
  return b.Compute(type, shape, [&](const Indices& i) {
    const Expr& row = i[i.size() - 2];
    const Expr own = Cast(type, x(With(BatchOf(i), row, Min(i.back(), size - 1))));
    const Expr unit = Cast(type, Eq(i.back() - size, row));
    return Select(Lt(i.back(), size), own, unit);
  });
}

// Clears column k of `a` but for a one in row k, with which the pivot changes places.
Tensor Cleared(TensorBuilder& b, const Tensor& a, const Tensor& pivot_row, int64_t k) {
  return b.Compute(a.dtype(), a.shape(), [&](const Indices& i) {
    const Indices batch = BatchOf(i);
    const Expr pivot = pivot_row(batch);
    const Expr &row = i[i.size() - 2], &column = i.back();
    const Expr divided = Div(a(With(batch, pivot, column)), a(With(batch, pivot, k)));
    const Expr from = Select(Eq(row, pivot), Expr(k), row);
    const Expr rest = a(With(batch, from, column)) - a(With(batch, from, k)) * divided;
    return Select(Eq(row, k), divided, rest);
  });
}

// A singular matrix gives infinities or NaN.
absl::Status Inverse(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const int64_t size, SizeOf(x));
  const Shape shape = x.shape();
  const Shape batch(shape.begin(), shape.end() - 2);
  TensorBuilder& b = op.b();
  Tensor left = BesideUnit(b, x, size);
  for (int64_t k = 0; k < size; ++k) left = Cleared(b, left, PivotRow(b, left, batch, k), k);
  op.SetOutput(0, b.Compute(x.dtype(), shape, [&](const Indices& i) {
    return Cast(x.dtype(), left(With(BatchOf(i), i[i.size() - 2], i.back() + size)));
  }));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "com.microsoft.Inverse", .compute = Inverse, .summary = "inverses of matrices"},
    {.name = "Det", .compute = Det, .summary = "determinants of square matrices"},
};

}  // namespace

std::span<const OpDef> DeterminantOps() { return kOps; }

}  // namespace aotc
