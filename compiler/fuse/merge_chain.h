// Two contractions in one kernel, where the target computes both in bands of rows.
//
//   %v = clip(depthwise(%x))  and  %y = pointwise(%v)     // %v lies in no memory but a band's
#ifndef AOTC_COMPILER_FUSE_MERGE_CHAIN_H_
#define AOTC_COMPILER_FUSE_MERGE_CHAIN_H_

#include "absl/status/statusor.h"
#include "compiler/fuse/kernel_cost.h"
#include "compiler/ir/fused_graph.h"

namespace aotc {

// The stages of both, `value` a temp between them. Error: `no_merge`, why they are not merged in
// another way, where they are no chain (schedule/chain.h); or the target would rather keep them
// apart.
absl::StatusOr<FusedKernel> MergeChain(const FusedKernel& producer, const FusedKernel& consumer,
                                       ValueId value, const KernelCosts& costs,
                                       const absl::Status& no_merge);

}  // namespace aotc

#endif  // AOTC_COMPILER_FUSE_MERGE_CHAIN_H_
