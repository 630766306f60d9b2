// Nodes with regions among fused kernels.
//
//   FusedKernel fused = KernelOfControl(graph, node);
//   fused.args                 // the condition, what the branches capture; then the results
//   fused.kernel.stages        // none: the bodies, fused each on its own, do the work
#ifndef AOTC_COMPILER_FUSE_CONTROL_H_
#define AOTC_COMPILER_FUSE_CONTROL_H_

#include <functional>
#include <vector>

#include "compiler/fuse/fuse.h"

namespace aotc {

// Values of enclosing regions that the regions of `node` read, nested ones included; each once, in
// the order in which they are met. Constants are none of them.
std::vector<ValueId> CapturedValues(const Graph& graph, const Node& node);

// The stand-in of a node with regions, without bodies.
FusedKernel KernelOfControl(const Graph& graph, NodeId node);

// Calls `visit` for every graph of kernels: `fused`, then the bodies in it. The region that it
// belongs to comes along.
void VisitBodies(const Graph& graph, FusedGraph& fused,
                 const std::function<void(FusedGraph&, RegionId)>& visit);

}  // namespace aotc

#endif  // AOTC_COMPILER_FUSE_CONTROL_H_
