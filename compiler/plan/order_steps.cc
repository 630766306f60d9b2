#include "compiler/plan/order_steps.h"

#include <algorithm>
#include <set>

#include "compiler/ir/program_access.h"
#include "compiler/plan/alias_classes.h"
#include "compiler/plan/assign_arena.h"
#include "compiler/plan/liveness.h"

namespace aotc {
namespace {

// List scheduling: among the steps whose dependencies are done, the one that leaves the fewest
// bytes alive; of equals the earliest.
class ListScheduler {
 public:
  explicit ListScheduler(const Program& program)
      : program_(program), uses_left_(program.buffers.size(), 0), live_(program.buffers.size(), 0) {
    for (const Step& step : program.steps) {
      touched_.push_back(Touched(step));
      for (BufferId id : touched_.back()) ++uses_left_[id];
    }
  }

  std::vector<int> Run() {
    const size_t size = program_.steps.size();
    std::vector<std::vector<int>> successors(size);
    std::vector<int> waiting(size, 0);
    const std::vector<std::vector<int>> dependencies = StepDependencies(program_);
    for (size_t i = 0; i < size; ++i) {
      waiting[i] = static_cast<int>(dependencies[i].size());
      for (int before : dependencies[i]) successors[before].push_back(static_cast<int>(i));
    }
    std::set<int> ready;
    for (size_t i = 0; i < size; ++i) {
      if (waiting[i] == 0) ready.insert(static_cast<int>(i));
    }
    std::vector<int> order;
    while (!ready.empty()) {
      const int chosen = *std::min_element(ready.begin(), ready.end(),
                                           [&](int a, int b) { return Growth(a) < Growth(b); });
      ready.erase(chosen);
      Take(chosen);
      order.push_back(chosen);
      for (int next : successors[chosen]) {
        if (--waiting[next] == 0) ready.insert(next);
      }
    }
    return order;
  }

 private:
  std::set<BufferId> Touched(const Step& step) const {
    std::set<BufferId> bases;
    for (const BufferAccess& access : StepAccesses(program_, step)) {
      const BufferId base = BaseOf(program_, access.buffer);
      if (program_.buffers[base].kind == BufferKind::kArena) bases.insert(base);
    }
    return bases;
  }

  // Bytes that begin to live at `step` less those that end there.
  int64_t Growth(int step) const {
    int64_t growth = 0;
    for (BufferId id : touched_[step]) {
      if (!live_[id]) growth += program_.buffers[id].bytes;
      if (uses_left_[id] == 1) growth -= program_.buffers[id].bytes;
    }
    return growth;
  }

  void Take(int step) {
    for (BufferId id : touched_[step]) {
      live_[id] = 1;
      --uses_left_[id];
    }
  }

  const Program& program_;
  std::vector<std::set<BufferId>> touched_;
  IdVector<BufferId, int> uses_left_;
  IdVector<BufferId, char> live_;
};

std::vector<Step> Permuted(const std::vector<Step>& steps, const std::vector<int>& order) {
  std::vector<Step> result;
  for (int index : order) result.push_back(steps[index]);
  return result;
}

// The last writer of a buffer and those that have read it since.
struct History {
  int writer = -1;
  std::vector<int> readers = {};
};

}  // namespace

std::vector<std::vector<int>> StepDependencies(const Program& program) {
  IdVector<BufferId, History> history(program.buffers.size());
  std::vector<std::vector<int>> dependencies;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const std::vector<BufferAccess> accesses = StepAccesses(program, program.steps[i]);
    std::set<int> before;
    for (const BufferAccess& access : accesses) {
      const History& past = history[BaseOf(program, access.buffer)];
      before.insert(past.writer);
      if (access.written) before.insert(past.readers.begin(), past.readers.end());
    }
    before.erase(-1);
    for (const BufferAccess& access : accesses) {
      History& past = history[BaseOf(program, access.buffer)];
      if (access.written) {
        past = {static_cast<int>(i), {}};
      } else if (past.writer != static_cast<int>(i)) {
        past.readers.push_back(static_cast<int>(i));
      }
    }
    dependencies.emplace_back(before.begin(), before.end());
  }
  return dependencies;
}

int64_t PeakBytes(const Program& program) {
  Program timed = program;
  SetLifetimes(timed);
  std::vector<ArenaBlock> blocks;
  for (const AliasClass& shared : AliasClasses(timed)) {
    blocks.push_back({shared.bytes, shared.first_step, shared.last_step});
  }
  return LiveBytesBound(blocks, program.arena_align);
}

void OrderSteps(Program& program) {
  const int64_t given = PeakBytes(program);
  const std::vector<Step> steps = program.steps;
  program.steps = Permuted(steps, ListScheduler(program).Run());
  if (PeakBytes(program) >= given) program.steps = steps;
}

}  // namespace aotc
