// Kernels in parts where the target cannot hold what they keep between their stages: of an op whose
// stages share few loops, such as attention over appended keys, whole tensors would be temps.
//
//   SplitKernels(graph, fused, holds);
//   // %scores, once a temp, is a value of the graph now: one part writes it, the next reads it
#ifndef AOTC_COMPILER_FUSE_SPLIT_KERNELS_H_
#define AOTC_COMPILER_FUSE_SPLIT_KERNELS_H_

#include <functional>

#include "compiler/fuse/fuse.h"

namespace aotc {

// Whether the target can realise a kernel with its temps.
using HoldsKernel = std::function<bool(const Kernel&)>;

// Stages that have nothing in common become parts first; what is still too much is cut where the
// target can no longer hold all before it. A stage that is too much alone is left to the target's
// complaint. Each split is noted among the decisions.
void SplitKernels(Graph& graph, FusedGraph& fused, const HoldsKernel& holds);

// Bytes of all temps, at the symbols' maxima; what no realisation of the kernel can exceed.
int64_t TempBytes(const Kernel& kernel);

}  // namespace aotc

#endif  // AOTC_COMPILER_FUSE_SPLIT_KERNELS_H_
