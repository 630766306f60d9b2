// What fusion asks of a target: what a kernel should take there. A merge is worth it where the
// merged kernel takes less than its parts do.
//
//   const KernelCosts costs(target.estimate);
//   costs.CheckMerge({producer, consumer}, merged);
//   // "would take 41 us, apart 29 us; no tile: the columns are not innermost in the output"
#ifndef AOTC_COMPILER_FUSE_KERNEL_COST_H_
#define AOTC_COMPILER_FUSE_KERNEL_COST_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "compiler/ir/kernel.h"

namespace aotc {

// A kernel as the target would realise it, at the symbols' maxima.
struct KernelEstimate {
  double seconds = 0;            // of a run; infinite where there is no realisation
  double launch_seconds = 0;     // of these, what a launch costs however little it computes
  std::string realisation = {};  // KernelVariant::realisation
  // Of two contractions in one kernel: what they should take in a kernel each. 0: of others.
  double apart_seconds = 0;
  bool is_plain = false;   // by loops, or what does not serve its weights better
  int64_t kept_bytes = 0;  // what a row, or a task, has in memory between its stages
  std::string why = {};    // of plain loops: why no tile takes it; of none: what is missing
};

using KernelEstimator = std::function<KernelEstimate(const Kernel& kernel)>;

// The estimates of one compile: kernels that differ in names only are estimated once, as a model
// repeats them. Copies share what is known.
class KernelCosts {
 public:
  KernelCosts() = default;  // of no target: every merge is worth it
  explicit KernelCosts(KernelEstimator estimate);

  bool IsKnown() const { return known_ != nullptr; }

  using Parts = std::vector<const Kernel*>;

  // Error, with the figures: `merged` should take longer than the parts do one after another, or
  // leaves to plain loops a contraction that a tile computes in a part. Of the same contractions,
  // in one kernel or two, more is known than of others: those in one must take less.
  absl::Status CheckMerge(const Parts& parts, const Kernel& merged) const;
  // Whether two contractions are computed in one kernel: by `apart_seconds`.
  bool IsChain(const Kernel& kernel) const { return Of(kernel).apart_seconds > 0; }
  // Whether the parts one after another should take clearly less than the whole.
  bool AreCheaper(const Parts& parts, const Kernel& whole) const;
  double Seconds(const Parts& parts) const;
  // "it would take 41 us (loops, 4096 bytes between its stages), apart 29 us (loops, loops; 5 us of
  // it launches)"
  std::string Figures(const Parts& parts, const Kernel& whole) const;
  // As the target says it; `why` is left out where it names tensors.
  const KernelEstimate& Of(const Kernel& kernel) const;

 private:
  std::string WhyOf(const Kernel& kernel) const;

  struct Known {
    KernelEstimator estimate;
    std::unordered_map<std::string, KernelEstimate> by_text = {};
  };

  std::shared_ptr<Known> known_ = {};
};

}  // namespace aotc

#endif  // AOTC_COMPILER_FUSE_KERNEL_COST_H_
