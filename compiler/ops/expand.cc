// Repetition of a tensor along axes, and parts of matrices: Expand, Tile, Trilu, EyeLike.
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

absl::Status Expand(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(Shape target, op.IntElements(1));
  for (Expr& dim : target) dim = Simplify(dim, op.bounds());
  AOTC_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes({x.shape(), target}));
  op.SetOutput(0, op.b().Compute(x.dtype(), shape, [&](const Indices& i) {
    return x.Stored(BroadcastIndices(x.shape(), i));
  }));
  return absl::OkStatus();
}

absl::Status Tile(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(std::vector<Expr> repeats, op.IntElements(1));
  if (repeats.size() != static_cast<size_t>(x.rank())) {
    return absl::InvalidArgumentError("needs one repeat count per axis");
  }
  Shape shape;
  for (size_t d = 0; d < repeats.size(); ++d) {
    if (Prove(Lt(repeats[d], 0), op.bounds()) == true) {
      return absl::InvalidArgumentError("a repeat count is negative");
    }
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
    if (elements.size() != 1) return absl::InvalidArgumentError("needs k of one element");
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
    return absl::InvalidArgumentError("needs an input of rank 2");
  }
  const int64_t to = op.attributes().Int("dtype", static_cast<int64_t>(like.dtype));
  if (to != static_cast<int>(to) || !IsKnownDType(static_cast<int>(to))) {
    return absl::UnimplementedError(StrCat("a result of ONNX element type ", to));
  }
  const auto dtype = static_cast<DType>(to);
  if (dtype != DType::kBool && !IsFloat(dtype) && !IsInteger(dtype)) {
    return absl::UnimplementedError(StrCat("a result of ", TypeName(dtype)));
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
     .traits = kMovesElements},
    {.name = "Tile",
     .compute = Tile,
     .summary = "repeats a tensor along its axes",
     .traits = kMovesElements},
    {.name = "Trilu", .compute = Trilu, .summary = "upper or lower triangle"},
};

}  // namespace

std::span<const OpDef> ExpandOps() { return kOps; }

}  // namespace aotc
