// Lifetimes of buffers: from the first step that touches one to the last, views counted as their
// base.
#ifndef AOTC_COMPILER_PLAN_LIVENESS_H_
#define AOTC_COMPILER_PLAN_LIVENESS_H_

#include "compiler/ir/program.h"

namespace aotc {

// Sets first_step and last_step of all buffers. A view has the lifetime of its own accesses; its
// base covers those of all its views. A buffer that no step touches has -1 for both.
void SetLifetimes(Program& program);

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_LIVENESS_H_
