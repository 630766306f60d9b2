// How constants lie in the weights for the loops of a kernel, where that is not as the kernel says:
// in the layouts and types that tile functions read. A kernel stays what it computes; what a
// contract packs stands beside it.
//
//   pack %w: f32(0/32, 1, 0%32)
#ifndef AOTC_COMPILER_IR_PACKING_H_
#define AOTC_COMPILER_IR_PACKING_H_

#include <vector>

#include "compiler/ir/kernel.h"

namespace aotc {

struct PackedConstant {
  TensorId tensor = {};
  DType dtype = DType::kF32;
  Layout layout = {};
};
using Packing = std::vector<PackedConstant>;

// The constants of `packed`, a kernel over the tensors of `kernel`, that lie elsewise there.
Packing PackingOf(const Kernel& kernel, const Kernel& packed);

// A tensor of the kernel as its loops find it in memory.
KernelTensor StoredTensor(const Kernel& kernel, const Packing& packing, TensorId tensor);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_PACKING_H_
