// Reading at computed indices.
//
// An index at run time is clamped into its axis, so that no read is out of bounds whatever the
// data; an index that is known at compile time is checked there.
#include "compiler/ir/expr_text.h"
#include "compiler/ops/expansion.h"
#include "compiler/ops/gradient_rules.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

absl::Status RequireIndices(const Tensor& indices) {
  if (IsInteger(indices.dtype())) return absl::OkStatus();
  return AOTC_REFUSAL(InvalidArgument, "needs integer indices");
}

// An index of [-dim, dim) from the data as one of [0, dim).
Expr SafeIndex(const Expr& index, const Expr& dim) {
  Expr wide = Cast(DType::kI64, index);
  return Clamp(Select(Lt(wide, 0), wide + dim, wide), 0, dim - 1);
}

// The index where the operand holds a single one that is known; an error where it is out of range.
absl::StatusOr<Expr> KnownIndex(const OpContext& op, const Expr& dim) {
  absl::StatusOr<std::vector<Expr>> elements = op.IntElements(1);
  if (!elements.ok() || elements->size() != 1) return Expr();
  Expr index = (*elements)[0];
  if (Prove(Lt(index, 0), op.bounds()) == true) index = Simplify(index + dim, op.bounds());
  std::optional<bool> valid = Prove(InBounds(index, dim), op.bounds());
  if (valid == false) {
    return AOTC_REFUSAL(InvalidArgument,
                        StrCat("the index ", PrintExpr((*elements)[0]),
                               " is out of range: the axis has ", PrintExpr(dim), " elements"));
  }
  return valid == true ? index : Expr();
}

// [..., dim, ...] at indices of any rank along one axis.
absl::Status Gather(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 1));
  AOTC_ASSIGN_OR_RETURN(Tensor places, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireIndices(places));
  AOTC_ASSIGN_OR_RETURN(int axis, op.Axis("axis", 0, x.rank()));
  AOTC_ASSIGN_OR_RETURN(Expr known, KnownIndex(op, x.dim(axis)));
  Shape shape(x.shape().begin(), x.shape().begin() + axis);
  shape.insert(shape.end(), places.shape().begin(), places.shape().end());
  shape.insert(shape.end(), x.shape().begin() + axis + 1, x.shape().end());
  op.SetOutput(0, op.b().Compute(x.dtype(), shape, [&](const Indices& i) {
    auto place_begin = i.begin() + axis, place_end = place_begin + places.rank();
    Indices indices(i.begin(), place_begin);
    indices.push_back(
        known.valid() ? known : SafeIndex(places(Indices(place_begin, place_end)), x.dim(axis)));
    indices.insert(indices.end(), place_end, i.end());
    return x.Stored(indices);
  }));
  return absl::OkStatus();
}

// out[i] = x[i with i[axis] replaced by places[i]]
absl::Status GatherElements(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 1));
  AOTC_ASSIGN_OR_RETURN(Tensor places, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireIndices(places));
  AOTC_RETURN_IF_ERROR(RequireRank(places, x.rank(), x.rank()));
  AOTC_ASSIGN_OR_RETURN(int axis, op.Axis("axis", 0, x.rank()));
  for (int d = 0; d < x.rank(); ++d) {
    if (d == axis) continue;
    AOTC_RETURN_IF_ERROR(op.Require(Le(places.dim(d), x.dim(d)),
                                    StrCat("the indices are longer than the data along axis ", d)));
  }
  op.SetOutput(0, op.b().Compute(x.dtype(), places.shape(), [&](const Indices& i) {
    Indices indices = i;
    indices[static_cast<size_t>(axis)] = SafeIndex(places(i), x.dim(axis));
    return x.Stored(indices);
  }));
  return absl::OkStatus();
}

// The last axis of the indices holds positions in the axes after the `batch_dims` that both
// operands share.
absl::Status GatherNd(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(Tensor places, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireIndices(places));
  AOTC_RETURN_IF_ERROR(RequireRank(places, 1));
  int64_t batch = op.attributes().Int("batch_dims");
  std::optional<int64_t> depth = places.dim(-1).AsInt();
  if (!depth || *depth < 1 || batch < 0 || batch >= places.rank() || batch + *depth > x.rank()) {
    return AOTC_REFUSAL(InvalidArgument, "the indices do not fit the rank of the data");
  }
  for (int d = 0; d < batch; ++d) {
    AOTC_RETURN_IF_ERROR(op.RequireEqual(
        x.dim(d), places.dim(d), StrCat("the operands have different dims along batch axis ", d)));
  }
  Shape shape(places.shape().begin(), places.shape().end() - 1);
  size_t lookups = shape.size();
  shape.insert(shape.end(), x.shape().begin() + batch + *depth, x.shape().end());
  op.SetOutput(0, op.b().Compute(x.dtype(), shape, [&](const Indices& i) {
    Indices indices(i.begin(), i.begin() + batch);
    for (int64_t k = 0; k < *depth; ++k) {
      Indices place(i.begin(), i.begin() + static_cast<int64_t>(lookups));
      place.push_back(k);
      indices.push_back(SafeIndex(places(place), x.dim(static_cast<int>(batch + k))));
    }
    indices.insert(indices.end(), i.begin() + static_cast<int64_t>(lookups), i.end());
    return x.Stored(indices);
  }));
  return absl::OkStatus();
}

// The depth of a OneHot that only a run knows, and that is no size: i64 []. Of what is no number,
// more than any tensor has. Ours.
absl::Status OneHotDepth(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Expr depth, OneElement(op, 0, DType::kF64));
  op.SetOutput(0, op.b().Compute(DType::kI64, {}, [&](const Indices&) {
    const Expr least = NumberConst(-kNoSize, DType::kF64), none = NumberConst(kNoSize, DType::kF64);
    return Cast(DType::kI64, Select(Lt(depth, none), Max(depth, least), none));
  }));
  return absl::OkStatus();
}

// depth values along a new axis: `on` at the index, `off` elsewhere; indices out of range are all
// off.
absl::Status OneHot(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor places, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(Tensor values, op.Input(2));
  AOTC_RETURN_IF_ERROR(RequireNumber(places));
  const Constant* float_depth = op.ConstInput(1);
  Expr depth;
  constexpr size_t kWorkedOut = 3;  // what OneHotDepth gives
  if (float_depth != nullptr && float_depth->element_count() == 1) {
    depth = static_cast<int64_t>(float_depth->FloatAt(0));
  } else {
    AOTC_ASSIGN_OR_RETURN(std::vector<Expr> elements,
                          SizeElements(op, op.HasInput(kWorkedOut) ? kWorkedOut : 1));
    if (elements.size() != 1) return AOTC_REFUSAL(InvalidArgument, "needs a depth of one element");
    depth = elements[0];
    AOTC_RETURN_IF_ERROR(op.Require(Le(0, depth), "the depth is negative"));
  }
  if (values.rank() != 1 || !values.dim(0).IsInt(2)) {
    return AOTC_REFUSAL(InvalidArgument, "needs two values, off and on");
  }
  AOTC_ASSIGN_OR_RETURN(int axis, op.Axis("axis", -1, places.rank() + 1));
  Shape shape = places.shape();
  shape.insert(shape.begin() + axis, depth);
  op.SetOutput(0, op.b().Compute(values.dtype(), shape, [&](const Indices& i) {
    Indices place = i;
    place.erase(place.begin() + axis);
    Expr index = Cast(DType::kI64, places(place));
    Expr hot = Eq(Select(Lt(index, 0), index + depth, index), i[static_cast<size_t>(axis)]);
    return Select(hot, values.Stored({Expr(1)}), values.Stored({Expr(0)}));
  }));
  return absl::OkStatus();
}

// One whose depth only a run knows, and which is no size: what it is becomes one more operand.
absl::Status ExpandOneHot(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1, 2}));
  std::vector<ValueId> inputs = {e.Input(0), e.Input(1), e.Input(2)};
  inputs.push_back(e.Emit("OneHotDepth", {e.Input(1)}));
  e.SetOutput(0, rebuilder.Emit("OneHot", inputs, node.attributes, UnknownType(), node));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "Gather",
     .compute = Gather,
     .summary = "slices at indices along an axis",
     .traits = kMovesElements | kMovesOperands,
     .indices = IndexOperand{.axis = "axis"},
     .gradient = GradientOfGather},
    {.name = "GatherElements",
     .compute = GatherElements,
     .summary = "elements at indices along an axis",
     .traits = kMovesElements | kMovesOperands,
     .indices = IndexOperand{.axis = "axis"},
     .gradient = GradientOfGatherElements},
    {.name = "GatherND",
     .compute = GatherNd,
     .summary = "slices at positions in several axes",
     .traits = kMovesElements | kMovesOperands,
     .indices = IndexOperand{.axis = "batch_dims", .positions = true},
     .gradient = GradientOfGatherNd},
    {.name = "OneHot",
     .compute = OneHot,
     .expand = ExpandOneHot,
     .summary = "indices as vectors with one element on"},
    {.name = "OneHotDepth",
     .compute = OneHotDepth,
     .summary = "the depth of a OneHot",
     .traits = kOwn | kCounts},
};

}  // namespace

std::span<const OpDef> GatherOps() { return kOps; }

}  // namespace aotc
