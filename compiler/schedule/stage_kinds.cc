#include "compiler/schedule/stage_kinds.h"

#include <algorithm>
#include <optional>

#include "compiler/schedule/anchor.h"

namespace aotc {
bool IsContraction(const Stage& stage) {
  const std::optional<ContractionAnchor> contraction = ReadContraction(stage);
  return contraction && !contraction->HasZeroPoints();
}

bool HasContraction(const Kernel& kernel) { return ReadContraction(kernel).has_value(); }

bool HasReduction(const Kernel& kernel) {
  return std::any_of(kernel.stages.begin(), kernel.stages.end(),
                     [](const Stage& stage) { return stage.IsReduction(); });
}

}  // namespace aotc
