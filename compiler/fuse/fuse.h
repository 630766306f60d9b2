// Fusion: which nodes become one kernel, derived from index maps; the target is asked.
//
//   FusedGraph fused = *Fuse(graph, {.costs = KernelCosts(target.estimate)});
//   fused.kernels[0].kernel  // conv1_relu1: acc = sum ...; y = max(acc + b, 0)
//   fused.decisions          // "relu1 into conv1: epilogue reads the accumulator at its own index"
//
// The floor is Relay's FuseOps (Relay's Section on fusion, TVM src/relay/transforms/fuse_ops.cc):
// injective chains, reductions and contractions with elementwise epilogues. A merge needs that its
// producer's value has no other reader.
#ifndef AOTC_COMPILER_FUSE_FUSE_H_
#define AOTC_COMPILER_FUSE_FUSE_H_

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/fuse/kernel_cost.h"
#include "compiler/ir/fused_graph.h"

namespace aotc {

struct FuseOptions {
  bool enabled = true;                  // false: one kernel per node
  KernelCosts costs = {};               // of the target
  bool places = true;                   // false: no operand of a Concat lies in its result
  std::set<std::string> unplaced = {};  // names of results in which none lies
  std::vector<Alias> aliases = {};      // outputs in the memory of inputs
};

// A node as a kernel of its own, whose params are graph values with their layouts.
absl::StatusOr<FusedKernel> KernelOfNode(const Graph& graph, const Node& node);

absl::StatusOr<FusedGraph> Fuse(const Graph& graph, const FuseOptions& options);

// Shows kernels, views and decisions: the dump of this phase.
std::string PrintFused(const Graph& graph, const FusedGraph& fused);

}  // namespace aotc

#endif  // AOTC_COMPILER_FUSE_FUSE_H_
