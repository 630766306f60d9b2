#include "compiler/plan/alias_classes.h"

#include <algorithm>
#include <numeric>

#include "compiler/ir/program_access.h"

namespace aotc {
namespace {

// True of what is no view, and of views that are their base under another shape.
bool CoversBase(const Program& program, BufferId id) {
  const Buffer& buffer = program.buffers[id];
  return ElementOffset(buffer).IsInt(0) &&
         buffer.bytes == program.buffers[BaseOf(program, id)].bytes;
}

int Touches(const Program& program, const Step& step, BufferId base) {
  const std::vector<BufferAccess> accesses = StepAccesses(program, step);
  return static_cast<int>(std::count_if(accesses.begin(), accesses.end(), [&](const auto& access) {
    return BaseOf(program, access.buffer) == base;
  }));
}

// Union-find over buffers; the root of a class is its earliest member.
class Classes {
 public:
  explicit Classes(size_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), size_t{0});
  }
  size_t Root(size_t i) const {
    while (parent_[i] != i) i = parent_[i];
    return i;
  }
  void Append(BufferId later, BufferId earlier) {
    parent_[Root(Index(later))] = Root(Index(earlier));
  }
  static size_t Index(BufferId id) { return static_cast<size_t>(id.index()); }

 private:
  std::vector<size_t> parent_;
};

// A buffer takes, and gives, its memory at most once: at its first and at its last step.
Classes MergeInPlace(const Program& program) {
  Classes classes(program.buffers.size());
  IdVector<BufferId, char> taken(program.buffers.size(), 0);
  IdVector<BufferId, char> given(program.buffers.size(), 0);
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    for (const auto& [output, input] : step.in_place) {
      const BufferId to = BaseOf(program, step.args[output]);
      const BufferId from = BaseOf(program, step.args[input]);
      if (taken[to] || given[from]) continue;
      if (!CanShare(program, static_cast<int>(i), step.args[output], step.args[input])) continue;
      taken[to] = given[from] = 1;
      classes.Append(to, from);
    }
  }
  return classes;
}

}  // namespace

bool MayShare(const Program& program, const Step& step, BufferId output, BufferId input) {
  const BufferId to = BaseOf(program, output);
  const BufferId from = BaseOf(program, input);
  const Buffer& target = program.buffers[to];
  const Buffer& source = program.buffers[from];
  const bool in_arena = target.kind == BufferKind::kArena && source.kind == BufferKind::kArena;
  const bool whole = CoversBase(program, output) && CoversBase(program, input);
  return in_arena && whole && target.bytes == source.bytes && Touches(program, step, to) == 1 &&
         Touches(program, step, from) == 1;
}

bool CanShare(const Program& program, int index, BufferId output, BufferId input) {
  return program.buffers[BaseOf(program, input)].last_step == index &&
         program.buffers[BaseOf(program, output)].first_step == index &&
         MayShare(program, program.steps[index], output, input);
}

std::vector<AliasClass> AliasClasses(const Program& program) {
  const Classes classes = MergeInPlace(program);
  std::vector<AliasClass> found;
  std::vector<int> class_of_root(program.buffers.size(), -1);
  for (BufferId id : program.buffers.ids()) {
    const Buffer& buffer = program.buffers[id];
    if (buffer.kind != BufferKind::kArena || buffer.first_step < 0) continue;
    int& slot = class_of_root[classes.Root(Classes::Index(id))];
    if (slot < 0) {
      slot = static_cast<int>(found.size());
      found.push_back({{}, buffer.bytes, buffer.first_step, buffer.last_step});
    }
    AliasClass& shared = found[slot];
    shared.members.push_back(id);
    shared.first_step = std::min(shared.first_step, buffer.first_step);
    shared.last_step = std::max(shared.last_step, buffer.last_step);
  }
  for (AliasClass& shared : found) {
    std::stable_sort(shared.members.begin(), shared.members.end(), [&](BufferId a, BufferId b) {
      return program.buffers[a].first_step < program.buffers[b].first_step;
    });
  }
  return found;
}

}  // namespace aotc
