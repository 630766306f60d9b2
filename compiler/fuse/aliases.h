// The order of kernels where outputs lie in the memory of inputs: who reads an input runs before
// what destroys it.
//
//   h_out = tanh(h_in * w);  y = h_in + 1      // with h_out in the memory of h_in: y first
//   AOTC_RETURN_IF_ERROR(OrderForAliases(graph, fused));
//   fused.aliases[0].copied                    // true: no order keeps h_in for all who read it
#ifndef AOTC_COMPILER_FUSE_ALIASES_H_
#define AOTC_COMPILER_FUSE_ALIASES_H_

#include "compiler/ir/fused_graph.h"

namespace aotc {

// Orders the kernels of the main graph, and says of each of its aliases of one type whether the
// output has to be copied. One that grows destroys nothing.
void OrderForAliases(const Graph& graph, FusedGraph& fused);

}  // namespace aotc

#endif  // AOTC_COMPILER_FUSE_ALIASES_H_
