// How the items of a sequence lie in the tensors that stand for it (ir/bundle.h), as those tell by
// their types; and reading an item of one form as one of another.
//
//   ItemForm all = JoinForms(FormOf(elements, dims), FormOfItem(x), bounds);
//   op.SetOutput(0, op.b().Compute(x.dtype(), ElementsShape(all), [&](const Indices& i) { ... }));
#ifndef AOTC_COMPILER_OPS_ITEM_FORM_H_
#define AOTC_COMPILER_OPS_ITEM_FORM_H_

#include <string>

#include "compiler/ir/bundle.h"
#include "compiler/ops/op.h"

namespace aotc {

// kNone: there is no item, so that nothing is known of one. kFixed: each has those dims. kFree:
// each has a rank, and dims up to those. kFlat: each has any rank, and elements up to the one dim.
enum class ItemKind { kNone, kFixed, kFree, kFlat };

struct ItemForm {
  ItemKind kind = ItemKind::kNone;
  int64_t room = 0;  // in items
  Shape dims = {};   // numbers, but for kFixed
};

// Of a sequence with parts of these shapes. Error: no sequence has such parts.
absl::StatusOr<ItemForm> FormOf(const Shape& elements, const Shape& dims);
// Of a sequence of room 1 that holds a tensor.
ItemForm FormOfItem(const Shape& item);
// What holds the items of both. The room is the larger one.
ItemForm JoinForms(const ItemForm& a, const ItemForm& b, const Bounds& bounds);
bool SameForm(const ItemForm& a, const ItemForm& b, const Bounds& bounds);

Shape ElementsShape(const ItemForm& form);
// What is where no item has an element, as kernels compute with this type.
Expr ZeroOf(DType storage);
Shape DimsShape(const ItemForm& form);

// Items to read: those of a sequence, or one tensor, which is then item 0.
class ItemSource {
 public:
  ItemSource(ItemForm form, Tensor elements, Tensor dims)
      : form_(std::move(form)), elements_(elements), dims_(dims) {}
  static ItemSource OfTensor(const Tensor& x) {
    ItemSource source(FormOfItem(x.shape()), x, {});
    source.is_item_ = true;
    return source;
  }

  const ItemForm& form() const { return form_; }
  // Elements [k, i...] of what holds it in the form `to`; any value where the item has none there.
  Expr Element(const ItemForm& to, const Expr& k, const Indices& i) const;
  // Its dims as a row of the form `to`, of which `column` is an index.
  Expr Dim(const ItemForm& to, const Expr& k, const Expr& column) const;

 private:
  Expr DimOfAxis(const Expr& k, size_t axis) const;
  Expr Load(const Expr& k, Indices i) const;
  Expr Flat(const Expr& k, const Expr& place) const;

  ItemForm form_;
  Tensor elements_;
  Tensor dims_;  // not valid where the form has no columns
  bool is_item_ = false;
};

// Inputs `index` and the one behind it: elements and dims of a sequence. Error: they are none.
absl::StatusOr<ItemForm> FormOfInputs(const OpContext& op, size_t index);
absl::StatusOr<ItemSource> ItemsOfInputs(OpContext& op, size_t index);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_ITEM_FORM_H_
