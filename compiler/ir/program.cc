#include "compiler/ir/program.h"

namespace aotc {

IdVector<KernelId, int64_t> LaunchCounts(const Program& program) {
  IdVector<KernelId, int64_t> counts(program.kernels.size());
  for (const Step& step : program.steps) {
    if (step.kind == StepKind::kLaunch) ++counts[step.kernel];
  }
  return counts;
}

}  // namespace aotc
