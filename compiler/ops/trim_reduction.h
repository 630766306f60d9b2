// Reductions over taps of which some always read padding: these taps are left out.
//
//   reduce sum(r0<3) select(1 <= r0 && r0 < 2, %x[r0 - 1], 0.0) * %w[r0]
//   reduce sum(r0<1) %x[r0] * %w[r0 + 1]                // after TrimReduceAxes and Simplify
#ifndef AOTC_COMPILER_OPS_TRIM_REDUCTION_H_
#define AOTC_COMPILER_OPS_TRIM_REDUCTION_H_

#include "compiler/ir/kernel.h"

namespace aotc {

// Narrows the reduce axes of sums whose body is zero outside of a constant range of the axis; the
// body is then in terms of the narrowed axes, and not simplified. False: nothing to narrow.
bool TrimReduceAxes(Kernel& kernel);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_TRIM_REDUCTION_H_
