// Stages over no elements: they read nothing, and what they would read need not be computed.
//
//   %t[i<4, j<0] = exp(%x[i, j])                // ... = 0.0: nothing reads %x
//   %acc[i<4] = reduce sum(r<0) %t[i, r]        // %acc[i<4] = 0.0
#ifndef AOTC_COMPILER_OPS_EMPTY_STAGES_H_
#define AOTC_COMPILER_OPS_EMPTY_STAGES_H_

#include "compiler/ir/kernel.h"

namespace aotc {

// Reductions over no elements become their identities, and bodies of results without elements
// become zeros. What was read is left for a removal of dead stages.
void SimplifyEmptyStages(Kernel& kernel);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_EMPTY_STAGES_H_
