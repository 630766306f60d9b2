// Unique: each of the slices along an axis, or of the elements, that are equal once; how many there
// are only a run knows.
//
//   x       3 1 3 2
//   order   1 3 0 2        of equal ones the first comes first
//   starts  1 1 1 0        whether one differs from the one before it in that order
//   ranks   2 0 3 1        the order turned round
//
// A target orders elements by sorting where they are many; slices are compared one by one, n * n
// pairs of them. A string is a slice too, of its bytes.
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/order.h"
#include "compiler/ops/compact.h"
#include "compiler/ops/expansion.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/ops/strings.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

// x as slices along an axis, each with its elements in row-major order.
struct Slices {
  Tensor x = {};  // of strings their sizes
  std::optional<StringTensors> strings = {};
  size_t axis = 0;
  Shape rest = {};  // dims of a slice, of strings the bytes of the longest as well

  const Expr& count() const { return x.shape()[axis]; }

  Expr At(const Expr& slice, Indices within) const {
    const Expr place = strings ? within.back() : Expr();
    if (strings) within.pop_back();
    within.insert(within.begin() + static_cast<std::ptrdiff_t>(axis), slice);
    if (strings) return ByteAt(within, place);
    const Expr element = x(within);
    return element.dtype() == DType::kBool ? Cast(DType::kI64, element) : element;
  }

 private:
  // One more than the byte of a string; 0 behind its end, before all that goes on.
  Expr ByteAt(const Indices& string, const Expr& place) const {
    const Expr byte = Cast(DType::kI64, strings->Byte(string, place));
    return Select(Lt(place, strings->Size(string)), byte + 1, Expr(0));
  }
};

Expr IsNan(const Expr& e) { return Unary(ExprOp::kIsNan, e); }

// As numpy compares: all NaN are one, and greater than all else.
Expr Differ(const Expr& a, const Expr& b) {
  return IsFloat(a.dtype()) ? And(Ne(a, b), Not(And(IsNan(a), IsNan(b)))) : Ne(a, b);
}

// [n, n]: the first place at which two slices differ; the number of elements where none is.
Tensor FirstDifferences(TensorBuilder& b, const Slices& slices) {
  const Expr length = ElementCount(slices.rest);
  const std::vector<Expr> strides = RowMajorStrides(slices.rest);
  const Shape pairs = {slices.count(), slices.count()};
  return b.Reduce("min", DType::kI64, pairs, slices.rest, [&](const Indices& i, const Indices& r) {
    const Expr differ = Differ(slices.At(i[0], r), slices.At(i[1], r));
    return Select(differ, LinearIndex(r, strides), length);
  });
}

// Input `first` on: x, or the three parts of strings and i64 [], how many bytes the longest has.
absl::StatusOr<Slices> ReadSlices(OpContext& op, size_t first) {
  Slices slices;
  Shape bytes;
  if (op.InputCount() > first + 1) {
    AOTC_ASSIGN_OR_RETURN(slices.strings, ReadStrings(op, first));
    AOTC_ASSIGN_OR_RETURN(bytes, op.IntElements(first + kStringParts));
    slices.x = slices.strings->sizes;
  } else {
    AOTC_ASSIGN_OR_RETURN(slices.x, op.Input(first));
  }
  AOTC_RETURN_IF_ERROR(RequireRank(slices.x, 1));
  AOTC_ASSIGN_OR_RETURN(const int axis, op.Axis("axis", 0, slices.x.rank()));
  slices.axis = static_cast<size_t>(axis);
  slices.rest = slices.x.shape();
  slices.rest.erase(slices.rest.begin() + axis);
  slices.rest.insert(slices.rest.end(), bytes.begin(), bytes.end());
  return slices;
}

// [n]: how many slices come before each; of equal ones the first comes first.
Tensor RanksOf(TensorBuilder& b, const Slices& slices) {
  const Shape all = {slices.count()};
  if (slices.rest.empty()) {
    return b.Reduce("sum", DType::kI64, all, all, [&](const Indices& i, const Indices& r) {
      const Expr before = ComesBefore(slices.At(r[0], {}), r[0], slices.At(i[0], {}), i[0], false);
      return Select(before, Expr(1), Expr(0));
    });
  }
  const Expr length = ElementCount(slices.rest);
  const Tensor differences = FirstDifferences(b, slices);
  return b.Reduce("sum", DType::kI64, all, all, [&](const Indices& i, const Indices& r) {
    const Expr place = differences({r[0], i[0]});
    const Indices at = Unraveled(Clamp(place, 0, Max(length - 1, 0)), slices.rest);
    const Expr less = IsAbove(slices.At(i[0], at), slices.At(r[0], at));
    return Select(Select(Lt(place, length), less, Lt(r[0], i[0])), Expr(1), Expr(0));
  });
}

// A permutation of places turned round.
Tensor TurnedRound(TensorBuilder& b, const Tensor& places) {
  const Shape& all = places.shape();
  return b.Reduce("max", DType::kI64, all, all, [&](const Indices& i, const Indices& r) {
    return Select(Eq(places({r[0]}), i[0]), r[0], Expr(0));
  });
}

// slices -> i64[n]: them in order.
absl::Status UniqueOrder(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Slices slices, ReadSlices(op, 0));
  op.SetOutput(0, TurnedRound(op.b(), RanksOf(op.b(), slices)));
  return absl::OkStatus();
}

// order: i64[n] -> i64[n]: how many come before each.
absl::Status UniqueRanks(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor order, TypedInput(op, 0, DType::kI64, 1));
  op.SetOutput(0, TurnedRound(op.b(), order));
  return absl::OkStatus();
}

// order: i64[n], slices -> bool[n]: whether one differs from the one before it in that order.
absl::Status UniqueStarts(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor order, TypedInput(op, 0, DType::kI64, 1));
  AOTC_ASSIGN_OR_RETURN(const Slices slices, ReadSlices(op, 1));
  const Shape& all = order.shape();
  const Expr last = slices.count() - 1;
  const auto slice = [&](const Expr& place) {
    return Clamp(order({Clamp(place, 0, all[0] - 1)}), 0, last);
  };
  const auto differ = [&](const Indices& i, const Indices& within) {
    return Differ(slices.At(slice(i[0]), within), slices.At(slice(i[0] - 1), within));
  };
  const auto starts = [](const Indices& i, const Expr& differs) {
    return Or(Eq(i[0], 0), differs);
  };
  if (slices.rest.empty()) {
    op.SetOutput(0, op.b().Compute(DType::kBool, all,
                                   [&](const Indices& i) { return starts(i, differ(i, {})); }));
    return absl::OkStatus();
  }
  const Tensor any = op.b().Reduce("or", DType::kBool, all, slices.rest, differ);
  op.SetOutput(
      0, op.b().Compute(DType::kBool, all, [&](const Indices& i) { return starts(i, any(i)); }));
  return absl::OkStatus();
}

// starts: bool[n], numbers: i64[n], how many start up to each, count: i64 [] -> i64[count]: where.
// Each is taken to its place, which where one thread does it is faster than TruePlaces' halving.
absl::Status UniquePlaces(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor starts, TypedInput(op, 0, DType::kBool, 1));
  AOTC_ASSIGN_OR_RETURN(const Tensor numbers, TypedInput(op, 1, DType::kI64, 1));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Expr> count, op.IntElements(2));
  if (count.size() != 1) return absl::InternalError("needs one count");
  const Shape& all = starts.shape();
  const Shape found = {op.Size(Max(count[0], 0), 0, 0, all[0])};
  AOTC_RETURN_IF_ERROR(op.Require(Le(found[0], all[0]), "more is unique than there is"));
  op.SetOutput(
      0, op.b().Reduce("max", DType::kI64, found, all, [&](const Indices& i, const Indices& r) {
        return Select(And(starts(r), Eq(numbers(r) - 1, i[0])), r[0], Expr(0));
      }));
  return absl::OkStatus();
}

// order: i64[n], places: i64[count] in it -> i64[count]: what stands there.
absl::Status UniqueIndices(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor order, TypedInput(op, 0, DType::kI64, 1));
  AOTC_ASSIGN_OR_RETURN(const Tensor places, TypedInput(op, 1, DType::kI64, 1));
  op.SetOutput(0, op.b().Compute(DType::kI64, places.shape(), [&](const Indices& i) {
    return order({Clamp(places(i), 0, order.dim(0) - 1)});
  }));
  return absl::OkStatus();
}

// places: i64[count] where groups start, order: i64[n] -> i64[count]: how large they are.
absl::Status UniqueCounts(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor places, TypedInput(op, 0, DType::kI64, 1));
  const Shape all = op.InputType(1).dims;
  if (all.size() != 1) return absl::InternalError("needs a list of indices");
  const Expr last = places.dim(0) - 1;
  op.SetOutput(0, op.b().Compute(DType::kI64, places.shape(), [&](const Indices& i) {
    const Expr next = places({Clamp(i[0] + 1, 0, last)});
    return Select(Lt(i[0], last), next, all[0]) - places(i);
  }));
  return absl::OkStatus();
}

// The results, groups in ascending order.
struct Groups {
  ValueId indices = {}, inverse = {}, counts = {};
};

Groups EmitGroups(Expansion& e, const std::vector<ValueId>& slices, int64_t axis) {
  const ValueId order = e.Emit("UniqueOrder", slices, {{"axis", axis}});
  std::vector<ValueId> ordered = {order};
  ordered.insert(ordered.end(), slices.begin(), slices.end());
  const ValueId starts = e.Emit("UniqueStarts", ordered, {{"axis", axis}});
  const ValueId ones = e.Emit("Cast", {starts}, {{"to", static_cast<int64_t>(DType::kI64)}});
  const ValueId numbers = e.Emit("CumSum", {ones, e.Number("along", DType::kI64, 0)});
  const ValueId places = e.Emit("UniquePlaces", {starts, numbers, e.Emit("CountTrue", {starts})});
  const ValueId groups = e.Emit("Sub", {numbers, e.Number("one", DType::kI64, 1)});
  return {.indices = e.Emit("UniqueIndices", {order, places}),
          .inverse = EmitPicked(e, groups, e.Emit("UniqueRanks", {order})),
          .counts = e.Emit("UniqueCounts", {places, order})};
}

// The same, the groups in the order in which x has the first of each.
Groups InOrderOfX(Expansion& e, const Groups& groups) {
  const ValueId order = e.Emit("UniqueOrder", {groups.indices}, {{"axis", int64_t{0}}});
  return {.indices = e.Emit("UniqueIndices", {groups.indices, order}),
          .inverse = EmitPicked(e, e.Emit("UniqueRanks", {order}), groups.inverse),
          .counts = EmitPicked(e, groups.counts, order)};
}

// An input of Unique, all elements in a row where no axis is given.
ValueId Sliceable(Expansion& e, size_t input) {
  if (e.attributes().Has("axis")) return e.Input(input);
  return e.Emit("Reshape", {e.Input(input), e.Ints("flat", {-1})});
}

// Results `first` on: where slices come from, which group each is of, how many each has.
Groups SetGroups(Expansion& e, size_t first, const std::vector<ValueId>& slices) {
  Groups groups = EmitGroups(e, slices, e.attributes().Int("axis"));
  if (e.attributes().Int("sorted", 1) == 0) groups = InOrderOfX(e, groups);
  e.SetOutput(first, groups.indices);
  e.SetOutput(first + 1, groups.inverse);
  e.SetOutput(first + 2, groups.counts);
  return groups;
}

ValueId EmitChosen(Expansion& e, ValueId x, const Groups& groups) {
  return e.Emit("Gather", {x, groups.indices}, {{"axis", e.attributes().Int("axis")}});
}

// ONNX Unique, opset 11; any of its results may be left out.
absl::Status Unique(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0}));
  const ValueId x = Sliceable(e, 0);
  e.SetOutput(0, EmitChosen(e, x, SetGroups(e, 1, {x})));
  return absl::OkStatus();
}

// The same of strings, in the order of their bytes, which is that of their characters in UTF-8.
absl::Status StringUnique(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1, 2}));
  const ValueId starts = Sliceable(e, 0), sizes = Sliceable(e, 1), pool = e.Input(2);
  const ValueId longest = e.Emit("StringRounds", {sizes}, {{"steps", int64_t{1}}});
  const Groups groups = SetGroups(e, kStringParts, {starts, sizes, pool, longest});
  SetStringOutput(e, 0, {EmitChosen(e, starts, groups), EmitChosen(e, sizes, groups), pool});
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "StringUnique",
     .expand = StringUnique,
     .summary = "each of equal strings once",
     .traits = kOwn},
    {.name = "Unique", .expand = Unique, .summary = "each of equal elements or slices once"},
    {.name = "UniqueCounts",
     .compute = UniqueCounts,
     .summary = "how many slices are equal to each result of Unique",
     .traits = kOwn},
    {.name = "UniqueIndices",
     .compute = UniqueIndices,
     .summary = "where the results of Unique come from",
     .traits = kOwn,
     .places = PlacesResult{.output = 0, .axis = 0}},
    {.name = "UniqueOrder",
     .compute = UniqueOrder,
     .summary = "places of slices in their order",
     .traits = kOwn,
     .places = PlacesResult{.output = 0, .axis = 0}},
    {.name = "UniquePlaces",
     .compute = UniquePlaces,
     .summary = "where in their order slices differ from the one before",
     .traits = kOwn,
     .places = PlacesResult{.output = 0, .axis = 0}},
    {.name = "UniqueRanks",
     .compute = UniqueRanks,
     .summary = "how many slices come before each",
     .traits = kOwn},
    {.name = "UniqueStarts",
     .compute = UniqueStarts,
     .summary = "whether a slice differs from the one before it in an order",
     .traits = kOwn},
};

}  // namespace

std::span<const OpDef> UniqueOps() { return kOps; }

}  // namespace aotc
