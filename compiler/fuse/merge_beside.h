// Horizontal fusion: small elementwise kernels over one shape that do not depend on each other
// become one with several outputs. It saves launches and barriers, and reads what both read once.
//
//   %a[i] = exp(%x[i]);  ...;  %b[i] = sin(%x[i])   =>   one kernel with the outputs %a and %b
#ifndef AOTC_COMPILER_FUSE_MERGE_BESIDE_H_
#define AOTC_COMPILER_FUSE_MERGE_BESIDE_H_

#include "compiler/fuse/fuse.h"
#include "compiler/fuse/kernel_uses.h"

namespace aotc {

// The first of two moves down to the second, or that up to the first, whichever their readers and
// operands allow. `fused` has the views, and takes the decisions.
void MergeBeside(const Region& region, const KernelCosts& costs, FusedGraph& fused,
                 KernelSlots& kernels);

}  // namespace aotc

#endif  // AOTC_COMPILER_FUSE_MERGE_BESIDE_H_
