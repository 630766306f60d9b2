// Sequences as tensors (ir/bundle.h): what holds the items of a sequence that is made of tensors,
// grows, shrinks, or is given room. Ours: import/sequence_ops.cc writes the operators of ONNX with
// them. What gives elements and what gives dims are ops of their own, so that dims which no run
// changes are constants.
//
// A place is the position of an item; one that is not there is -1, which the check of indices
// (fuse/index_checks.h) finds.
#include "compiler/ops/items.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/str_split.h"
#include "compiler/ir/expr_text.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/item_form.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr std::string_view kKindNames[] = {"none", "fixed", "free", "flat"};

// --- Made of tensors --------------------------------------------------------------------------

absl::StatusOr<std::vector<ItemSource>> Operands(OpContext& op) {
  std::vector<ItemSource> items;
  std::vector<Tensor> tensors;
  for (size_t k = 0; k < op.InputCount(); ++k) {
    AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(k));
    tensors.push_back(x);
    items.push_back(ItemSource::OfTensor(x));
  }
  if (items.empty()) return absl::InternalError("needs a tensor");
  AOTC_RETURN_IF_ERROR(RequireSameType(tensors));
  return items;
}

ItemForm FormOfAll(const std::vector<ItemSource>& items, const Bounds& bounds) {
  ItemForm form = items[0].form();
  for (const ItemSource& item : items) form = JoinForms(form, item.form(), bounds);
  form.room = static_cast<int64_t>(items.size());
  return form;
}

// What `of` says of the item that `k` names, halving long chains of choices.
Expr Chosen(size_t first, size_t end, const Expr& k, const std::function<Expr(size_t)>& of) {
  if (end - first == 1) return of(first);
  const size_t middle = first + (end - first) / 2;
  return Select(Lt(k, static_cast<int64_t>(middle)), Chosen(first, middle, k, of),
                Chosen(middle, end, k, of));
}

// x0, x1 ... -> elements
absl::Status ItemsPack(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const std::vector<ItemSource> items, Operands(op));
  const ItemForm form = FormOfAll(items, op.bounds());
  const DType dtype = op.InputType(0).dtype;
  op.SetOutput(0, op.b().Compute(dtype, ElementsShape(form), [&](const Indices& i) {
    const Indices within(i.begin() + 1, i.end());
    return Chosen(0, items.size(), i[0],
                  [&](size_t k) { return items[k].Element(form, 0, within); });
  }));
  return absl::OkStatus();
}

// x0, x1 ... -> dims
absl::Status ItemsPackDims(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const std::vector<ItemSource> items, Operands(op));
  const ItemForm form = FormOfAll(items, op.bounds());
  op.SetOutput(0, op.b().Compute(DType::kI64, DimsShape(form), [&](const Indices& i) {
    return Chosen(0, items.size(), i[0], [&](size_t k) { return items[k].Dim(form, 0, i[1]); });
  }));
  return absl::OkStatus();
}

// --- Changed by one item ----------------------------------------------------------------------

struct Insertion {
  ItemSource items;
  ItemSource item;
  ItemForm form;
  Expr place;
};

// The place of input `index`, which is clamped into 0 .. last.
absl::StatusOr<Expr> PlaceIn(OpContext& op, size_t index, int64_t last) {
  const absl::StatusOr<std::vector<Expr>> known = op.IntElements(index);
  if (known.ok() && known->size() == 1) return Clamp((*known)[0], 0, last);
  AOTC_ASSIGN_OR_RETURN(const Tensor place, op.Input(index));
  AOTC_RETURN_IF_ERROR(RequireRank(place, 0, 0));
  return Clamp(place({}), 0, last);
}

absl::StatusOr<Insertion> ReadInsertion(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(ItemSource items, ItemsOfInputs(op, 0));
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(3));
  if (op.InputType(0).dtype != x.dtype()) {
    return AOTC_REFUSAL(InvalidArgument,
                        StrCat("a tensor of ", TypeName(x.dtype()), " is to go into a sequence of ",
                               TypeName(op.InputType(0).dtype)));
  }
  ItemSource item = ItemSource::OfTensor(x);
  ItemForm form = JoinForms(items.form(), item.form(), op.bounds());
  form.room = items.form().room + 1;
  AOTC_ASSIGN_OR_RETURN(const Expr place, PlaceIn(op, 2, items.form().room));
  return Insertion{std::move(items), std::move(item), std::move(form), place};
}

// The item behind the insertion that takes place k: `old(j)` of item j before it, or `inserted`.
Expr AfterInsertion(const Insertion& insertion, const Expr& k, const Expr& inserted,
                    const std::function<Expr(const Expr&)>& old) {
  const int64_t room = insertion.items.form().room;
  if (room == 0) return inserted;
  return Select(Lt(k, insertion.place), old(Min(k, room - 1)),
                Select(Eq(k, insertion.place), inserted, old(Clamp(k - 1, 0, room - 1))));
}

// elements, dims, place, x -> elements, with x in front of the item at that place
absl::Status ItemsInsert(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Insertion insertion, ReadInsertion(op));
  const ItemForm& form = insertion.form;
  const DType dtype = op.InputType(0).dtype;
  op.SetOutput(0, op.b().Compute(dtype, ElementsShape(form), [&](const Indices& i) {
    const Indices within(i.begin() + 1, i.end());
    return AfterInsertion(insertion, i[0], insertion.item.Element(form, 0, within),
                          [&](const Expr& k) { return insertion.items.Element(form, k, within); });
  }));
  return absl::OkStatus();
}

// elements, dims, place, x -> dims
absl::Status ItemsInsertDims(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Insertion insertion, ReadInsertion(op));
  const ItemForm& form = insertion.form;
  op.SetOutput(0, op.b().Compute(DType::kI64, DimsShape(form), [&](const Indices& i) {
    return AfterInsertion(insertion, i[0], insertion.item.Dim(form, 0, i[1]),
                          [&](const Expr& k) { return insertion.items.Dim(form, k, i[1]); });
  }));
  return absl::OkStatus();
}

// rows, place -> rows without that one, and any row at the end; of elements and of dims alike
absl::Status ItemsErase(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor rows, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireRank(rows, 1));
  const Shape& shape = rows.shape();
  const std::optional<int64_t> room = shape[0].AsInt();
  if (!room || *room < 1) return AOTC_REFUSAL(InvalidArgument, "the sequence is empty");
  AOTC_ASSIGN_OR_RETURN(const Expr place, PlaceIn(op, 1, *room - 1));
  op.SetOutput(0, op.b().Compute(rows.dtype(), shape, [&](Indices i) {
    i[0] = Select(Lt(i[0], place), i[0], Min(i[0] + 1, *room - 1));
    return rows.Stored(i);
  }));
  return absl::OkStatus();
}

// --- Given room -------------------------------------------------------------------------------

absl::StatusOr<Shape> DimsOfText(const std::string& text) {
  Shape dims;
  for (const auto& part : absl::StrSplit(text, ';', absl::SkipEmpty())) {
    AOTC_ASSIGN_OR_RETURN(Expr dim, ParseExpr(std::string_view(part.data(), part.size())));
    dims.push_back(std::move(dim));
  }
  return dims;
}

// What the attributes ask for; where they leave the form open, or have been overtaken, that of the
// input.
absl::StatusOr<ItemForm> RoomForm(const OpContext& op, const ItemForm& from) {
  const std::string kind = op.attributes().String(kRoomKind);
  if (kind.empty()) return from;
  const auto named = std::ranges::find(kKindNames, kind);
  if (named == std::end(kKindNames)) {
    return absl::InternalError(StrCat("'", kind, "' is no form of items"));
  }
  ItemForm to = {.kind = static_cast<ItemKind>(named - std::begin(kKindNames))};
  AOTC_ASSIGN_OR_RETURN(to.dims, DimsOfText(op.attributes().String(kRoomDims)));
  to = JoinForms(to, from, op.bounds());
  to.room = op.attributes().Int(kRoomItems);
  return to;
}

struct Room {
  ItemSource from;
  ItemForm to;
  Expr Row(const Expr& k) const { return Min(k, std::max<int64_t>(from.form().room - 1, 0)); }
};

absl::StatusOr<Room> ReadRoom(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(ItemSource from, ItemsOfInputs(op, 0));
  AOTC_ASSIGN_OR_RETURN(ItemForm to, RoomForm(op, from.form()));
  return Room{std::move(from), std::move(to)};
}

// elements, dims -> elements with the room of the attributes
absl::Status ItemsRoom(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Room room, ReadRoom(op));
  const DType dtype = op.InputType(0).dtype;
  op.SetOutput(0, op.b().Compute(dtype, ElementsShape(room.to), [&](const Indices& i) {
    return room.from.Element(room.to, room.Row(i[0]), {i.begin() + 1, i.end()});
  }));
  return absl::OkStatus();
}

// elements, dims -> dims of the same
absl::Status ItemsRoomDims(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Room room, ReadRoom(op));
  op.SetOutput(0, op.b().Compute(DType::kI64, DimsShape(room.to), [&](const Indices& i) {
    return room.from.Dim(room.to, room.Row(i[0]), i[1]);
  }));
  return absl::OkStatus();
}

// elements, length -> length, which is checked to be within the room
absl::Status ItemsWithin(OpContext& op) {
  const Shape& elements = op.InputType(0).dims;
  if (elements.empty()) return absl::InternalError("needs a sequence");
  AOTC_ASSIGN_OR_RETURN(const Tensor length, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireRank(length, 0, 0));
  op.SetOutput(0, op.b().Compute(DType::kI64, {}, [&](const Indices&) {
    return Clamp(length({}), 0, elements[0]);
  }));
  return absl::OkStatus();
}

// length, has: bool [] -> length, or -1 where there is no sequence
absl::Status ItemsPresent(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor length, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor has, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireRank(length, 0, 0));
  AOTC_RETURN_IF_ERROR(RequireRank(has, 0, 0));
  op.SetOutput(0, op.b().Compute(DType::kI64, {},
                                 [&](const Indices&) { return Select(has({}), length({}), -1); }));
  return absl::OkStatus();
}

// --- Read -------------------------------------------------------------------------------------

// position: one integer, length: i64 [] -> place. A position of [-length, length) counts from the
// end where it is negative; with `inclusive` the length itself is one too.
absl::Status ItemPlace(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor position, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor length, op.Input(1));
  if (!IsInteger(position.dtype()))
    return AOTC_REFUSAL(InvalidArgument, "needs an integer position");
  if (!ElementCount(position.shape()).IsInt(1)) {
    return AOTC_REFUSAL(InvalidArgument, "needs one position");
  }
  const int64_t inclusive = op.attributes().Int("inclusive");
  const Indices first(static_cast<size_t>(position.rank()), Expr(0));
  op.SetOutput(0, op.b().Compute(DType::kI64, {}, [&](const Indices&) {
    const Expr given = Cast(DType::kI64, position(first)), count = length({});
    const Expr from_start = Select(Lt(given, 0), given + count, given);
    const Expr valid = And(Le(0, from_start), Lt(from_start, count + inclusive));
    return Select(valid, from_start, -1);
  }));
  return absl::OkStatus();
}

absl::StatusOr<ItemSource> BoxedItems(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(ItemSource items, ItemsOfInputs(op, 0));
  if (items.form().kind == ItemKind::kFlat) {
    return AOTC_REFUSAL(
        Unimplemented,
        "the items of the sequence may have different ranks, so that only a run knows that of this "
        "one; hint: give the items of a sequence one rank");
  }
  if (items.form().kind == ItemKind::kNone) {
    return AOTC_REFUSAL(InvalidArgument, "the sequence is empty in every run");
  }
  return items;
}

// elements, dims, place -> the dims of the item there, i64[rank]
absl::Status ItemDims(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const ItemSource items, BoxedItems(op));
  AOTC_ASSIGN_OR_RETURN(const Expr place, PlaceIn(op, 2, items.form().room - 1));
  ItemForm box = items.form();
  box.kind = ItemKind::kFree;
  const Shape shape = {Expr(static_cast<int64_t>(box.dims.size()))};
  op.SetOutput(0, op.b().Compute(DType::kI64, shape,
                                 [&](const Indices& i) { return items.Dim(box, place, i[0]); }));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Shape> DimsOfItem(OpContext& op, const ItemForm& form, size_t row) {
  if (form.kind != ItemKind::kFree) return form.dims;
  AOTC_ASSIGN_OR_RETURN(Shape dims, op.IntElements(row));
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    AOTC_RETURN_IF_ERROR(op.Require(
        And(Le(0, dims[axis]), Le(dims[axis], form.dims[axis])),
        StrCat("an item is longer along axis ", axis, " than the sequence has room for")));
  }
  return dims;
}

namespace {

// elements, dims, place, row: i64[rank], the dims of the item there -> that item
absl::Status ItemAt(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const ItemSource items, BoxedItems(op));
  AOTC_ASSIGN_OR_RETURN(const Expr place, PlaceIn(op, 2, items.form().room - 1));
  AOTC_ASSIGN_OR_RETURN(const Shape dims, DimsOfItem(op, items.form(), 3));
  const DType dtype = op.InputType(0).dtype;
  op.SetOutput(0, op.b().Compute(dtype, dims, [&](const Indices& i) {
    return items.Element(items.form(), place, i);
  }));
  return absl::OkStatus();
}

// Places are checked against the room; those that are none were made -1.
constexpr IndexOperand PlaceOperand(size_t input, bool inclusive) {
  return {.input = input, .from_end = false, .inclusive = inclusive};
}

constexpr OpDef kOps[] = {
    {.name = "ItemAt",
     .compute = ItemAt,
     .summary = "an item of a sequence",
     .traits = kOwn,
     .indices = PlaceOperand(2, false)},
    {.name = "ItemDims",
     .compute = ItemDims,
     .summary = "the dims of an item of a sequence",
     .traits = kOwn | kCounts},
    {.name = "ItemPlace",
     .compute = ItemPlace,
     .summary = "where a position in a sequence is",
     .traits = kOwn},
    {.name = "ItemsErase",
     .compute = ItemsErase,
     .summary = "the items of a sequence without one",
     .traits = kOwn,
     .indices = PlaceOperand(1, false)},
    {.name = "ItemsInsert",
     .compute = ItemsInsert,
     .summary = "the items of a sequence with another one",
     .traits = kOwn,
     .indices = PlaceOperand(2, true)},
    {.name = "ItemsInsertDims",
     .compute = ItemsInsertDims,
     .summary = "the dims of the items of a sequence with another one",
     .traits = kOwn,
     .indices = PlaceOperand(2, true)},
    {.name = "ItemsPack",
     .compute = ItemsPack,
     .summary = "tensors as the items of a sequence",
     .traits = kOwn},
    {.name = "ItemsPackDims",
     .compute = ItemsPackDims,
     .summary = "the dims of tensors as items of a sequence",
     .traits = kOwn | kReadsShapeOnly},
    {.name = "ItemsPresent",
     .compute = ItemsPresent,
     .summary = "the length of the sequence of an optional",
     .traits = kOwn},
    {.name = kItemsRoom,
     .compute = ItemsRoom,
     .summary = "the items of a sequence with more room",
     .traits = kOwn},
    {.name = kItemsRoomDims,
     .compute = ItemsRoomDims,
     .summary = "the dims of the items of a sequence with more room",
     .traits = kOwn},
    {.name = "ItemsWithin",
     .compute = ItemsWithin,
     .summary = "the length of a sequence, within its room",
     .traits = kOwn,
     .indices = PlaceOperand(1, true)},
};

}  // namespace

void SetRoom(const ItemForm& form, Attributes& attributes) {
  attributes.Set(kRoomItems, form.room);
  attributes.Set(kRoomKind, std::string(kKindNames[static_cast<size_t>(form.kind)]));
  attributes.Set(kRoomDims,
                 StrJoin(form.dims, ";", [](const Expr& dim) { return PrintExpr(dim); }));
}

std::span<const OpDef> ItemOps() { return kOps; }

}  // namespace aotc
