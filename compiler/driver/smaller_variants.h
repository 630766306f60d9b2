// Variants of a kernel with less scratch, among the candidates of a target.
//
//   AOTC_RETURN_IF_ERROR(PlanMemory(program, SmallerVariants(target)));
#ifndef AOTC_COMPILER_DRIVER_SMALLER_VARIANTS_H_
#define AOTC_COMPILER_DRIVER_SMALLER_VARIANTS_H_

#include "compiler/plan/fit_scratch.h"
#include "compiler/targets/target.h"

namespace aotc {

// The fastest of the candidates that fit, by what they should take; with nothing where the schedule
// that the variant has is none of them.
SmallerVariant SmallerVariants(const Target& target);

}  // namespace aotc

#endif  // AOTC_COMPILER_DRIVER_SMALLER_VARIANTS_H_
