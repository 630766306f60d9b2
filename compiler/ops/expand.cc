// Repetition of a tensor along axes, and parts of matrices: Expand, Tile, Trilu, EyeLike.
#include <algorithm>

#include "compiler/ops/gradient_rules.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// What `dim` of the operand and `wanted` of the shape, of which only a run knows one, broadcast to.
absl::StatusOr<Expr> BroadcastDim(OpContext& op, const Expr& dim, const Expr& wanted, int axis) {
  if (dim.IsInt(1)) return wanted;
  const Expr fits = Or(Eq(wanted, 1), Or(Eq(dim, 1), Eq(wanted, dim)));
  AOTC_RETURN_IF_ERROR(
      op.Require(fits, StrCat("the shape does not broadcast with the input along axis ", axis)));
  return Select(Eq(wanted, 1), dim, Prove(Ne(dim, 1), op.bounds()) == true ? dim : wanted);
}

absl::StatusOr<Shape> ExpandedShape(OpContext& op, const Tensor& x, const Shape& target) {
  if (std::ranges::none_of(target, [&](const Expr& dim) { return op.IsOfRun(dim); })) {
    return op.b().Broadcast({x.shape(), target});
  }
  const size_t rank = std::max(target.size(), x.shape().size());
  const auto from_end = [&](const Shape& dims, size_t axis) {
    return axis + dims.size() < rank ? Expr(1) : dims[axis + dims.size() - rank];
  };
  Shape shape;
  for (size_t d = 0; d < rank; ++d) {
    const int axis = static_cast<int>(d);
    AOTC_ASSIGN_OR_RETURN(const Expr dim,
                          BroadcastDim(op, from_end(x.shape(), d), from_end(target, d), axis));
    shape.push_back(op.Size(dim, 0, axis));
  }
  return shape;
}

absl::Status Expand(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(Shape target, op.IntElements(1));
  for (Expr& dim : target) dim = Simplify(dim, op.bounds());
  AOTC_ASSIGN_OR_RETURN(const Shape shape, ExpandedShape(op, x, target));
  op.SetOutput(0, op.b().Compute(x.dtype(), shape, [&](const Indices& i) {
    Indices indices = BroadcastIndices(x.shape(), i);
    // A dim that may be 1 and is repeated then.
    for (size_t d = 0; d < indices.size(); ++d) {
      const Expr &dim = x.shape()[d], &out = shape[shape.size() - x.shape().size() + d];
      const bool may_repeat = !ProveEqual(dim, out, op.bounds()) && !dim.IsConst();
      if (may_repeat) indices[d] = indices[d] * Min(dim - 1, 1);
    }
    return x.Stored(indices);
  }));
  return absl::OkStatus();
}

absl::Status Tile(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(std::vector<Expr> repeats, op.IntElements(1));
  if (repeats.size() != static_cast<size_t>(x.rank())) {
    return AOTC_REFUSAL(InvalidArgument, "needs one repeat count per axis");
  }
  Shape shape;
  for (size_t d = 0; d < repeats.size(); ++d) {
    AOTC_RETURN_IF_ERROR(op.Require(Le(0, repeats[d]), "a repeat count is negative"));
    shape.push_back(Simplify(x.shape()[d] * repeats[d], op.bounds()));
  }
  op.SetOutput(0, op.b().Compute(x.dtype(), shape, [&](const Indices& i) {
    Indices indices;
    for (size_t d = 0; d < i.size(); ++d) indices.push_back(Mod(i[d], x.shape()[d]));
    return x.Stored(indices);
  }));
  return absl::OkStatus();
}

// The upper (or lower) triangle of each matrix, the rest 0; the diagonal is k columns to the right.
absl::Status Trilu(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 2));
  Expr k = 0;
  if (op.HasInput(1)) {
    AOTC_ASSIGN_OR_RETURN(std::vector<Expr> elements, op.IntElements(1));
    if (elements.size() != 1) return AOTC_REFUSAL(InvalidArgument, "needs k of one element");
    k = elements[0];
  }
  bool upper = op.attributes().Int("upper", 1) != 0;
  op.SetOutput(0, op.b().Compute(x.dtype(), x.shape(), [&](const Indices& i) {
    const Expr &row = i[i.size() - 2], &column = i.back();
    Expr kept = upper ? Le(row + k, column) : Le(column, row + k);
    return Select(kept, x(i), Number(0, x(i)));
  }));
  return absl::OkStatus();
}

// Of the shape of a matrix: 1 on the diagonal that is k columns to the right, else 0.
absl::Status EyeLike(OpContext& op) {
  const ValueType& like = op.InputType(0);
  if (like.kind != ValueKind::kTensor || !like.ranked || like.dims.size() != 2) {
    return AOTC_REFUSAL(InvalidArgument, "needs an input of rank 2");
  }
  const int64_t to = op.attributes().Int("dtype", static_cast<int64_t>(like.dtype));
  if (to != static_cast<int>(to) || !IsKnownDType(static_cast<int>(to))) {
    return AOTC_REFUSAL(Unimplemented, StrCat("a result of ONNX element type ", to));
  }
  const auto dtype = static_cast<DType>(to);
  if (dtype != DType::kBool && !IsFloat(dtype) && !IsInteger(dtype)) {
    return AOTC_REFUSAL(Unimplemented, StrCat("a result of ", TypeName(dtype)));
  }
  const int64_t k = op.attributes().Int("k");
  op.SetOutput(0, op.b().Compute(dtype, like.dims, [&](const Indices& i) {
    Expr on = Eq(i[0] + k, i[1]);
    Expr one = dtype == DType::kBool ? Bool(true) : NumberConst(1, ComputeType(dtype));
    Expr zero = dtype == DType::kBool ? Bool(false) : Number(0, one);
    return Select(on, one, zero);
  }));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "EyeLike", .compute = EyeLike, .summary = "ones on a diagonal, of a tensor's shape"},
    {.name = "Expand",
     .compute = Expand,
     .summary = "broadcasts to a shape",
     .traits = kMovesElements | kMovesOperands,
     .gradient = GradientOfExpand},
    {.name = "Tile",
     .compute = Tile,
     .summary = "repeats a tensor along its axes",
     .traits = kMovesElements | kMovesOperands},
    {.name = "Trilu",
     .compute = Trilu,
     .summary = "upper or lower triangle",
     .traits = kMovesOperands,
     .gradient = GradientOfTrilu},
};

}  // namespace

std::span<const OpDef> ExpandOps() { return kOps; }

}  // namespace aotc
