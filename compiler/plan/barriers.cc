#include "compiler/plan/barriers.h"

#include <algorithm>
#include <optional>

#include "compiler/ir/program_access.h"

namespace aotc {
namespace {

// Bytes of one piece of memory. The arena is one piece, as is each buffer of the caller.
struct Touch {
  BufferId piece = {};  // invalid: the arena
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
  return {in_arena ? BufferId() : base_id, start + skipped, start + base.bytes, access.written};
}

bool Conflict(const Touch& a, const Touch& b) {
  return (a.written || b.written) && a.piece == b.piece && a.begin < b.end && b.begin < a.end;
}

}  // namespace

void SetBarriers(Program& program) {
  std::vector<Touch> since_barrier;
  for (Step& step : program.steps) {
    std::vector<Touch> touches;
    for (const BufferAccess& access : StepAccesses(program, step)) {
      touches.push_back(TouchOf(program, access));
    }
    step.barrier = std::any_of(touches.begin(), touches.end(), [&](const Touch& touch) {
      return std::any_of(since_barrier.begin(), since_barrier.end(),
                         [&](const Touch& earlier) { return Conflict(touch, earlier); });
    });
    if (step.barrier) since_barrier.clear();
    since_barrier.insert(since_barrier.end(), touches.begin(), touches.end());
  }
}

}  // namespace aotc
