// Merges where a value has several readers: the kernel that makes it moves to the first of them,
// and stores the value for the others.
//
//   %mean[i] = ...;  %y[i, j] = %x[i, j] - %mean[i];  %z[i] = f(%mean[i])
//   =>  one kernel with the outputs %mean and %y, then %z; or all three in one
#ifndef AOTC_COMPILER_FUSE_MERGE_SHARED_H_
#define AOTC_COMPILER_FUSE_MERGE_SHARED_H_

#include <set>

#include "absl/status/statusor.h"
#include "compiler/fuse/fuse.h"
#include "compiler/fuse/kernel_uses.h"

namespace aotc {

// MergeKernels of what the target does not compute faster apart. Error: either's reason.
absl::StatusOr<FusedKernel> MergeIfAllowed(const FusedKernel& producer, const FusedKernel& consumer,
                                           ValueId value, const KernelCosts& costs,
                                           const std::set<ValueId>& kept = {});

// `fused` has the views, and takes the decisions. Readers that are merged one after the other end
// in one kernel with several outputs.
void MergeShared(const Graph& graph, const Region& region, const KernelCosts& costs,
                 FusedGraph& fused, KernelSlots& kernels);

}  // namespace aotc

#endif  // AOTC_COMPILER_FUSE_MERGE_SHARED_H_
