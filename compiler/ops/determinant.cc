// Det: determinants of square matrices, and Inverse of com.microsoft.
//
// Gaussian elimination with row pivots, a few stages for each column. For Det the matrix that is
// left shrinks by a row and a column, and the pivots are multiplied; for Inverse it keeps its rows,
// beside which those of the unit matrix become the inverse. Where the matrices are large, or only a
// run knows how large, the columns are the rounds of a loop over one matrix of fixed size.
#include <optional>

#include "compiler/ops/expansion.h"
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

// [batch...]: of the first `rows` rows that from row `first` on with the largest element of the
// column `first`, by magnitude.
Tensor PivotRow(TensorBuilder& b, const Tensor& a, const Shape& batch, const Expr& rows,
                const Expr& first) {
  const DType type = ComputeType(a.dtype());
  const Combiner combiner = ArgCombiner(type, /*maximum=*/true, /*prefer_last=*/false);
  auto body = [&](const Indices& i, const Indices& r) {
    const Expr size = Unary(ExprOp::kAbs, a(With(i, r[0], first)));
    return std::vector<Expr>{Select(Le(first, r[0]), size, Number(-1, size)), r[0]};
  };
  Tensor row = b.ReduceTuple(combiner, batch, {rows}, body)[1];
  // NaN is above nothing: any row will do.
  return b.Compute(DType::kI64, batch,
                   [&](const Indices& i) { return Clamp(row(i), first, rows - 1); });
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

absl::Status RequireSquare(OpContext& op, const Tensor& x) {
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 2));
  return op.RequireEqual(x.dim(-1), x.dim(-2), "needs square matrices");
}

// The rows of square matrices whose stages are written out. FailedPrecondition: there are too many.
absl::StatusOr<int64_t> FewRows(OpContext& op, const Tensor& x) {
  AOTC_RETURN_IF_ERROR(RequireSquare(op, x));
  const std::optional<int64_t> size = x.dim(-1).AsInt();
  constexpr int64_t kLargest = 16;
  if (size && *size <= kLargest) return *size;
  return absl::FailedPreconditionError("the columns are rounds of a loop");
}

absl::Status Det(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const int64_t size, FewRows(op, x));
  TensorBuilder& b = op.b();
  const DType type = ComputeType(x.dtype());
  const Shape batch(x.shape().begin(), x.shape().end() - 2);
  auto one = [&](const Indices&) { return NumberConst(1, type); };
  Tensor result = b.Compute(type, batch, one), left = x;
  for (int64_t k = 0; k < size; ++k) {
    const Tensor pivot = PivotRow(b, left, batch, left.dim(-2), 0), before = result;
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
Tensor BesideUnit(TensorBuilder& b, const Tensor& x) {
  const Expr& size = x.dim(-1);
  Shape shape = x.shape();
  shape.back() = Simplify(size * 2);
  const DType type = ComputeType(x.dtype());
  return b.Compute(type, shape, [&](const Indices& i) {
    const Expr& row = i[i.size() - 2];
    const Expr own = Cast(type, x(With(BatchOf(i), row, Min(i.back(), size - 1))));
    const Expr unit = Cast(type, Eq(i.back() - size, row));
    return Select(Lt(i.back(), size), own, unit);
  });
}

// Clears column k of `a` but for a one in row k, with which the pivot changes places.
Tensor Cleared(TensorBuilder& b, const Tensor& a, const Tensor& pivot_row, const Expr& k) {
  return b.Compute(a.dtype(), a.shape(), [&](const Indices& i) {
    const Indices batch = BatchOf(i);
    const Expr pivot = pivot_row(batch);
    const Expr &row = i[i.size() - 2], &column = i.back();
    const Expr divided = Div(a(With(batch, pivot, column)), a(With(batch, pivot, k)));
    const Expr from = Select(Eq(row, pivot), k, row);
    const Expr rest = a(With(batch, from, column)) - a(With(batch, from, k)) * divided;
    return Select(Eq(row, k), divided, rest);
  });
}

// The matrices beside which there was the unit matrix.
Tensor RightHalf(TensorBuilder& b, const Tensor& left, DType dtype) {
  Shape shape = left.shape();
  const Expr size = shape[shape.size() - 2];
  shape.back() = size;
  return b.Compute(dtype, shape, [&](const Indices& i) {
    return Cast(dtype, left(With(BatchOf(i), i[i.size() - 2], i.back() + size)));
  });
}

// A singular matrix gives infinities or NaN.
absl::Status Inverse(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const int64_t size, FewRows(op, x));
  const Shape batch(x.shape().begin(), x.shape().end() - 2);
  TensorBuilder& b = op.b();
  Tensor left = BesideUnit(b, x);
  for (int64_t k = 0; k < size; ++k) {
    left = Cleared(b, left, PivotRow(b, left, batch, size, k), k);
  }
  op.SetOutput(0, RightHalf(b, left, x.dtype()));
  return absl::OkStatus();
}

// Ours, of loops: what their rounds begin with, end with and do. Inputs: the state of the loop, in
// the type that is computed in, and the round, i64 [], or the matrices, whose type the result has.
absl::Status InverseStart(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireSquare(op, x));
  op.SetOutput(0, BesideUnit(op.b(), x));
  return absl::OkStatus();
}

struct EliminationRound {
  Tensor state;
  Shape batch;
  Expr rows;
  Expr column;
};

absl::StatusOr<EliminationRound> ReadRound(OpContext& op, const Expr& rows_less) {
  EliminationRound round;
  AOTC_ASSIGN_OR_RETURN(round.state, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireRank(round.state, 2));
  AOTC_ASSIGN_OR_RETURN(const Tensor number, TypedInput(op, 1, DType::kI64, 0));
  round.batch.assign(round.state.shape().begin(), round.state.shape().end() - 2);
  round.rows = Simplify(round.state.dim(-2) - rows_less);
  round.column = Clamp(number({}), 0, round.rows - 1);
  return round;
}

absl::Status InverseRound(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const EliminationRound r, ReadRound(op, 0));
  const Tensor pivot = PivotRow(op.b(), r.state, r.batch, r.rows, r.column);
  op.SetOutput(0, Cleared(op.b(), r.state, pivot, r.column));
  return absl::OkStatus();
}

absl::Status InverseEnd(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor state, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireRank(state, 2));
  op.SetOutput(0, RightHalf(op.b(), state, op.InputType(1).dtype));
  return absl::OkStatus();
}

// [batch..., n + 1, n]: matrices above the signs of their pivots, by column.
absl::Status DetStart(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireSquare(op, x));
  Shape shape = x.shape();
  const Expr size = shape.back();
  shape[shape.size() - 2] = Simplify(size + 1);
  const DType type = ComputeType(x.dtype());
  op.SetOutput(0, op.b().Compute(type, shape, [&](const Indices& i) {
    const Expr& row = i[i.size() - 2];
    const Expr own = Cast(type, x(With(BatchOf(i), Min(row, size - 1), i.back())));
    return Select(Lt(row, size), own, NumberConst(1, type));
  }));
  return absl::OkStatus();
}

// The pivot of the column changes places with that row, and the rows below lose the column.
absl::Status DetRound(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const EliminationRound r, ReadRound(op, 1));
  const Tensor& a = r.state;
  const Tensor pivot_row = PivotRow(op.b(), a, r.batch, r.rows, r.column);
  op.SetOutput(0, op.b().Compute(a.dtype(), a.shape(), [&](const Indices& i) {
    const Indices batch = BatchOf(i);
    const Expr &row = i[i.size() - 2], &k = r.column, pivot = pivot_row(batch);
    const Expr from = Select(Eq(row, pivot), k, row);
    const Expr divisor = a(With(batch, pivot, k)), zero = Number(0, divisor);
    const Expr factor = Select(Eq(divisor, zero), zero, Div(a(With(batch, from, k)), divisor));
    const Expr of_pivot = a(With(batch, pivot, i.back()));
    const Expr below = a(With(batch, from, i.back())) - factor * of_pivot;
    const Expr sign = Select(Eq(pivot, k), Number(1, divisor), Number(-1, divisor));
    const Expr of_signs = Select(Eq(i.back(), k), sign, a(i));
    const Expr changed = Select(Eq(row, r.rows), of_signs, Select(Eq(row, k), of_pivot, below));
    return Select(Lt(row, k), a(i), changed);
  }));
  return absl::OkStatus();
}

// The product of the pivots and their signs.
absl::Status DetEnd(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor state, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireRank(state, 2));
  const Shape batch(state.shape().begin(), state.shape().end() - 2);
  const Expr& size = state.dim(-1);
  const Tensor product =
      op.b().Reduce("prod", state.dtype(), batch, {size}, [&](const Indices& i, const Indices& r) {
        return state(With(i, r[0], r[0])) * state(With(i, size, r[0]));
      });
  op.SetOutput(0, op.b().Convert(product, op.InputType(1).dtype));
  return absl::OkStatus();
}

// The columns of the matrices x, as many as the rounds are: i64 [].
ValueId ColumnCount(Expansion& e) {
  const ValueId last = e.Add("last_axis", Constant::SplatInt(DType::kI64, {}, -1));
  return e.Emit("Gather", {e.Emit("Shape", {e.Input(0)}), last});
}

// With the names of the three ops of a loop.
template <const char* kStart, const char* kRound, const char* kEnd>
absl::Status ByRounds(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0}));
  const auto round = [&](ValueId number, ValueId state) { return e.Emit(kRound, {state, number}); };
  AOTC_ASSIGN_OR_RETURN(const ValueId state,
                        e.EmitLoop(ColumnCount(e), e.Emit(kStart, {e.Input(0)}), round));
  e.SetOutput(0, e.Emit(kEnd, {state, e.Input(0)}));
  return absl::OkStatus();
}
constexpr char kDetStart[] = "DetStart", kDetRound[] = "DetRound", kDetEnd[] = "DetEnd";
constexpr char kInverseStart[] = "InverseStart", kInverseRound[] = "InverseRound";
constexpr char kInverseEnd[] = "InverseEnd";

constexpr OpDef kOps[] = {
    {.name = "com.microsoft.Inverse",
     .compute = Inverse,
     .expand = ByRounds<kInverseStart, kInverseRound, kInverseEnd>,
     .summary = "inverses of matrices"},
    {.name = "Det",
     .compute = Det,
     .expand = ByRounds<kDetStart, kDetRound, kDetEnd>,
     .summary = "determinants of square matrices"},
    {.name = "DetEnd",
     .compute = DetEnd,
     .summary = "the product of pivots and their signs",
     .traits = kOwn},
    {.name = "DetRound",
     .compute = DetRound,
     .summary = "elimination of a column below its pivot",
     .traits = kOwn},
    {.name = "DetStart",
     .compute = DetStart,
     .summary = "matrices above the signs of their pivots",
     .traits = kOwn},
    {.name = "InverseEnd",
     .compute = InverseEnd,
     .summary = "what stands beside matrices",
     .traits = kOwn},
    {.name = "InverseRound",
     .compute = InverseRound,
     .summary = "a column of matrices made that of the unit matrix",
     .traits = kOwn},
    {.name = "InverseStart",
     .compute = InverseStart,
     .summary = "matrices beside the unit matrix",
     .traits = kOwn},
};

}  // namespace

std::span<const OpDef> DeterminantOps() { return kOps; }

}  // namespace aotc
