// Ops of ours that support vector machines are made of (support_vectors.cc): kernels, and what
// pairs of classes make of samples. Pairs (i, j), i < j, are counted row by row.
#ifndef AOTC_COMPILER_OPS_PAIR_OPS_H_
#define AOTC_COMPILER_OPS_PAIR_OPS_H_

#include "compiler/ops/op.h"

namespace aotc {

// f32 [N, vectors]: exp(-gamma * |x - v|^2), of x [N, F] and vectors [vectors, F].
absl::Status RbfKernel(OpContext& op);
// f32 [N, classes]: how many pairs decide for a class; pair (i, j) for i where its score, of
// [N, pairs], is above 0.
absl::Status PairVotes(OpContext& op);
// f32 [N, pairs]: 1 - 1 / (1 + exp(-(a * score + b))), within 1e-7 of 0 and 1.
absl::Status PairProbabilities(OpContext& op);
// f32 [N, classes] of 1 / classes: where the coupling of pairs starts.
absl::Status PairStart(OpContext& op);
// One step of the second method of Wu, Lin and Weng (Probability estimates for multi-class
// classification by pairwise coupling, 2004): probabilities of classes [N, classes], input 0, from
// those of pairs, input 1. A sample whose error is below 0.005 / classes keeps its own.
absl::Status PairCoupling(OpContext& op);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_PAIR_OPS_H_
