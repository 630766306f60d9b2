// The last step of building a kernel: drops what no output needs, numbers the axes, simplifies.
//
//   Kernel clean = CleanKernel(std::move(kernel));   // stages over "$i7" -> stages over "i0"
#ifndef AOTC_COMPILER_OPS_KERNEL_CLEANUP_H_
#define AOTC_COMPILER_OPS_KERNEL_CLEANUP_H_

#include "compiler/ir/kernel.h"

namespace aotc {

// Stages whose results reach no output, tensors that nothing reads and symbols that nothing names
// are dropped; ids are renumbered in order. Axes become i0, i1 ... and r0, r1 ..., unique in the
// kernel and different from all symbols. Shapes and bodies are simplified within the bounds of
// their stage, reductions lose taps that only read padding, and stages over no elements all that
// they read. Sizes that a symbol has the value of become that symbol; the kernel keeps neither the
// value nor checks over symbols that it does not have.
Kernel CleanKernel(Kernel kernel);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_KERNEL_CLEANUP_H_
