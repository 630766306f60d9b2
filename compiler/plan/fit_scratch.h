// Scratch that the arena has room for: a worker more is not worth a larger arena.
//
//   // %x, 1 MB, and 100 KB of scratch for each of 16 workers at a step; 2 MB at another
//   FitScratch(program);      // 10 of them have scratch at the first: 2 MB and a twentieth suffice
#ifndef AOTC_COMPILER_PLAN_FIT_SCRATCH_H_
#define AOTC_COMPILER_PLAN_FIT_SCRATCH_H_

#include "compiler/ir/program.h"

namespace aotc {

// Shrinks buffers of scratch where the arena would be larger than without any by more than a
// twentieth, of it or of what the caller has in memory for inputs and outputs. Two workers always
// have scratch, and 4 KB are no matter. Lifetimes must be set.
void FitScratch(Program& program);

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_FIT_SCRATCH_H_
