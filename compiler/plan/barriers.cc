#include "compiler/plan/barriers.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ir/program_access.h"

namespace aotc {
namespace {

// Bytes of one piece of memory. The arena is one piece, as is each buffer of the caller.
struct Touch {
  BufferId buffer = {};  // as named by the step; invalid: the status
  BufferId piece = {};   // invalid: the arena
  int64_t begin = 0;
  int64_t end = 0;
  bool written = false;
};

// The part of its base that a view may touch; all of it where the offset is symbolic. Elements of
// a strided view lie among others: only the first is known, so the part goes to the end.
Touch TouchOf(const Program& program, const BufferAccess& access) {
  const BufferId base_id = BaseOf(program, access.buffer);
  const Buffer& base = program.buffers[base_id];
  const Buffer& buffer = program.buffers[access.buffer];
  const bool in_arena = base.kind == BufferKind::kArena;
  const int64_t start = in_arena ? base.offset : 0;
  const int64_t skipped = ElementOffset(buffer).AsInt().value_or(0) * ByteWidth(base.dtype);
  return {access.buffer, in_arena ? BufferId() : base_id, start + skipped, start + base.bytes,
          access.written};
}

// The status of the run, a byte in front of the arena: checks set it, all alike and so in any
// order, and the heads of loops ask for it, which counts as the write of the two.
Touch StatusTouch(bool is_loop) { return {BufferId(), BufferId(), -1, 0, is_loop}; }

// Boxes of one base may lie among one another and have no element in common.
bool BoxesApart(const Program& program, const Touch& a, const Touch& b) {
  if (!a.buffer.valid() || !b.buffer.valid()) return false;
  return BaseOf(program, a.buffer) == BaseOf(program, b.buffer) &&
         AreApart(program, a.buffer, b.buffer);
}

bool Conflict(const Program& program, const Touch& a, const Touch& b) {
  return (a.written || b.written) && a.piece == b.piece && a.begin < b.end && b.begin < a.end &&
         !BoxesApart(program, a, b);
}

// Goes through the steps with what was touched since workers met last, on any way there.
class BarrierSetter {
 public:
  explicit BarrierSetter(Program& program) : program_(program) {}

  void Run() {
    for (Step& step : program_.steps) {
      if (step.kind == StepKind::kElse) {
        open_.back().branch = std::exchange(since_barrier_, open_.back().before);
        step.barrier = false;
      } else if (step.kind == StepKind::kEnd) {
        Close(step);
      } else {
        Visit(step);
      }
    }
  }

 private:
  using Touches = std::vector<Touch>;

  struct Open {
    Touches before = {};                 // where the construct opens
    Touches head = {};                   // of a loop, which ends behind it
    std::optional<Touches> branch = {};  // at the end of the first branch
  };

  // Workers meet in front of every round of a loop: one may be a round ahead.
  void Visit(Step& step) {
    Touches touches;
    for (const BufferAccess& access : StepAccesses(program_, step)) {
      touches.push_back(TouchOf(program_, access));
    }
    const bool is_loop = step.kind == StepKind::kLoop;
    const bool sets_status = step.kind == StepKind::kCheck || step.kind == StepKind::kDecode;
    if (is_loop || sets_status) touches.push_back(StatusTouch(is_loop));
    step.barrier = is_loop || std::any_of(touches.begin(), touches.end(), [&](const Touch& touch) {
                     return std::any_of(
                         since_barrier_.begin(), since_barrier_.end(),
                         [&](const Touch& earlier) { return Conflict(program_, touch, earlier); });
                   });
    const Touches before = since_barrier_;
    if (step.barrier) since_barrier_.clear();
    Append(touches);
    // A loop of no rounds does nothing, as does a branch that is not taken.
    if (is_loop) open_.push_back({.before = before, .head = touches});
    if (step.kind == StepKind::kIf) open_.push_back({.before = since_barrier_});
  }

  // Either way may have been taken.
  void Close(Step& step) {
    step.barrier = false;
    Append(open_.back().branch.value_or(open_.back().before));
    Append(open_.back().head);
    open_.pop_back();
  }

  void Append(const Touches& touches) {
    since_barrier_.insert(since_barrier_.end(), touches.begin(), touches.end());
  }

  Program& program_;
  Touches since_barrier_ = {};
  std::vector<Open> open_ = {};
};

}  // namespace

void SetBarriers(Program& program) { BarrierSetter(program).Run(); }

}  // namespace aotc
