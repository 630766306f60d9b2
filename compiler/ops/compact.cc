// Elements that a condition chooses, how many of which there are only a run knows: NonZero and
// Compress, and the ops of ours that they and others are made of.
//
//   counts = CumSum(flags)              of flags 0 1 1 0 1: 0 1 2 2 3
//   n      = CountTrue(flags)           3, a size from there on
//   places = TruePlaces(counts, n)      1 2 4
//
// The k-th place is found in the counts, which rise, by halving: all places at once, each in as
// many steps as the number of flags has bits.
#include "compiler/ops/compact.h"

#include <cstdint>

#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

ValueId CastTo(Expansion& e, ValueId x, DType dtype) {
  return e.Emit("Cast", {x}, {{"to", static_cast<int64_t>(dtype)}});
}

ValueId Flattened(Expansion& e, ValueId x) { return e.Emit("Reshape", {x, e.Ints("flat", {-1})}); }

// flags: bool[n] -> i64 []
absl::Status CountTrue(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor flags, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireRank(flags, 1, 1));
  const Shape& all = flags.shape();
  op.SetOutput(0, op.b().Reduce("sum", DType::kI64, {}, all, [&](const Indices&, const Indices& r) {
    return Cast(DType::kI64, flags(r));
  }));
  return absl::OkStatus();
}

// The least power of two above every number of flags.
int64_t FirstStride(const Expr& length, const Bounds& bounds) {
  const int64_t most = RangeOf(length, bounds).max;
  int64_t stride = 1;
  while (stride <= most / 2) stride *= 2;
  return stride;
}

// counts: i64[n], how many flags are set up to each place; count: i64 [] -> i64[count]
absl::Status TruePlaces(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor counts, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireRank(counts, 1, 1));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Expr> count, op.IntElements(1));
  if (count.size() != 1) return absl::InternalError("needs one count");
  Expr length = counts.dim(0);
  const Shape found = {op.Size(Max(count[0], 0), 0, 0, length)};
  AOTC_RETURN_IF_ERROR(op.Require(Le(found[0], length), "more is chosen than there is"));
  // The place is behind all that count k flags or fewer.
  const Tensor place = CountAtMost(op, counts, found, [](const Indices& k) { return k[0]; });
  // Where the count is right no place lies beyond the last.
  op.SetOutput(0, op.b().Compute(DType::kI64, found, [&](const Indices& k) {
    return Clamp(place(k), 0, Max(length - 1, 0));
  }));
  return absl::OkStatus();
}

// x, places: i64[n] in it, row-major -> i64[rank, n]
absl::Status PlaceIndices(OpContext& op) {
  const Shape dims = op.InputType(0).dims;
  AOTC_ASSIGN_OR_RETURN(const Tensor places, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireRank(places, 1, 1));
  const Shape shape = {Expr(static_cast<int64_t>(dims.size())), places.dim(0)};
  op.SetOutput(0, op.b().Compute(DType::kI64, shape, [&](const Indices& i) {
    const Indices at = Unraveled(places({i[1]}), dims);
    Expr index = 0;
    for (size_t d = at.size(); d-- > 0;) {
      index = Select(Eq(i[0], static_cast<int64_t>(d)), at[d], index);
    }
    return index;
  }));
  return absl::OkStatus();
}

// list [n], places [dims] -> [dims]. Unlike with Gather nothing is checked.
absl::Status Picked(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor list, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor places, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireRank(list, 1, 1));
  const Shape& dims = places.shape();
  op.SetOutput(0, op.b().Compute(list.dtype(), dims, [&](const Indices& i) {
    const Expr place = Clamp(Cast(DType::kI64, places(i)), 0, list.dim(0) - 1);
    Expr picked = list.Stored({place});
    if (RangeOf(list.dim(0), op.bounds()).min > 0 || picked.dtype() == DType::kBool) return picked;
    // Nobody asks for an element of a list that has none.
    return Select(Lt(0, list.dim(0)), picked, Number(0, picked));
  }));
  return absl::OkStatus();
}

// ONNX NonZero, opset 1 to 13: NaN is not zero. Of a scalar the result has no rows.
absl::Status NonZero(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0}));
  const ValueId flags = Flattened(e, CastTo(e, e.Input(0), DType::kBool));
  e.SetOutput(0, e.Emit("PlaceIndices", {e.Input(0), EmitTruePlaces(e, flags)}));
  return absl::OkStatus();
}

// ONNX Compress, opset 9 to 11: a condition that is too short chooses nothing more.
absl::Status Compress(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1}));
  const bool is_flat = !e.attributes().Has("axis");
  const ValueId x = is_flat ? Flattened(e, e.Input(0)) : e.Input(0);
  const ValueId places = EmitTruePlaces(e, e.Input(1));
  e.SetOutput(0, e.Emit("Gather", {x, places}, {{"axis", e.attributes().Int("axis")}}));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "Compress",
     .expand = Compress,
     .summary = "slices that a condition chooses",
     .traits = kMovesOperands},
    {.name = "CountTrue",
     .compute = CountTrue,
     .summary = "how many flags are set",
     .traits = kOwn | kCounts},
    {.name = "NonZero", .expand = NonZero, .summary = "indices of the elements that are not 0"},
    {.name = "Picked",
     .compute = Picked,
     .summary = "elements of a list at places in it",
     .traits = kOwn},
    {.name = "PlaceIndices",
     .compute = PlaceIndices,
     .summary = "row-major places as indices along the axes",
     .traits = kOwn},
    {.name = "TruePlaces",
     .compute = TruePlaces,
     .summary = "places of the flags that are set",
     .traits = kOwn,
     .places = PlacesResult{.output = 0, .axis = 0}},
};

}  // namespace

ValueId EmitTruePlaces(Expansion& e, ValueId flags) {
  const ValueId ones = CastTo(e, flags, DType::kI64);
  const ValueId counts = e.Emit("CumSum", {ones, e.Number("axis", DType::kI64, 0)});
  return e.Emit("TruePlaces", {counts, e.Emit("CountTrue", {flags})});
}

ValueId EmitPicked(Expansion& e, ValueId list, ValueId places) {
  return e.Emit("Picked", {list, places});
}

Tensor CountAtMost(OpContext& op, const Tensor& ascending, const Shape& dims,
                   const std::function<Expr(const Indices&)>& value) {
  TensorBuilder& b = op.b();
  const Expr& length = ascending.dim(0);
  Tensor count = b.Compute(DType::kI64, dims, [](const Indices&) { return Expr(0); });
  for (int64_t stride = FirstStride(length, op.bounds()); stride > 0; stride /= 2) {
    count = b.Compute(DType::kI64, dims, [&](const Indices& i) {
      const Expr next = count(i) + stride;
      const Expr is_there = And(Le(Expr(stride), length), Le(next, length));
      const Expr counted = ascending({Clamp(next - 1, 0, length - 1)});
      return Select(is_there, Select(Le(counted, value(i)), next, count(i)), count(i));
    });
  }
  return count;
}

std::span<const OpDef> CompactOps() { return kOps; }

}  // namespace aotc
