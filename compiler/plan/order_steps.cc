#include "compiler/plan/order_steps.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "compiler/ir/program_access.h"
#include "compiler/ir/program_control.h"
#include "compiler/ir/program_sizes.h"
#include "compiler/plan/alias_classes.h"
#include "compiler/plan/assign_arena.h"
#include "compiler/plan/liveness.h"
#include "compiler/plan/search_order.h"
#include "compiler/support/rounding.h"

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

// Pairs of the step, among `local` buffers, that may share memory wherever it runs as the first
// that touches the one and the last that touches the other.
std::vector<std::pair<int, int>> SharingPairs(const Program& program, const Step& step,
                                              const std::set<BufferId>& local) {
  std::vector<std::pair<int, int>> pairs;
  for (const auto& [output, input] : step.in_place) {
    const BufferId to = step.args[output], from = step.args[input];
    const bool both = local.contains(BaseOf(program, to)) && local.contains(BaseOf(program, from));
    if (!both || !MayShare(program, step, to, from)) continue;
    pairs.emplace_back(BaseOf(program, to).index(), BaseOf(program, from).index());
  }
  return pairs;
}

// List scheduling: among the steps whose dependencies are done, the one that leaves the fewest
// bytes alive; of equals the earliest.
std::vector<int> ListedOrder(const StepGraph& graph) {
  StepProgress progress(graph);
  while (!progress.done()) {
    const std::set<int>& ready = progress.ready();
    progress.Run(*std::min_element(ready.begin(), ready.end(), [&](int a, int b) {
      return progress.Growth(a) < progress.Growth(b);
    }));
  }
  return progress.order();
}

// Steps from `begin` to `end` - 1.
struct Range {
  int begin = 0;
  int end = 0;
};

Range WholeOf(const Program& program) { return {0, static_cast<int>(program.steps.size())}; }

// What is ordered as a whole: a step, or a branch or loop with all that it holds.
std::vector<Range> UnitsOf(const Program& program, const Range& range) {
  std::vector<Range> units;
  int depth = 0;
  for (int i = range.begin; i < range.end; ++i) {
    const Step& step = program.steps[i];
    if (depth == 0) units.push_back({i, i + 1});
    units.back().end = i + 1;
    if (OpensBlock(step)) ++depth;
    if (step.kind == StepKind::kEnd) --depth;
  }
  return units;
}

void Permute(std::vector<Step>& steps, const std::vector<Range>& units,
             const std::vector<int>& order) {
  std::vector<Step> permuted;
  for (int index : order) {
    const Range& unit = units[index];
    permuted.insert(permuted.end(), steps.begin() + unit.begin, steps.begin() + unit.end);
  }
  if (!units.empty()) std::ranges::move(permuted, steps.begin() + units.front().begin);
}

// Buffers that no step outside the range touches.
std::set<BufferId> LocalBuffers(const Program& program, const Range& range) {
  std::set<BufferId> local, outside;
  for (int i = 0; i < static_cast<int>(program.steps.size()); ++i) {
    const bool within = range.begin <= i && i < range.end;
    (within ? local : outside).merge(ArenaTouched(program, program.steps[i]));
  }
  std::erase_if(local, [&](BufferId id) { return outside.contains(id); });
  return local;
}

// The units of a range as the search sees them. Buffers that live beyond it count in no order.
StepGraph GraphOf(const Program& program, const Range& range) {
  StepGraph graph;
  const std::set<BufferId> local = LocalBuffers(program, range);
  for (BufferId id : program.buffers.ids()) {
    const int64_t bytes = RoundUp(program.buffers[id].bytes, program.arena_align);
    graph.bytes.push_back(local.contains(id) ? bytes : 0);
  }
  const std::vector<std::vector<int>> before = StepDependencies(program);
  std::vector<int> unit_of(program.steps.size(), -1);
  for (const Range& unit : UnitsOf(program, range)) {
    const int index = static_cast<int>(graph.touched.size());
    std::set<int> touched, earlier;
    for (int i = unit.begin; i < unit.end; ++i) {
      unit_of[i] = index;
      for (BufferId id : ArenaTouched(program, program.steps[i])) touched.insert(id.index());
      for (int step : before[i]) earlier.insert(unit_of[step]);
    }
    earlier.erase(index);
    earlier.erase(-1);  // in front of the range
    graph.before.emplace_back(earlier.begin(), earlier.end());
    graph.touched.emplace_back(touched.begin(), touched.end());
    graph.in_place.push_back(SharingPairs(program, program.steps[unit.begin], local));
  }
  return graph;
}

// The best order of the units of a range that is found.
void OrderRange(Program& program, const Range& range) {
  // Buffers that the search may look at: less than a second.
  constexpr int64_t kSearchWork = 20'000'000;
  const StepGraph graph = GraphOf(program, range);
  std::vector<int> best(graph.before.size());
  std::iota(best.begin(), best.end(), 0);
  const std::vector<int> listed = ListedOrder(graph);
  if (PeakOf(graph, listed) < PeakOf(graph, best)) best = listed;
  OrderSearch search = SearchOrder(graph, PeakOf(graph, best), kSearchWork);
  if (search.order) best = *std::move(search.order);
  Permute(program.steps, UnitsOf(program, range), best);
}

// A step that has touched a buffer, by the name of itself or of a view.
struct PastAccess {
  int step = -1;
  BufferId buffer = {};
  bool written = false;
};

// The latest writers of a buffer, of boxes in it or of all, and those that have read it since.
class History {
 public:
  void AddBefore(const Program& program, const BufferAccess& access, std::set<int>& before) const {
    for (const PastAccess& past : past_) {
      const bool conflict = access.written || past.written;
      if (conflict && !AreApart(program, past.buffer, access.buffer)) before.insert(past.step);
    }
  }

  // All that conflicts with a write stands behind it.
  void Add(const Program& program, const BufferAccess& access, int step) {
    if (access.written) {
      const bool is_box = !program.buffers[access.buffer].start.empty();
      std::erase_if(
          past_, [&](const PastAccess& past) { return !is_box || past.buffer == access.buffer; });
    }
    const bool known = std::ranges::any_of(past_, [&](const PastAccess& past) {
      return past.step == step && past.buffer == access.buffer;
    });
    if (!known) past_.push_back({step, access.buffer, access.written});
  }

 private:
  std::vector<PastAccess> past_ = {};
};

}  // namespace

std::vector<std::vector<int>> StepDependencies(const Program& program) {
  IdVector<BufferId, History> history(program.buffers.size());
  std::vector<std::vector<int>> dependencies;
  const SizeSteps known(program);
  int last_sizes = kBeforeAnyStep;           // such steps stay in their order
  std::map<std::string, std::set<int>> use;  // steps that have used a size so far
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const std::vector<BufferAccess> accesses = StepAccesses(program, program.steps[i]);
    std::set<int> before;
    for (const BufferAccess& access : accesses) {
      history[BaseOf(program, access.buffer)].AddBefore(program, access, before);
    }
    for (const BufferAccess& access : accesses) {
      history[BaseOf(program, access.buffer)].Add(program, access, static_cast<int>(i));
    }
    if (!known.empty()) {
      const Step& step = program.steps[i];
      for (const std::string& var : SizesOf(program, step)) {
        // What a round begins with is known from its first step on, which may stand behind this
        // one.
        if (known.StepOf(var) < static_cast<int>(i)) before.insert(known.StepOf(var));
        use[var].insert(static_cast<int>(i));
      }
      if (step.kind == StepKind::kSizes || step.kind == StepKind::kSetSizes) {
        before.insert(std::exchange(last_sizes, static_cast<int>(i)));
      }
      if (step.kind == StepKind::kSetSizes) {
        for (const Expr& size : step.elements) before.merge(std::set<int>(use[size->name]));
      }
      before.erase(kBeforeAnyStep);
      before.erase(static_cast<int>(i));
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

StepGraph StepGraphOf(const Program& program) { return GraphOf(program, WholeOf(program)); }

void OrderSteps(Program& program) {
  const std::vector<Construct> constructs = Constructs(program);
  if (constructs.empty()) return OrderRange(program, WholeOf(program));
  // To the search, all that a branch or loop touches lives at once: the program knows better.
  const std::vector<Step> given = program.steps;
  const int64_t peak = PeakBytes(program);
  // Inner ones first: what an order moves is the whole of them.
  for (const Construct& construct : constructs) {
    const int middle = construct.middle.value_or(construct.end);
    OrderRange(program, {construct.begin + 1, middle});
    if (construct.middle) OrderRange(program, {middle + 1, construct.end});
  }
  OrderRange(program, WholeOf(program));
  if (PeakBytes(program) >= peak) program.steps = given;
}

}  // namespace aotc
