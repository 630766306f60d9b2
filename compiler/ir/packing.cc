#include "compiler/ir/packing.h"

#include <algorithm>

namespace aotc {

Packing PackingOf(const Kernel& kernel, const Kernel& packed) {
  Packing packing;
  for (TensorId id : kernel.tensors.ids()) {
    const KernelTensor &before = kernel.tensors[id], &after = packed.tensors[id];
    if (before.dtype == after.dtype && before.layout == after.layout) continue;
    packing.push_back({.tensor = id, .dtype = after.dtype, .layout = after.layout});
  }
  return packing;
}

KernelTensor StoredTensor(const Kernel& kernel, const Packing& packing, TensorId tensor) {
  KernelTensor stored = kernel.tensors[tensor];
  const auto found = std::ranges::find(packing, tensor, &PackedConstant::tensor);
  if (found == packing.end()) return stored;
  stored.dtype = found->dtype;
  stored.layout = found->layout;
  return stored;
}

}  // namespace aotc
