#include "compiler/fuse/merge_chain.h"

#include <optional>
#include <string>

#include "compiler/fuse/merge_kernels.h"
#include "compiler/schedule/chain.h"
#include "compiler/schedule/stage_kinds.h"
#include "compiler/support/status.h"

namespace aotc {

absl::StatusOr<FusedKernel> MergeChain(const FusedKernel& producer, const FusedKernel& consumer,
                                       ValueId value, const KernelCosts& costs,
                                       const absl::Status& no_merge) {
  if (!costs.IsKnown() || !HasContraction(producer.kernel) || !HasContraction(consumer.kernel)) {
    return no_merge;
  }
  FusedKernel merged = JoinKernels(producer, consumer);
  const std::optional<ChainAnchor> chain = ReadChain(merged.kernel);
  const std::string& name = producer.kernel.tensors[TensorOf(producer, value)].name;
  if (!chain || merged.kernel.tensors[chain->between].name != name) return no_merge;
  AOTC_RETURN_IF_ERROR(CheckMerged(merged.kernel));
  if (!costs.IsChain(merged.kernel)) return no_merge;
  AOTC_RETURN_IF_ERROR(costs.CheckMerge({&producer.kernel, &consumer.kernel}, merged.kernel));
  return merged;
}

}  // namespace aotc
