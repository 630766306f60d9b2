// Kernels in parts where these take less time than the whole: of an op whose stages share few
// loops, such as attention over appended keys, whole tensors would be temps.
//
//   SplitKernels(graph, fused, costs);
//   // %scores, once a temp, is a value of the graph now: one part writes it, the next reads it
#ifndef AOTC_COMPILER_FUSE_SPLIT_KERNELS_H_
#define AOTC_COMPILER_FUSE_SPLIT_KERNELS_H_

#include "compiler/fuse/fuse.h"

namespace aotc {

// Only what keeps temps in memory is asked about. Stages that have nothing in common become parts
// first; each is cut where the two parts of it take least, if that is less than it takes whole, and
// so are these. What nothing computes is cut where as much as possible is computed before; a stage
// that is too much alone is left to the target's complaint. Splits are noted among the decisions.
void SplitKernels(Graph& graph, FusedGraph& fused, const KernelCosts& costs);

}  // namespace aotc

#endif  // AOTC_COMPILER_FUSE_SPLIT_KERNELS_H_
