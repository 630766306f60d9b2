#include "compiler/driver/smaller_variants.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/expr_text.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// A schedule that a variant could have.
struct Candidate {
  std::string schedule = {};
  double seconds = 0;
  std::optional<int64_t> scratch_bytes = {};  // where it has been tried; 0: of no use
};

// Those of the variants that were asked for. A plan asks for a variant many times, and so do the
// plans of a graph that is fused in several ways.
class Candidates {
 public:
  explicit Candidates(const Target& target)
      : candidates_(target.candidates), realise_(target.realise) {}

  std::optional<KernelVariant> Smaller(const Kernel& kernel, const KernelVariant& variant,
                                       int64_t most_bytes, double most_times) {
    std::vector<Candidate>& all = Of(kernel, variant);
    const auto own = std::ranges::find(all, variant.schedule, &Candidate::schedule);
    if (own == all.end()) return std::nullopt;
    const double most_seconds = most_times * own->seconds;
    for (Candidate& candidate : all) {
      if (candidate.seconds > most_seconds) break;
      if (candidate.scratch_bytes.value_or(1) > most_bytes || candidate.scratch_bytes == 0)
        continue;
      absl::StatusOr<KernelVariant> other = realise_(kernel, variant, candidate.schedule);
      candidate.scratch_bytes = other.ok() ? other->loops.scratch_bytes : 0;
      if (candidate.scratch_bytes > 0 && candidate.scratch_bytes <= most_bytes)
        return *std::move(other);
    }
    return std::nullopt;
  }

 private:
  // The fastest first.
  std::vector<Candidate>& Of(const Kernel& kernel, const KernelVariant& variant) {
    const auto [found, is_new] = all_.try_emplace(
        StrCat(variant.feature, " ", PrintExpr(variant.guard), " ", PrintKernel(kernel)));
    if (is_new) {
      for (ScheduleCandidate& candidate : candidates_(kernel, variant)) {
        found->second.push_back({std::move(candidate.schedule), candidate.seconds});
      }
      std::ranges::stable_sort(found->second, {}, &Candidate::seconds);
    }
    return found->second;
  }

  const decltype(Target::candidates) candidates_;
  const decltype(Target::realise) realise_;
  std::map<std::string, std::vector<Candidate>> all_;  // by feature, guard and kernel
};

}  // namespace

SmallerVariant SmallerVariants(const Target& target) {
  return [all = std::make_shared<Candidates>(target)](
             const Kernel& kernel, const KernelVariant& variant, int64_t most_bytes,
             double most_times) { return all->Smaller(kernel, variant, most_bytes, most_times); };
}

}  // namespace aotc
