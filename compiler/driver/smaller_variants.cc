#include "compiler/driver/smaller_variants.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace aotc {

SmallerVariant SmallerVariants(const Target& target) {
  return [candidates = target.candidates, realise = target.realise](
             const Kernel& kernel, const KernelVariant& variant, int64_t most_bytes,
             double most_times) -> std::optional<KernelVariant> {
    std::vector<ScheduleCandidate> all = candidates(kernel, variant);
    const auto own = std::ranges::find(all, variant.schedule, &ScheduleCandidate::schedule);
    if (own == all.end()) return std::nullopt;
    const double most_seconds = most_times * own->seconds;
    std::ranges::stable_sort(all, {}, &ScheduleCandidate::seconds);
    for (const ScheduleCandidate& candidate : all) {
      if (candidate.seconds > most_seconds) break;
      absl::StatusOr<KernelVariant> other = realise(kernel, variant, candidate.schedule);
      if (!other.ok() || other->loops.scratch_bytes > most_bytes) continue;
      if (other->loops.scratch_bytes > 0) return *std::move(other);
    }
    return std::nullopt;
  };
}

}  // namespace aotc
