#include "compiler/plan/traffic.h"

#include <algorithm>
#include <vector>

#include "compiler/ir/program_access.h"
#include "compiler/ir/program_control.h"

namespace aotc {
namespace {

constexpr int64_t kMostRounds = 1000;
constexpr int64_t kUnknownRounds = 16;

int64_t RoundsOf(const Step& loop, const Bounds& bounds) {
  if (!loop.trip.valid()) return kUnknownRounds;
  return std::clamp<int64_t>(RangeOf(Simplify(loop.trip, bounds), bounds).max, 1, kMostRounds);
}

// How often each step runs, at most.
std::vector<int64_t> RunsOfSteps(const Program& program) {
  std::vector<int64_t> runs(program.steps.size(), 1);
  const Bounds bounds = BoundsOf(program);
  for (const Construct& construct : Constructs(program)) {
    if (!construct.is_loop) continue;
    const int64_t rounds = RoundsOf(program.steps[construct.begin], bounds);
    for (int i = construct.begin; i <= construct.end; ++i) {
      runs[i] = std::min(runs[i] * rounds, kMostRounds);
    }
  }
  return runs;
}

}  // namespace

IdVector<BufferId, int64_t> BufferTraffic(const Program& program) {
  IdVector<BufferId, int64_t> traffic(program.buffers.size(), 0);
  const std::vector<int64_t> runs = RunsOfSteps(program);
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    for (const BufferAccess& access : StepAccesses(program, step)) {
      const int64_t bytes = program.buffers[access.buffer].bytes * runs[i];
      traffic[BaseOf(program, access.buffer)] += access.buffer == step.scratch ? 2 * bytes : bytes;
    }
  }
  return traffic;
}

}  // namespace aotc
