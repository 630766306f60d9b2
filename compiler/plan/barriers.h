// Where the workers of one run must meet: before a step that touches bytes which a step since the
// last meeting has written, or writes bytes which one has read.
#ifndef AOTC_COMPILER_PLAN_BARRIERS_H_
#define AOTC_COMPILER_PLAN_BARRIERS_H_

#include "compiler/ir/program.h"

namespace aotc {

// Sets Step::barrier of all steps. Offsets must be assigned: buffers that never live at the same
// time may share bytes. Step 0 has none: the run itself begins there.
void SetBarriers(Program& program);

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_BARRIERS_H_
