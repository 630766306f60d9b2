#include "compiler/ir/access.h"

#include <optional>

namespace aotc {
namespace {

// The operands of a conjunction.
void Conjuncts(const Expr& e, std::vector<Expr>& out) {
  if (e.op() != ExprOp::kAnd) return out.push_back(e);
  Conjuncts(e.arg(0), out);
  Conjuncts(e.arg(1), out);
}

// The single load in `e` under casts, or null.
Expr GuardedLoad(const Expr& e) {
  if (e.op() == ExprOp::kLoad) return e;
  if (e.op() == ExprOp::kCast) return GuardedLoad(e.arg(0));
  return {};
}

Halo HaloOf(const Layout& layout, size_t axis) {
  return layout.halo.empty() ? Halo{} : layout.halo[axis];
}

// Elements of an axis in storage: blocks are whole, and hold zeros beyond the logical extent.
Expr PaddedExtent(const KernelTensor& tensor, size_t axis) {
  for (const StorageAxis& storage : tensor.layout.axes) {
    if (storage.axis != static_cast<int>(axis) || storage.modulus == 0) continue;
    return Simplify(CeilDiv(tensor.shape[axis], storage.modulus) * storage.modulus);
  }
  return tensor.shape[axis];
}

// True if `condition` being false puts some index outside the logical extents.
bool IsBoundsCheck(const Expr& condition, const Expr& load, const Shape& shape,
                   const Bounds& bounds) {
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const Expr& index = load.arg(axis);
    // The check is equivalent to 0 <= index or to index < extent.
    for (const Expr& test : {Le(Expr(0), index), Lt(index, shape[axis])}) {
      if (Same(Simplify(condition, bounds), Simplify(test, bounds))) return true;
    }
  }
  return false;
}

}  // namespace

std::vector<Expr> StorageStrides(const KernelTensor& tensor) {
  if (!tensor.strides.empty()) return tensor.strides;
  return RowMajorStrides(StorageShape(tensor.layout, tensor.shape));
}

Expr Access::Offset(TensorId id, const std::vector<Expr>& indices, const Bounds& bounds) const {
  const KernelTensor& tensor = kernel_.tensors[id];
  const std::vector<Expr> storage = StorageIndices(tensor.layout, indices);
  return Simplify(LinearIndex(storage, StorageStrides(tensor)), bounds);
}

bool Access::InStorage(TensorId id, const std::vector<Expr>& indices, const Bounds& bounds) const {
  const KernelTensor& tensor = kernel_.tensors[id];
  Layout layout = tensor.layout;
  if (tensor.role == TensorRole::kTemp) layout.halo.clear();  // it has none
  const std::vector<Expr> storage = StorageIndices(layout, indices);
  const Shape extents = StorageShape(layout, tensor.shape);
  for (size_t i = 0; i < storage.size(); ++i) {
    if (!Prove(Le(Expr(0), storage[i]), bounds).value_or(false)) return false;
    if (!Prove(Lt(storage[i], extents[i]), bounds).value_or(false)) return false;
  }
  return true;
}

Expr Access::DropHaloGuard(const Expr& select, const Bounds& bounds) const {
  const Expr load = GuardedLoad(select.arg(1));
  const Expr& otherwise = select.arg(2);
  if (!load.valid() || !otherwise.IsConst()) return select;
  const KernelTensor& tensor = kernel_.tensors[load->tensor];
  if (tensor.role == TensorRole::kTemp) return select;  // it has no halo
  const double fill = IsFloat(otherwise.dtype()) ? otherwise->float_value
                                                 : static_cast<double>(otherwise->int_value);
  if (!tensor.layout.HasHalo() || fill != tensor.layout.fill) return select;
  for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    const Halo halo = HaloOf(tensor.layout, axis);
    const Expr& index = load.arg(axis);
    if (!Prove(Le(Expr(-halo.before), index), bounds).value_or(false)) return select;
    const Expr end = PaddedExtent(tensor, axis) + halo.after;
    if (!Prove(Lt(index, end), bounds).value_or(false)) return select;
  }
  std::vector<Expr> conditions;
  Conjuncts(select.arg(0), conditions);
  for (const Expr& condition : conditions) {
    if (!IsBoundsCheck(condition, load, tensor.shape, bounds)) return select;
  }
  return select.arg(1);
}

Expr Access::Flatten(const Expr& e, const Bounds& bounds) const {
  const bool is_temp =
      e.op() == ExprOp::kLoad && kernel_.tensors[e->tensor].role == TensorRole::kTemp;
  if (e.op() == ExprOp::kLoad && !is_temp) {
    std::vector<Expr> indices;
    for (const Expr& index : e.args()) indices.push_back(Flatten(index, bounds));
    ExprNode flat = *Load(e->tensor, {Offset(e->tensor, indices, bounds)}, e.dtype());
    if (!InStorage(e->tensor, indices, bounds)) flat.guarded = true;
    return Expr::Make(std::move(flat));
  }
  if (e.op() == ExprOp::kSelect) {
    const Expr kept = DropHaloGuard(e, bounds);
    if (kept.op() != ExprOp::kSelect) return Flatten(kept, bounds);
  }
  std::vector<Expr> args;
  for (const Expr& arg : e.args()) args.push_back(Flatten(arg, bounds));
  return args.empty() ? e : WithArgs(e, std::move(args));
}

}  // namespace aotc
