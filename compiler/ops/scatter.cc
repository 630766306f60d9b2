// Writing at computed indices: ScatterElements and ScatterND.
//
// Each element of the result looks for the updates that go there. Without a reduction the last one
// in row-major order wins, where ONNX leaves the order open. An index that is out of range writes
// nothing; compiled models check indices as those of a gather (fuse/index_checks.h).
#include "compiler/ops/gradient.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// The operands of both ops, and how updates meet what is there.
struct Scatter {
  Tensor data = {};
  Tensor places = {};
  Tensor updates = {};
  std::string combiner = {};  // empty: the last update replaces the element
};

absl::StatusOr<Scatter> ScatterOf(OpContext& op) {
  Scatter scatter;
  AOTC_ASSIGN_OR_RETURN(scatter.data, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(scatter.places, op.Input(1));
  AOTC_ASSIGN_OR_RETURN(scatter.updates, op.Input(2));
  AOTC_RETURN_IF_ERROR(RequireSameType({scatter.data, scatter.updates}));
  AOTC_RETURN_IF_ERROR(RequireRank(scatter.data, 1));
  AOTC_RETURN_IF_ERROR(RequireRank(scatter.places, 1));
  if (!IsInteger(scatter.places.dtype())) {
    return AOTC_REFUSAL(InvalidArgument, "needs integer indices");
  }
  const std::string reduction = op.attributes().String("reduction", "none");
  if (reduction == "none") return scatter;
  AOTC_RETURN_IF_ERROR(RequireNumber(scatter.data));
  if (reduction == "add") scatter.combiner = "sum";
  if (reduction == "mul") scatter.combiner = "prod";
  if (reduction == "min" || reduction == "max") scatter.combiner = reduction;
  if (!scatter.combiner.empty()) return scatter;
  return AOTC_REFUSAL(InvalidArgument, StrCat("unknown reduction '", reduction, "'"));
}

// Whether an index from the data, of [-dim, dim), names element `at`.
Expr Names(const Expr& index, const Expr& dim, const Expr& at) {
  Expr wide = Cast(DType::kI64, index);
  return Eq(Select(Lt(wide, 0), wide + dim, wide), at);
}

Expr Combined(std::string_view combiner, const Expr& a, const Expr& b) {
  if (combiner == "sum") return a + b;
  if (combiner == "prod") return a * b;
  return combiner == "min" ? Min(a, b) : Max(a, b);
}

// data[i] combined with all updates(i, r), r over `reduced`, for which hit(i, r) holds.
Tensor Combine(TensorBuilder& b, const Scatter& scatter, const Shape& reduced,
               const TensorBuilder::ReduceBody& hit, const TensorBuilder::ReduceBody& update) {
  const DType compute = ComputeType(scatter.data.dtype());
  const Expr identity = StockCombiner(scatter.combiner, compute).identity[0];
  auto body = [&](const Indices& i, const Indices& r) {
    return Select(hit(i, r), update(i, r), identity);
  };
  Tensor total = b.Reduce(scatter.combiner, compute, scatter.data.shape(), reduced, body);
  auto combine = [&](const auto& v) { return Combined(scatter.combiner, v[0], v[1]); };
  return b.Map({scatter.data, total}, combine, scatter.data.dtype());
}

// Of axes where the indices are shorter than the data: whether there are any for this element.
Expr HasIndices(const Scatter& scatter, int axis, const Indices& i, const Bounds& bounds) {
  Expr within = Bool(true);
  for (int d = 0; d < scatter.data.rank(); ++d) {
    if (d == axis || ProveEqual(scatter.places.dim(d), scatter.data.dim(d), bounds)) continue;
    within = And(within, Lt(i[static_cast<size_t>(d)], scatter.places.dim(d)));
  }
  return within;
}

// The data with updates[r] at r, but along the axis at places[r].
absl::Status ScatterElements(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Scatter scatter, ScatterOf(op));
  const Tensor &data = scatter.data, &places = scatter.places, &updates = scatter.updates;
  AOTC_RETURN_IF_ERROR(RequireRank(places, data.rank(), data.rank()));
  AOTC_ASSIGN_OR_RETURN(const int axis, op.Axis("axis", 0, data.rank()));
  const auto along = static_cast<size_t>(axis);
  AOTC_RETURN_IF_ERROR(RequireRank(updates, data.rank(), data.rank()));
  for (int d = 0; d < data.rank(); ++d) {
    AOTC_RETURN_IF_ERROR(op.RequireEqual(places.dim(d), updates.dim(d),
                                         "indices and updates have different shapes"));
    if (d == axis) continue;
    AOTC_RETURN_IF_ERROR(op.Require(Le(places.dim(d), data.dim(d)),
                                    StrCat("the indices are longer than the data along axis ", d)));
  }
  auto at = [&](const Indices& i, const Expr& r) {
    Indices indices = i;
    indices[along] = r;
    return indices;
  };
  auto hit = [&](const Indices& i, const Indices& r) {
    Expr within = HasIndices(scatter, axis, i, op.bounds());
    Expr named = Names(places(at(i, r[0])), data.dim(axis), i[along]);
    return within.IsConst() ? named : Select(within, named, Bool(false));
  };
  const Shape reduced = {places.dim(axis)};
  if (!scatter.combiner.empty()) {
    auto update = [&](const Indices& i, const Indices& r) { return updates(at(i, r[0])); };
    op.SetOutput(0, Combine(op.b(), scatter, reduced, hit, update));
    return absl::OkStatus();
  }
  auto position = [&](const Indices& i, const Indices& r) { return Select(hit(i, r), r[0], -1); };
  Tensor last = op.b().Reduce("max", DType::kI64, data.shape(), reduced, position);
  op.SetOutput(0, op.b().Compute(data.dtype(), data.shape(), [&](const Indices& i) {
    Expr within = HasIndices(scatter, axis, i, op.bounds());
    Expr update = updates.Stored(at(i, Clamp(last(i), 0, places.dim(axis) - 1)));
    return Select(And(within, Le(0, last(i))), update, data.Stored(i));
  }));
  return absl::OkStatus();
}

absl::Status CheckUpdates(OpContext& op, const Scatter& scatter, const Shape& rows, size_t depth) {
  Shape wanted = rows;
  wanted.insert(wanted.end(), scatter.data.shape().begin() + static_cast<int64_t>(depth),
                scatter.data.shape().end());
  constexpr const char* kWrong = "the updates do not have the shape of the slices to replace";
  if (wanted.size() != scatter.updates.shape().size()) {
    return AOTC_REFUSAL(InvalidArgument, kWrong);
  }
  for (size_t d = 0; d < wanted.size(); ++d) {
    AOTC_RETURN_IF_ERROR(op.RequireEqual(wanted[d], scatter.updates.shape()[d], kWrong));
  }
  return absl::OkStatus();
}

// The data with slices replaced: the last axis of the indices holds positions in its leading axes.
absl::Status ScatterNd(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Scatter scatter, ScatterOf(op));
  const Tensor &data = scatter.data, &places = scatter.places, &updates = scatter.updates;
  const std::optional<int64_t> known = places.dim(-1).AsInt();
  if (!known || *known < 1 || *known > data.rank()) {
    return AOTC_REFUSAL(InvalidArgument, "the indices do not fit the rank of the data");
  }
  const auto depth = static_cast<size_t>(*known);
  const Shape rows(places.shape().begin(), places.shape().end() - 1);
  AOTC_RETURN_IF_ERROR(CheckUpdates(op, scatter, rows, depth));
  auto hit = [&](const Indices& i, const Indices& r) {
    Expr all = Bool(true);
    for (size_t k = 0; k < depth; ++k) {
      Indices place = r;
      place.push_back(static_cast<int64_t>(k));
      Expr one = Names(places(place), data.shape()[k], i[k]);
      all = k == 0 ? one : And(all, one);
    }
    return all;
  };
  auto update_at = [&](Indices row, const Indices& i) {
    row.insert(row.end(), i.begin() + static_cast<int64_t>(depth), i.end());
    return row;
  };
  if (!scatter.combiner.empty()) {
    auto update = [&](const Indices& i, const Indices& r) { return updates(update_at(r, i)); };
    op.SetOutput(0, Combine(op.b(), scatter, rows, hit, update));
    return absl::OkStatus();
  }
  const Shape leading(data.shape().begin(), data.shape().begin() + static_cast<int64_t>(depth));
  auto position = [&](const Indices& i, const Indices& r) {
    return Select(hit(i, r), LinearIndex(r, RowMajorStrides(rows)), -1);
  };
  Tensor last = op.b().Reduce("max", DType::kI64, leading, rows, position);
  op.SetOutput(0, op.b().Compute(data.dtype(), data.shape(), [&](const Indices& i) {
    Expr found = last(Indices(i.begin(), i.begin() + static_cast<int64_t>(depth)));
    Expr update = updates.Stored(update_at(Unraveled(Max(found, 0), rows), i));
    return Select(Le(0, found), update, data.Stored(i));
  }));
  return absl::OkStatus();
}

// The gradient of x, input 0, by that of Gather(x, indices), input 2: the sum of all that were
// taken of an element. Ours.
absl::Status GatherGradient(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor places, op.Input(1));
  AOTC_ASSIGN_OR_RETURN(const Tensor g, op.Input(2));
  AOTC_RETURN_IF_ERROR(RequireSameType({x, g}));
  AOTC_RETURN_IF_ERROR(RequireFloat(g));
  AOTC_ASSIGN_OR_RETURN(const int axis, op.Axis("axis", 0, x.rank()));
  AOTC_RETURN_IF_ERROR(RequireRank(g, x.rank() + places.rank() - 1, x.rank() + places.rank() - 1));
  auto taken = [&](const Indices& i, const Indices& r) {
    Indices indices(i.begin(), i.begin() + axis);
    indices.insert(indices.end(), r.begin(), r.end());
    indices.insert(indices.end(), i.begin() + axis + 1, i.end());
    const Expr value = g(indices);
    const Expr is_hit = Names(places(r), x.dim(axis), i[static_cast<size_t>(axis)]);
    return Select(is_hit, value, Number(0, value));
  };
  const Shape& shape = x.shape();
  op.SetOutput(
      0, places.rank() == 0
             ? op.b().Compute(x.dtype(), shape, [&](const Indices& i) { return taken(i, {}); })
             : op.b().Convert(
                   op.b().Reduce("sum", ComputeType(x.dtype()), shape, places.shape(), taken),
                   x.dtype()));
  return absl::OkStatus();
}

absl::Status GradientOfGatherGradient(GradientContext& c) {
  c.GiveNothing(0);
  if (c.Wants(2)) {
    c.Give(2, c.OfResult().To("Gather", {c.Operand(1)}, {{"axis", c.attributes().Int("axis")}}));
  }
  return absl::OkStatus();
}

// Only by added updates; by the data then as they are.
absl::Status GradientOfScatterElements(GradientContext& c) {
  if (c.attributes().String("reduction", "none") != "add") {
    return AOTC_REFUSAL(Unimplemented, "only with reduction 'add'");
  }
  c.Give(0, c.OfResult());
  if (c.Wants(2)) {
    c.Give(2, c.OfResult().To("GatherElements", {c.Operand(1)},
                              {{"axis", c.attributes().Int("axis")}}));
  }
  return absl::OkStatus();
}

absl::Status GradientOfScatterNd(GradientContext& c) {
  if (c.attributes().String("reduction", "none") != "add") {
    return AOTC_REFUSAL(Unimplemented, "only with reduction 'add'");
  }
  c.Give(0, c.OfResult());
  if (c.Wants(2)) c.Give(2, c.OfResult().To("GatherND", {c.Operand(1)}));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "GatherGradient",
     .compute = GatherGradient,
     .summary = "the gradient of the tensor that Gather reads",
     .traits = kOwn,
     .gradient = GradientOfGatherGradient},
    {.name = "ScatterElements",
     .compute = ScatterElements,
     .summary = "a tensor with elements replaced at indices along an axis",
     .traits = kMovesOperands,
     .indices = IndexOperand{.axis = "axis"},
     .gradient = GradientOfScatterElements},
    {.name = "ScatterND",
     .compute = ScatterNd,
     .summary = "a tensor with slices replaced at positions in several axes",
     .traits = kMovesOperands,
     .indices = IndexOperand{.positions = true},
     .gradient = GradientOfScatterNd},
};

}  // namespace

std::span<const OpDef> ScatterOps() { return kOps; }

}  // namespace aotc
