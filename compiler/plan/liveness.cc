#include "compiler/plan/liveness.h"

#include "compiler/ir/program_access.h"

namespace aotc {
namespace {

void Touch(Buffer& buffer, int step) {
  if (buffer.first_step < 0) buffer.first_step = step;
  buffer.last_step = step;
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
}

}  // namespace aotc
