#include "compiler/ops/item_form.h"

#include <algorithm>
#include <utility>

#include "compiler/ops/helpers.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

int64_t Most(const Expr& dim, const Bounds& bounds) {
  return std::max<int64_t>(RangeOf(dim, bounds).max, 0);
}

int64_t MostElements(const ItemForm& form, const Bounds& bounds) {
  int64_t count = 1;
  for (const Expr& dim : form.dims) {
    if (__builtin_mul_overflow(count, Most(dim, bounds), &count)) return INT64_MAX;
  }
  return count;
}

Expr Product(const std::vector<Expr>& dims, size_t first) {
  Expr product = 1;
  for (size_t axis = first; axis < dims.size(); ++axis) product = product * dims[axis];
  return product;
}

}  // namespace

Expr ZeroOf(DType storage) {
  const DType compute = ComputeType(storage);
  return compute == DType::kBool ? Bool(false) : NumberConst(0, compute);
}

absl::StatusOr<ItemForm> FormOf(const Shape& elements, const Shape& dims) {
  const auto broken = [] { return absl::InternalError("these are no parts of a sequence"); };
  if (elements.empty() || dims.size() != 2) return broken();
  const std::optional<int64_t> room = elements[0].AsInt(), columns = dims[1].AsInt();
  if (!room || !columns || !dims[0].IsInt(*room)) return broken();
  if (*room == 0) return ItemForm();
  ItemForm form = {.kind = ItemKind::kFixed, .room = *room, .dims = elements};
  form.dims.erase(form.dims.begin());
  if (*columns == 0) return form;
  form.kind = *columns > kRankColumn ? ItemKind::kFlat : ItemKind::kFree;
  const size_t rank = form.kind == ItemKind::kFlat ? 1 : static_cast<size_t>(*columns);
  if (form.dims.size() != rank) return broken();
  return form;
}

ItemForm FormOfItem(const Shape& item) {
  return {.kind = ItemKind::kFixed, .room = 1, .dims = item};
}

bool SameForm(const ItemForm& a, const ItemForm& b, const Bounds& bounds) {
  if (a.kind != b.kind || a.room != b.room || a.dims.size() != b.dims.size()) return false;
  return std::ranges::equal(a.dims, b.dims, [&](const Expr& one, const Expr& other) {
    return ProveEqual(one, other, bounds);
  });
}

ItemForm JoinForms(const ItemForm& a, const ItemForm& b, const Bounds& bounds) {
  ItemForm join = a.kind == ItemKind::kNone ? b : a;
  join.room = std::max(a.room, b.room);
  if (a.kind == ItemKind::kNone || b.kind == ItemKind::kNone) return join;
  ItemForm other = b;
  other.room = join.room;
  if (SameForm(join, other, bounds)) return join;
  const bool flat = a.kind == ItemKind::kFlat || b.kind == ItemKind::kFlat;
  if (flat || a.dims.size() != b.dims.size()) {
    const int64_t most = std::max(MostElements(a, bounds), MostElements(b, bounds));
    return {.kind = ItemKind::kFlat, .room = join.room, .dims = {Expr(most)}};
  }
  join.kind = ItemKind::kFree;
  for (size_t axis = 0; axis < join.dims.size(); ++axis) {
    join.dims[axis] = std::max(Most(a.dims[axis], bounds), Most(b.dims[axis], bounds));
  }
  return join;
}

Shape ElementsShape(const ItemForm& form) {
  Shape shape = form.dims;
  shape.insert(shape.begin(), Expr(form.room));
  return shape;
}

Shape DimsShape(const ItemForm& form) {
  const auto rank = static_cast<int64_t>(form.dims.size());
  const int64_t columns = form.kind == ItemKind::kFlat   ? kRankColumn + 1
                          : form.kind == ItemKind::kFree ? rank
                                                         : 0;
  return {Expr(form.room), Expr(columns)};
}

Expr ItemSource::DimOfAxis(const Expr& k, size_t axis) const {
  return form_.kind == ItemKind::kFree ? dims_({k, Expr(static_cast<int64_t>(axis))})
                                       : form_.dims[axis];
}

Expr ItemSource::Load(const Expr& k, Indices i) const {
  if (!is_item_) i.insert(i.begin(), k);
  return elements_(i);
}

// The element at a row-major place of an item that lies in a box.
Expr ItemSource::Flat(const Expr& k, const Expr& place) const {
  Expr zero = ZeroOf(elements_.dtype());
  std::vector<Expr> dims;
  for (size_t axis = 0; axis < form_.dims.size(); ++axis) dims.push_back(DimOfAxis(k, axis));
  Indices i;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (form_.dims[axis].IsInt(0)) return zero;
    const Expr behind = FloorDiv(place, Max(Product(dims, axis + 1), 1));
    i.push_back(Clamp(Mod(behind, Max(dims[axis], 1)), 0, form_.dims[axis] - 1));
  }
  return Select(Lt(place, Product(dims, 0)), Load(k, i), zero);
}

Expr ItemSource::Element(const ItemForm& to, const Expr& k, const Indices& i) const {
  Expr zero = ZeroOf(elements_.dtype());
  if (form_.kind == ItemKind::kNone) return zero;
  if (to.kind == ItemKind::kFlat && form_.kind != ItemKind::kFlat) return Flat(k, i[0]);
  Expr inside = Bool(true);
  for (size_t axis = 0; axis < i.size(); ++axis) {
    inside = And(inside, Lt(i[axis], form_.dims[axis]));
  }
  return Select(inside, Load(k, i), zero);
}

Expr ItemSource::Dim(const ItemForm& to, const Expr& k, const Expr& column) const {
  if (form_.kind == ItemKind::kNone) return 0;
  if (form_.kind == ItemKind::kFlat) return dims_({k, column});
  if (form_.kind == ItemKind::kFree && to.kind == ItemKind::kFree) return dims_({k, column});
  Expr row = 0;
  if (to.kind == ItemKind::kFlat) {
    row = Select(Eq(column, kRankColumn), static_cast<int64_t>(form_.dims.size()), row);
  }
  for (size_t axis = 0; axis < form_.dims.size(); ++axis) {
    row = Select(Eq(column, static_cast<int64_t>(axis)), DimOfAxis(k, axis), row);
  }
  return row;
}

absl::StatusOr<ItemForm> FormOfInputs(const OpContext& op, size_t index) {
  if (!op.HasInput(index) || !op.HasInput(index + 1)) {
    return absl::InternalError("needs a sequence");
  }
  return FormOf(op.InputType(index).dims, op.InputType(index + 1).dims);
}

absl::StatusOr<ItemSource> ItemsOfInputs(OpContext& op, size_t index) {
  AOTC_ASSIGN_OR_RETURN(ItemForm form, FormOfInputs(op, index));
  AOTC_ASSIGN_OR_RETURN(const Tensor elements, op.Input(index));
  AOTC_ASSIGN_OR_RETURN(const Tensor dims, op.Input(index + 1));
  return ItemSource(std::move(form), elements, dims);
}

}  // namespace aotc
