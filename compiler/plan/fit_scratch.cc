#include "compiler/plan/fit_scratch.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "compiler/ir/program_access.h"
#include "compiler/plan/alias_classes.h"
#include "compiler/plan/lend_idle.h"

namespace aotc {
namespace {

// Bytes alive and not idle at each step, scratch left out.
std::vector<int64_t> BusyBytes(const Program& program) {
  std::set<BufferId> scratch;
  for (const Step& step : program.steps) {
    if (step.scratch.valid()) scratch.insert(step.scratch);
  }
  std::vector<int64_t> bytes(program.steps.size(), 0);
  const auto add = [&](int64_t size, int first, int last) {
    for (int step = first; step <= last; ++step) bytes[static_cast<size_t>(step)] += size;
  };
  const std::vector<AliasClass> classes = AliasClasses(program);
  for (const AliasClass& shared : classes) {
    if (!scratch.contains(shared.members[0]))
      add(shared.bytes, shared.first_step, shared.last_step);
  }
  for (const IdleRange& idle : IdleRanges(program, classes))
    add(-idle.bytes, idle.first_step, idle.last_step);
  return bytes;
}

int64_t BytesOfCaller(const Program& program) {
  int64_t bytes = 0;
  for (const std::vector<BufferId>* buffers : {&program.inputs, &program.outputs}) {
    for (const BufferId id : *buffers) bytes += program.buffers[id].bytes;
  }
  return bytes;
}

}  // namespace

void FitScratch(Program& program) {
  constexpr int64_t kShare = 20, kLittle = 1 << 12, kFewestWorkers = 2;
  const std::vector<int64_t> busy = BusyBytes(program);
  const int64_t least = busy.empty() ? 0 : *std::ranges::max_element(busy);
  const int64_t most = least + std::max(std::max(least, BytesOfCaller(program)) / kShare, kLittle);
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (!step.scratch.valid()) continue;
    Buffer& buffer = program.buffers[step.scratch];
    const int64_t each = ScratchBytes(program.kernels[step.kernel], program.arena_align);
    const int64_t workers = std::max((most - busy[i]) / each, kFewestWorkers);
    buffer.bytes = std::min(buffer.bytes, workers * each);
    buffer.shape = {buffer.bytes};
  }
}

}  // namespace aotc
