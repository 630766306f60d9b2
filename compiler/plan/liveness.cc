#include "compiler/plan/liveness.h"

#include <algorithm>

#include "compiler/ir/program_access.h"
#include "compiler/ir/program_control.h"

namespace aotc {
namespace {

void Touch(Buffer& buffer, int step) {
  if (buffer.first_step < 0) buffer.first_step = step;
  buffer.last_step = step;
}

// What is alive in front of a loop or behind it is so in all of its rounds.
void SpanLoop(Buffer& buffer, const Construct& loop) {
  const bool meets = buffer.first_step <= loop.end && loop.begin <= buffer.last_step;
  const bool inside = loop.begin < buffer.first_step && buffer.last_step < loop.end;
  if (buffer.first_step < 0 || !meets || inside) return;
  buffer.first_step = std::min(buffer.first_step, loop.begin);
  buffer.last_step = std::max(buffer.last_step, loop.end);
}

}  // namespace

void SetLifetimes(Program& program) {
  for (Buffer& buffer : program.buffers) buffer.first_step = buffer.last_step = -1;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    for (const BufferAccess& access : StepAccesses(program, program.steps[i])) {
      Touch(program.buffers[access.buffer], static_cast<int>(i));
      Touch(program.buffers[BaseOf(program, access.buffer)], static_cast<int>(i));
    }
  }
  for (const Construct& construct : Constructs(program)) {
    if (!construct.is_loop) continue;
    for (Buffer& buffer : program.buffers) SpanLoop(buffer, construct);
  }
}

}  // namespace aotc
