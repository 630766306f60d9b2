// Unique: each of the slices along an axis, or of the elements, that are equal once; how many there
// are only a run knows.
//
// Every slice looks at every other: n * n comparisons for n slices.
#include <cstdint>
#include <vector>

#include "compiler/ops/expansion.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

// x as slices along an axis, each with its elements in row-major order.
struct Slices {
  Tensor x = {};
  size_t axis = 0;
  Shape rest = {};  // dims of a slice

  const Expr& count() const { return x.shape()[axis]; }

  Expr At(const Expr& slice, Indices within) const {
    within.insert(within.begin() + static_cast<std::ptrdiff_t>(axis), slice);
    const Expr element = x(within);
    return element.dtype() == DType::kBool ? Cast(DType::kI64, element) : element;
  }
};

Expr IsNan(const Expr& e) { return Unary(ExprOp::kIsNan, e); }

// As numpy compares: all NaN are one, and greater than all else.
Expr Differ(const Expr& a, const Expr& b) {
  return IsFloat(a.dtype()) ? And(Ne(a, b), Not(And(IsNan(a), IsNan(b)))) : Ne(a, b);
}

Expr IsLess(const Expr& a, const Expr& b) {
  return IsFloat(a.dtype()) ? Or(Lt(a, b), And(IsNan(b), Not(IsNan(a)))) : Lt(a, b);
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

// Whether slice j comes before slice i, in the order of the results.
class Order {
 public:
  Order(TensorBuilder& b, const Slices& slices, bool sorted)
      : slices_(slices), sorted_(sorted), length_(ElementCount(slices.rest)) {
    if (!slices.rest.empty()) differences_ = FirstDifferences(b, slices);
  }

  Expr AreEqual(const Expr& i, const Expr& j) const {
    if (differences_.valid()) return Eq(differences_({i, j}), length_);
    return Not(Differ(slices_.At(i, {}), slices_.At(j, {})));
  }

  Expr IsBefore(const Expr& j, const Expr& i) const {
    if (!sorted_) return Lt(j, i);
    if (!differences_.valid()) return IsLess(slices_.At(j, {}), slices_.At(i, {}));
    const Expr place = differences_({j, i});
    const Indices at = Unraveled(Clamp(place, 0, Max(length_ - 1, 0)), slices_.rest);
    return Select(Lt(place, length_), IsLess(slices_.At(j, at), slices_.At(i, at)), Bool(false));
  }

 private:
  const Slices& slices_;
  const bool sorted_;
  const Expr length_;
  Tensor differences_;
};

// x -> first: i64[n], of each slice the first that is equal to it; rank: i64[n], how many different
// ones come before it; is_first: bool[n].
absl::Status UniqueSlices(OpContext& op) {
  Slices slices;
  AOTC_ASSIGN_OR_RETURN(slices.x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireRank(slices.x, 1));
  AOTC_ASSIGN_OR_RETURN(const int axis, op.Axis("axis", 0, slices.x.rank()));
  slices.axis = static_cast<size_t>(axis);
  slices.rest = slices.x.shape();
  slices.rest.erase(slices.rest.begin() + axis);
  TensorBuilder& b = op.b();
  const Expr count = slices.count();
  const Shape all = {count};
  const Order order(b, slices, op.attributes().Int("sorted", 1) != 0);
  const Tensor first =
      b.Reduce("min", DType::kI64, all, all, [&](const Indices& i, const Indices& r) {
        return Select(And(Le(r[0], i[0]), order.AreEqual(i[0], r[0])), r[0], count);
      });
  const auto is_first = [&](const Expr& i) { return Eq(first({i}), i); };
  op.SetOutput(0, first);
  op.SetOutput(1, b.Reduce("sum", DType::kI64, all, all, [&](const Indices& i, const Indices& r) {
    return Cast(DType::kI64, And(is_first(r[0]), order.IsBefore(r[0], i[0])));
  }));
  op.SetOutput(2, b.Compute(DType::kBool, all, [&](const Indices& i) { return is_first(i[0]); }));
  return absl::OkStatus();
}

// is_first, rank, count -> i64[count]: where the first of the slices of each rank is.
absl::Status UniqueIndices(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor is_first, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor rank, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireRank(is_first, 1, 1));
  AOTC_RETURN_IF_ERROR(RequireRank(rank, 1, 1));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Expr> count, op.IntElements(2));
  if (count.size() != 1) return AOTC_REFUSAL(InvalidArgument, "needs one count");
  Shape all = rank.shape();
  const Shape found = {op.Size(Max(count[0], 0), 0, 0, all[0])};
  AOTC_RETURN_IF_ERROR(op.Require(Le(found[0], all[0]), "more is unique than there is"));
  auto body = [&](const Indices& i, const Indices& r) {
    return Select(And(is_first(r), Eq(rank(r), i[0])), r[0], 0);
  };
  op.SetOutput(0, op.b().Reduce("max", DType::kI64, found, all, body));
  return absl::OkStatus();
}

// inverse: i64[n], indices -> i64[count]: how many slices are equal to each of the result.
absl::Status UniqueCounts(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor inverse, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireRank(inverse, 1, 1));
  const Shape& found = op.InputType(1).dims;
  Shape all = inverse.shape();
  if (found.size() != 1) return AOTC_REFUSAL(InvalidArgument, "needs a list of indices");
  auto body = [&](const Indices& i, const Indices& r) {
    return Cast(DType::kI64, Eq(inverse(r), i[0]));
  };
  op.SetOutput(0, op.b().Reduce("sum", DType::kI64, found, all, body));
  return absl::OkStatus();
}

// ONNX Unique, opset 11; any of its results may be left out.
absl::Status Unique(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0}));
  const bool is_flat = !e.attributes().Has("axis");
  const int64_t axis = e.attributes().Int("axis");
  const ValueId x = is_flat ? e.Emit("Reshape", {e.Input(0), e.Ints("flat", {-1})}) : e.Input(0);
  const std::vector<ValueId> slices = e.EmitSeveral(
      "UniqueSlices", {x}, 3, {{"axis", axis}, {"sorted", e.attributes().Int("sorted", 1)}});
  const ValueId first = slices[0], rank = slices[1], is_first = slices[2];
  const ValueId count = e.Emit("CountTrue", {is_first});
  const ValueId indices = e.Emit("UniqueIndices", {is_first, rank, count});
  const ValueId inverse = e.Emit("Gather", {rank, first});
  e.SetOutput(0, e.Emit("Gather", {x, indices}, {{"axis", axis}}));
  e.SetOutput(1, indices);
  e.SetOutput(2, inverse);
  e.SetOutput(3, e.Emit("UniqueCounts", {inverse, indices}));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "Unique", .expand = Unique, .summary = "each of equal elements or slices once"},
    {.name = "UniqueCounts",
     .compute = UniqueCounts,
     .summary = "how many slices are equal to each result of Unique"},
    {.name = "UniqueIndices",
     .compute = UniqueIndices,
     .summary = "where the results of Unique come from",
     .places = PlacesResult{.output = 0, .axis = 0}},
    {.name = "UniqueSlices",
     .compute = UniqueSlices,
     .summary = "for each slice the first equal one, and its rank among these",
     .places = PlacesResult{.output = 0, .axis = 0}},
};

}  // namespace

std::span<const OpDef> UniqueOps() { return kOps; }

}  // namespace aotc
