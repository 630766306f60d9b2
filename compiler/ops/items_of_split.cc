// SplitToSequence as the items of a sequence: elements, dims and length by an op each. Ours.
//
// Inputs: x, and the sizes along attribute `axis`: absent (1 each; without the axis where attribute
// `keepdims` is 0), one for all but the last, or a list. Where only a run knows the sizes, they are
// symbols.
#include <algorithm>
#include <utility>

#include "compiler/ops/helpers.h"
#include "compiler/ops/item_form.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

struct Cut {
  int axis = 0;
  bool keeps_axis = true;
  Expr dim = {};                 // of the axis
  Expr count = {};               // of parts
  Expr size = {};                // of each part but the last one; invalid with a list
  std::vector<Expr> sizes = {};  // of a list
  ItemForm form = {};

  Expr SizeAt(const Expr& k) const {
    if (size.valid()) return Clamp(dim - k * size, 0, size);
    return Chosen(sizes, k);
  }
  Expr StartAt(const Expr& k) const {
    if (size.valid()) return k * size;
    std::vector<Expr> starts;
    Expr start = 0;
    for (const Expr& each : sizes) {
      starts.push_back(start);
      start = start + each;
    }
    return Chosen(starts, k);
  }

 private:
  static Expr Chosen(const std::vector<Expr>& values, const Expr& k) {
    Expr chosen = values.back();
    for (size_t i = values.size() - 1; i-- > 0;) {
      chosen = Select(Eq(k, static_cast<int64_t>(i)), values[i], chosen);
    }
    return chosen;
  }
};

absl::Status ReadOneSize(OpContext& op, const Expr& size, Cut& cut) {
  AOTC_RETURN_IF_ERROR(op.Require(Le(1, size), "the size of the parts is not positive"));
  cut.size = size;
  cut.count = Simplify(CeilDiv(cut.dim, Max(size, 1)), op.bounds());
  return absl::OkStatus();
}

absl::Status ReadSizes(OpContext& op, std::vector<Expr> sizes, Cut& cut) {
  Expr total = 0;
  for (const Expr& size : sizes) {
    AOTC_RETURN_IF_ERROR(op.Require(And(Le(0, size), Le(size, RangeOf(cut.dim, op.bounds()).max)),
                                    "a part has a size beyond the axis"));
    total = total + size;
  }
  AOTC_RETURN_IF_ERROR(
      op.RequireEqual(total, cut.dim, "the sizes do not add up to the dim of the axis"));
  cut.count = static_cast<int64_t>(sizes.size());
  cut.sizes = std::move(sizes);
  return absl::OkStatus();
}

// Whether all parts have the same size.
bool IsEven(const Cut& cut, const Bounds& bounds) {
  if (cut.size.valid()) return ProveEqual(Mod(cut.dim, Max(cut.size, 1)), 0, bounds);
  return std::ranges::all_of(
      cut.sizes, [&](const Expr& size) { return ProveEqual(size, cut.sizes[0], bounds); });
}

ItemForm FormOfParts(const Cut& cut, Shape item, const Bounds& bounds) {
  ItemForm form = {.room = std::max<int64_t>(RangeOf(cut.count, bounds).max, 0)};
  if (form.room == 0) return form;
  const auto axis = static_cast<size_t>(cut.axis);
  const Expr first = cut.size.valid() ? cut.size : cut.sizes[0];
  form.kind = ItemKind::kFixed;
  if (!cut.keeps_axis) {
    item.erase(item.begin() + cut.axis);
  } else if (IsEven(cut, bounds)) {
    item[axis] = Simplify(first, bounds);
  } else {
    form.kind = ItemKind::kFree;
    Expr longest = cut.size.valid() ? Min(cut.size, cut.dim) : first;
    for (const Expr& size : cut.sizes) longest = Max(longest, size);
    item[axis] = Min(longest, cut.dim);
    for (Expr& dim : item) dim = std::max<int64_t>(RangeOf(dim, bounds).max, 0);
  }
  form.dims = std::move(item);
  return form;
}

absl::StatusOr<Cut> ReadCut(OpContext& op, const Shape& dims) {
  Cut cut;
  AOTC_ASSIGN_OR_RETURN(cut.axis, op.Axis("axis", 0, static_cast<int>(dims.size())));
  cut.dim = dims[static_cast<size_t>(cut.axis)];
  if (!op.HasInput(1)) {
    cut.keeps_axis = op.attributes().Int("keepdims", 1) != 0;
    AOTC_RETURN_IF_ERROR(ReadOneSize(op, 1, cut));
  } else {
    AOTC_ASSIGN_OR_RETURN(const std::vector<Expr> sizes, op.IntElements(1));
    if (op.InputType(1).dims.size() > 1) {
      return AOTC_REFUSAL(InvalidArgument, "the sizes are neither one nor a list");
    }
    const bool is_list = op.InputType(1).dims.size() == 1;
    if (is_list && sizes.empty())
      return AOTC_REFUSAL(InvalidArgument, "the list of sizes is empty");
    AOTC_RETURN_IF_ERROR(is_list ? ReadSizes(op, sizes, cut) : ReadOneSize(op, sizes[0], cut));
  }
  cut.form = FormOfParts(cut, dims, op.bounds());
  return cut;
}

// x, sizes -> elements
absl::Status ItemsOfSplit(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(0));
  const Shape& dims = x.shape();
  AOTC_ASSIGN_OR_RETURN(const Cut cut, ReadCut(op, dims));
  op.SetOutput(0, op.b().Compute(x.dtype(), ElementsShape(cut.form), [&](Indices i) {
    if (cut.form.kind == ItemKind::kNone) return ZeroOf(x.dtype());
    const Expr k = i[0];
    i.erase(i.begin());
    if (!cut.keeps_axis) i.insert(i.begin() + cut.axis, Expr(0));
    Expr& at = i[static_cast<size_t>(cut.axis)];
    at = Clamp(cut.StartAt(k) + at, 0, cut.dim - 1);
    for (size_t axis = 0; axis < dims.size(); ++axis) i[axis] = Min(i[axis], dims[axis] - 1);
    return x.Stored(i);
  }));
  return absl::OkStatus();
}

absl::StatusOr<Cut> ReadCutOfType(OpContext& op) {
  if (!op.HasInput(0) || !op.InputType(0).ranked) {
    return absl::InternalError("needs a tensor of known rank");
  }
  return ReadCut(op, op.InputType(0).dims);
}

// x, sizes -> dims
absl::Status ItemsOfSplitDims(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Cut cut, ReadCutOfType(op));
  const Shape& x = op.InputType(0).dims;
  op.SetOutput(0, op.b().Compute(DType::kI64, DimsShape(cut.form), [&](const Indices& i) {
    Expr row = 0;
    for (size_t axis = 0; axis < x.size(); ++axis) {
      const bool is_cut = static_cast<int>(axis) == cut.axis;
      row = Select(Eq(i[1], static_cast<int64_t>(axis)), is_cut ? cut.SizeAt(i[0]) : x[axis], row);
    }
    return row;
  }));
  return absl::OkStatus();
}

// x, sizes -> length
absl::Status ItemsOfSplitLength(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Cut cut, ReadCutOfType(op));
  op.SetOutput(0, op.b().Compute(DType::kI64, {}, [&](const Indices&) { return cut.count; }));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "ItemsOfSplit",
     .compute = ItemsOfSplit,
     .summary = "parts along an axis as the items of a sequence",
     .traits = kOwn},
    {.name = "ItemsOfSplitDims",
     .compute = ItemsOfSplitDims,
     .summary = "the dims of parts along an axis",
     .traits = kOwn | kReadsShapeOnly},
    {.name = "ItemsOfSplitLength",
     .compute = ItemsOfSplitLength,
     .summary = "how many parts there are along an axis",
     .traits = kOwn | kReadsShapeOnly},
};

}  // namespace

std::span<const OpDef> ItemsOfSplitOps() { return kOps; }

}  // namespace aotc
