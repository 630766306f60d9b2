// Scatters, counts and permutations turned round: by threads that own elements of the result.
#include "compiler/lower/owned_updates.h"
#include "compiler/support/status.h"
#include "compiler/targets/cuda/cuda_schedules.h"

namespace aotc {
namespace {

class UpdateRule {
 public:
  explicit UpdateRule(const Kernel& kernel) : kernel_(kernel) {}

  Schedule ScheduleOf() const {
    return WholeKernel(kernel_, {}, StageMemory::kScratch, "updates",
                       {owners_.blocks, owners_.threads});
  }

  std::vector<std::vector<int64_t>> Variations() const { return {{16, 256}, {256, 256}}; }

  absl::Status Set(const std::vector<int64_t>& params) {
    owners_ = {.blocks = params[0], .threads = params[1]};
    return absl::OkStatus();
  }

  absl::StatusOr<LoopFunction> Loops() const { return LowerToOwners(kernel_, owners_); }

 private:
  const Kernel& kernel_;
  Owners owners_ = {};
};

}  // namespace

absl::StatusOr<CudaWay> UpdatesOnCuda(const Kernel& kernel, const CudaOptions& /*options*/) {
  const UpdateRule rule(kernel);
  AOTC_RETURN_IF_ERROR(rule.Loops().status());
  return WayOf("updates", "all updates for the elements of a thread", rule);
}

}  // namespace aotc
