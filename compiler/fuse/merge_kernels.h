// Merging two kernels along the value that one defines and the other reads.
#ifndef AOTC_COMPILER_FUSE_MERGE_KERNELS_H_
#define AOTC_COMPILER_FUSE_MERGE_KERNELS_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/fuse/fuse.h"

namespace aotc {

bool IsOutput(const Kernel& kernel, TensorId id);

// The tensor that stands for `value`, which is an argument of the kernel.
TensorId TensorOf(const FusedKernel& fused, ValueId value);

// Bytes of `value`, which is an argument of the kernel, at the symbols' maxima: what one pass over
// it moves.
int64_t BytesOf(const FusedKernel& fused, ValueId value);

// How often an element of `tensor` is read per run, at most: iterations of the stages that load it
// over its elements; 1 where each is read once.
double ReadsPerElement(const Kernel& kernel, TensorId tensor);

// Fewer rows are not worth a kernel that computes several of their stages: they would hold all of
// the work, and tasks are rows.
inline constexpr int64_t kFewestRows = 16;

// Stages of `producer` that define `value` become part of `consumer`: kept as stages where all
// readers are at the same index (the accumulator's epilogue) or in the same row (scores in front of
// their softmax), substituted into the readers where the producer is pointwise. Error (with the
// reason): neither is possible, or elements would be computed repeatedly.
// The producer's results stay outputs if `kept` has them.
absl::StatusOr<FusedKernel> MergeKernels(const FusedKernel& producer, const FusedKernel& consumer,
                                         ValueId value, const std::set<ValueId>& kept = {},
                                         int64_t fewest_rows = kFewestRows);

// One kernel with the stages of both as they are.
FusedKernel JoinKernels(const FusedKernel& producer, const FusedKernel& consumer);

// Error, with the reason: a kernel that no target should be given, as it holds too much, or writes
// outputs in layouts that do not go together.
absl::Status CheckMerged(const Kernel& merged);

// Loads of constants that are one value everywhere become literals; constant params get their role.
void InlineSplats(const Graph& graph, FusedKernel& kernel);

}  // namespace aotc

#endif  // AOTC_COMPILER_FUSE_MERGE_KERNELS_H_
