// Copies of a value that are to be parts of a join whose parts step over one another: kernels of
// their own, so that whatever makes the value can write them as well.
//
//   %x0 = Identity(%x), %x1 = Identity(%x), %y = Interleave(%x0, %x1)       // %x0, %x1
#ifndef AOTC_COMPILER_FUSE_PARTS_IN_TURN_H_
#define AOTC_COMPILER_FUSE_PARTS_IN_TURN_H_

#include <optional>

#include "compiler/fuse/fuse.h"

namespace aotc {

// The kernel of the first node of the region that reads the value; nothing where there is none.
std::optional<FusedKernel> KernelOfReader(const Graph& graph, const Region& region, ValueId value);

// Whether the kernel, which gives one value of one other, is such a copy.
bool IsPartInTurn(const Graph& graph, const Region& region, const FusedKernel& fused);

}  // namespace aotc

#endif  // AOTC_COMPILER_FUSE_PARTS_IN_TURN_H_
