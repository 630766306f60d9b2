// ConcatFromSequence of the items of a sequence, whose number and dims a run knows. Ours.
//
//   row   = ItemDims(elements, dims, 0)
//   total = ItemsTotal(elements, dims, length)              along the axis
//   agree = ItemsAgree(elements, dims, length)              0, or -1 where the items do not fit
//   y     = ItemsJoined(elements, dims, agree, row, total)
//
// Attributes: `axis`, of the result; with `new_axis` the items are stacked along it.
#include <utility>

#include "compiler/ops/helpers.h"
#include "compiler/ops/item_form.h"
#include "compiler/ops/items.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

struct Join {
  ItemSource items;
  ItemForm box;  // the form with a column of dims for each axis
  bool stacks = false;
  int axis = 0;  // of the result

  Expr SizeAt(const Expr& k) const { return stacks ? Expr(1) : items.Dim(box, k, axis); }
};

absl::StatusOr<Join> ReadJoin(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(ItemSource items, ItemsOfInputs(op, 0));
  if (items.form().kind == ItemKind::kFlat) {
    return AOTC_REFUSAL(InvalidArgument, "the items of the sequence may have different ranks");
  }
  if (items.form().kind == ItemKind::kNone) {
    return AOTC_REFUSAL(InvalidArgument, "the sequence is empty in every run");
  }
  Join join = {.items = items, .box = items.form()};
  join.box.kind = ItemKind::kFree;
  join.stacks = op.attributes().Int("new_axis") != 0;
  const int rank = static_cast<int>(join.box.dims.size()) + (join.stacks ? 1 : 0);
  AOTC_ASSIGN_OR_RETURN(join.axis, op.Axis("axis", 0, rank));
  return join;
}

// elements, dims, length -> i64 []
absl::Status ItemsTotal(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Join join, ReadJoin(op));
  const absl::StatusOr<std::vector<Expr>> known = op.IntElements(2);
  const bool even = join.stacks || join.items.form().kind == ItemKind::kFixed;
  if (even && known.ok()) {
    Expr total = (*known)[0] * join.SizeAt(0);
    op.SetOutput(0, op.b().Compute(DType::kI64, {}, [&](const Indices&) { return total; }));
    return absl::OkStatus();
  }
  AOTC_ASSIGN_OR_RETURN(const Tensor length, op.Input(2));
  op.SetOutput(0, op.b().Reduce("sum", DType::kI64, {}, {Expr(join.box.room)},
                                [&](const Indices&, const Indices& k) {
                                  return Select(Lt(k[0], length({})), join.SizeAt(k[0]), 0);
                                }));
  return absl::OkStatus();
}

// Whether item k fits to item 0: all dims but the one along which they are joined.
Expr Fits(const Join& join, const Expr& k) {
  Expr fits = Bool(true);
  for (int axis = 0; axis < static_cast<int>(join.box.dims.size()); ++axis) {
    if (axis == join.axis && !join.stacks) continue;
    fits = And(fits, Eq(join.items.Dim(join.box, k, axis), join.items.Dim(join.box, 0, axis)));
  }
  return fits;
}

// elements, dims, length -> i64 []
absl::Status ItemsAgree(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Join join, ReadJoin(op));
  AOTC_ASSIGN_OR_RETURN(const Tensor length, op.Input(2));
  const Tensor all = op.b().Reduce(
      "and", DType::kBool, {}, {Expr(join.box.room)},
      [&](const Indices&, const Indices& k) { return Or(Le(length({}), k[0]), Fits(join, k[0])); });
  op.SetOutput(0, op.b().Compute(DType::kI64, {}, [&](const Indices&) {
    return Select(And(all({}), Lt(0, length({}))), 0, -1);
  }));
  return absl::OkStatus();
}

// The shape of the result.
absl::StatusOr<Shape> JoinedShape(OpContext& op, const Join& join) {
  AOTC_ASSIGN_OR_RETURN(Shape shape, DimsOfItem(op, join.items.form(), 3));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Expr> total, op.IntElements(4));
  const auto axis = static_cast<size_t>(join.axis);
  Expr most = join.box.room;
  if (!join.stacks) most = most * join.box.dims[axis];
  const Expr size = op.Size(Max(total[0], 0), 0, join.axis, most);
  if (join.stacks) {
    shape.insert(shape.begin() + join.axis, size);
  } else {
    shape[axis] = size;
  }
  return shape;
}

// Where each item begins: i64[room]
Tensor Starts(TensorBuilder& b, const Join& join) {
  const Shape room = {Expr(join.box.room)};
  return b.Reduce("sum", DType::kI64, room, room, [&](const Indices& i, const Indices& k) {
    return Select(Lt(k[0], i[0]), join.SizeAt(k[0]), 0);
  });
}

// elements, dims, agree, row, total -> y
absl::Status ItemsJoined(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Join join, ReadJoin(op));
  AOTC_ASSIGN_OR_RETURN(const Shape shape, JoinedShape(op, join));
  const auto axis = static_cast<size_t>(join.axis);
  const DType dtype = op.InputType(0).dtype;
  const ItemForm& form = join.items.form();
  const Expr last = join.box.room - 1;
  if (join.stacks) {
    op.SetOutput(0, op.b().Compute(dtype, shape, [&](Indices i) {
      const Expr k = Min(i[axis], last);
      i.erase(i.begin() + join.axis);
      return join.items.Element(form, k, i);
    }));
    return absl::OkStatus();
  }
  if (form.kind == ItemKind::kFixed) {
    const Expr each = Max(form.dims[axis], 1);
    op.SetOutput(0, op.b().Compute(dtype, shape, [&](Indices i) {
      const Expr k = Min(FloorDiv(i[axis], each), last);
      i[axis] = Mod(i[axis], each);
      return join.items.Element(form, k, i);
    }));
    return absl::OkStatus();
  }
  const Tensor starts = Starts(op.b(), join);
  // The last item that begins there or before, but for empty ones at the end: their number.
  const Shape joined = {shape[axis]};
  const Tensor item = op.b().Reduce("sum", DType::kI64, joined, {Expr(join.box.room)},
                                    [&](const Indices& i, const Indices& k) {
                                      const Expr end = starts(k) + join.SizeAt(k[0]);
                                      return Select(Le(end, i[0]), Expr(1), Expr(0));
                                    });
  op.SetOutput(0, op.b().Compute(dtype, shape, [&](Indices i) {
    const Expr k = Clamp(item({i[axis]}), 0, last);
    i[axis] = Clamp(i[axis] - starts({k}), 0, form.dims[axis] - 1);
    return join.items.Element(form, k, i);
  }));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "ItemsAgree",
     .compute = ItemsAgree,
     .summary = "whether items can be joined",
     .traits = kOwn},
    {.name = "ItemsJoined",
     .compute = ItemsJoined,
     .summary = "the items of a sequence along an axis",
     .traits = kOwn,
     .indices = IndexOperand{.input = 2, .from_end = false}},
    {.name = "ItemsTotal",
     .compute = ItemsTotal,
     .summary = "how long the items of a sequence are along an axis",
     .traits = kOwn | kCounts},
};

}  // namespace

std::span<const OpDef> JoinedItemOps() { return kOps; }

}  // namespace aotc
