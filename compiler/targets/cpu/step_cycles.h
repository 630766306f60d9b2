// What the operations of a loop's body take.
//
//   StepCycles(exp(%x[i] * s), {"s"}, true)      // an exponential and a product, of vectors
#ifndef AOTC_COMPILER_TARGETS_CPU_STEP_CYCLES_H_
#define AOTC_COMPILER_TARGETS_CPU_STEP_CYCLES_H_

#include <set>
#include <string>

#include "compiler/ir/expr.h"

namespace aotc {

// Cycles of an expression in each step: operations on what `fixed` names alone are done once for
// many steps, and indices of vectors once for all lanes.
double StepCycles(const Expr& e, const std::set<std::string>& fixed, bool is_vector);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_STEP_CYCLES_H_
