#include "compiler/plan/order_steps.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "compiler/ir/program_access.h"
#include "compiler/plan/alias_classes.h"
#include "compiler/plan/assign_arena.h"
#include "compiler/plan/liveness.h"
#include "compiler/plan/search_order.h"

namespace aotc {
namespace {

std::set<BufferId> ArenaTouched(const Program& program, const Step& step) {
  std::set<BufferId> bases;
  for (const BufferAccess& access : StepAccesses(program, step)) {
    const BufferId base = BaseOf(program, access.buffer);
    if (program.buffers[base].kind == BufferKind::kArena) bases.insert(base);
  }
  return bases;
}

// Pairs of the step that may share memory wherever it runs as the first that touches the one and
// the last that touches the other.
std::vector<std::pair<int, int>> SharingPairs(const Program& program, const Step& step) {
  std::vector<std::pair<int, int>> pairs;
  for (const auto& [output, input] : step.in_place) {
    const BufferId to = step.args[output], from = step.args[input];
    if (!MayShare(program, step, to, from)) continue;
    pairs.emplace_back(BaseOf(program, to).index(), BaseOf(program, from).index());
  }
  return pairs;
}

// List scheduling: among the steps whose dependencies are done, the one that leaves the fewest
// bytes alive; of equals the earliest.
class ListScheduler {
 public:
  explicit ListScheduler(const Program& program)
      : program_(program), uses_left_(program.buffers.size(), 0), live_(program.buffers.size(), 0) {
    for (const Step& step : program.steps) {
      touched_.push_back(ArenaTouched(program, step));
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

StepGraph StepGraphOf(const Program& program) {
  StepGraph graph{.before = StepDependencies(program)};
  for (const Buffer& buffer : program.buffers) {
    graph.bytes.push_back((buffer.bytes + program.arena_align - 1) / program.arena_align *
                          program.arena_align);
  }
  for (const Step& step : program.steps) {
    std::vector<int> touched;
    for (BufferId id : ArenaTouched(program, step)) touched.push_back(id.index());
    graph.touched.push_back(std::move(touched));
    graph.in_place.push_back(SharingPairs(program, step));
  }
  return graph;
}

void OrderSteps(Program& program) {
  // Buffers that the search may look at: less than a second.
  constexpr int64_t kSearchWork = 20'000'000;
  const StepGraph graph = StepGraphOf(program);
  std::vector<int> best(program.steps.size());
  std::iota(best.begin(), best.end(), 0);
  const std::vector<int> listed = ListScheduler(program).Run();
  if (PeakOf(graph, listed) < PeakOf(graph, best)) best = listed;
  OrderSearch search = SearchOrder(graph, PeakOf(graph, best), kSearchWork);
  if (search.order) best = *std::move(search.order);
  program.steps = Permuted(program.steps, best);
}

}  // namespace aotc
