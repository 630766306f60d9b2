// Siblings: nodes with constant weights that read one value, with the ops behind each that can be
// computed for all of them together.
//
//   for (const SiblingGroup& group : FindSiblings(graph)) ...
//   // group.branches[i].nodes: MatMul, Add, Relu; of every branch the same ops
//
// Relay's CombineParallelConv2D, CombineParallelDense and CombineParallelBatchMatmul
// (src/relay/transforms/combine_parallel_op.cc) join level by level likewise.
#ifndef AOTC_COMPILER_OPTIMIZE_SIBLINGS_H_
#define AOTC_COMPILER_OPTIMIZE_SIBLINGS_H_

#include <optional>
#include <vector>

#include "compiler/ir/graph.h"

namespace aotc {

struct SiblingBranch {
  std::vector<NodeId> nodes = {};  // the contraction, then what follows
  int64_t channels = 0;            // of the contraction's result
};

struct SiblingGroup {
  RegionId region = {};
  std::vector<SiblingBranch> branches = {};  // two or more, in order of execution
  int weight_axis = 0;                       // of the channels in the weights
  int output_axis = 0;                       // and in the results
};

// Groups of MatMul, Gemm or Conv (of one group of channels) with equal attributes, whose weights
// differ in the number of output channels only. Followers are ops of one operand, and arithmetic
// with a constant per channel, whose operand nothing else reads.
std::vector<SiblingGroup> FindSiblings(const Graph& graph);

// The node whose chain operand `chain` of a branch is read through, and its other operands.
struct Follower {
  size_t chain = 0;                   // index of the input that the chain comes through
  std::optional<size_t> vector = {};  // index of the constant per channel
};
std::optional<Follower> FollowerOf(const Graph& graph, const Node& node, ValueId chain, int axis,
                                   int64_t channels);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_SIBLINGS_H_
