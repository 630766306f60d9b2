// Nodes with regions among fused kernels.
//
//   FusedKernel fused = KernelOfControl(graph, node);
//   fused.args                 // the condition, what the branches capture; then the results
//   fused.kernel.stages        // none: the bodies, fused each on its own, do the work
#ifndef AOTC_COMPILER_FUSE_CONTROL_H_
#define AOTC_COMPILER_FUSE_CONTROL_H_

#include "compiler/ir/fused_graph.h"

namespace aotc {

// The stand-in of a node with regions, without bodies.
FusedKernel KernelOfControl(const Graph& graph, NodeId node);

}  // namespace aotc

#endif  // AOTC_COMPILER_FUSE_CONTROL_H_
