// The independent check of a memory plan. It shares no code with the planner: lifetimes are found
// anew from the steps, and every pair of buffers is compared.
#ifndef AOTC_COMPILER_PLAN_VERIFY_PLAN_H_
#define AOTC_COMPILER_PLAN_VERIFY_PLAN_H_

#include "absl/status/status.h"
#include "compiler/ir/program.h"

namespace aotc {

// Error where two arena buffers overlap in memory while both are alive, unless one is computed in
// place of the other at the one step they share; where a buffer is misaligned, lies outside the
// arena or its pool, or a lifetime is not what the steps say; where pools overlap or are larger
// than their limits; where a view may leave its base for some value of the symbols.
absl::Status VerifyPlan(const Program& program);

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_VERIFY_PLAN_H_
