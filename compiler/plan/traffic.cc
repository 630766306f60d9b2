#include "compiler/plan/traffic.h"

#include "compiler/ir/program_access.h"

namespace aotc {

IdVector<BufferId, int64_t> BufferTraffic(const Program& program) {
  IdVector<BufferId, int64_t> traffic(program.buffers.size(), 0);
  for (const Step& step : program.steps) {
    for (const BufferAccess& access : StepAccesses(program, step)) {
      const int64_t bytes = program.buffers[access.buffer].bytes;
      traffic[BaseOf(program, access.buffer)] += access.buffer == step.scratch ? 2 * bytes : bytes;
    }
  }
  return traffic;
}

}  // namespace aotc
