#include "compiler/canonicalize/kernel_checks.h"

#include <algorithm>
#include <string>

#include "compiler/ir/kernel_bounds.h"
#include "compiler/support/refusal.h"
#include "compiler/support/strings.h"

namespace aotc {

absl::Status CheckReads(const Kernel& kernel, bool always_runs) {
  const LoadedIndices loaded =
      always_runs ? LoadedIndices::kNeedElements : LoadedIndices::kAreTrusted;
  const Bounds bounds = BoundsOf(kernel.symbols);
  const auto may_be_empty = [&](const KernelTensor& tensor) {
    return std::ranges::any_of(
        tensor.shape, [&](const Expr& dim) { return !Prove(Lt(0, dim), bounds).value_or(false); });
  };
  if (std::ranges::none_of(kernel.tensors, may_be_empty)) return absl::OkStatus();
  for (const Stage& stage : kernel.stages) {
    for (const Expr& body : stage.body) {
      const std::string outside = FindLoadOutOfBounds(kernel, stage, body, loaded);
      if (outside.empty()) continue;
      const std::string_view advice = kernel.symbols.empty() ? "" : kLargerSize;
      return AOTC_REFUSAL(
          InvalidArgument,
          StrCat("it reads an element that an empty tensor does not have (", outside, ")", advice));
    }
  }
  return absl::OkStatus();
}

}  // namespace aotc
