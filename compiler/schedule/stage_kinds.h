// What kinds of work a kernel's stages are, for all who decide by it.
//
//   %acc[m, n] = reduce sum(k) %a[m, k] * %b[k, n]      // IsContraction
#ifndef AOTC_COMPILER_SCHEDULE_STAGE_KINDS_H_
#define AOTC_COMPILER_SCHEDULE_STAGE_KINDS_H_

#include "compiler/ir/kernel.h"

namespace aotc {

// A contraction: a sum over reduce axes of a product of two loads; a sum of squares is not one.
bool IsContraction(const Stage& stage);
// Of any kind, zero points or not: what reports count.
bool HasContraction(const Kernel& kernel);
bool HasReduction(const Kernel& kernel);
// One of its contractions has constants for an operand.
bool MultipliesConstants(const Kernel& kernel);
// Whether a body of the stage has an element of the tensor.
bool Reads(const Stage& stage, TensorId tensor);
// Elements only go from one place to another: nothing is computed of them but their type.
bool OnlyMoves(const Kernel& kernel);

}  // namespace aotc

#endif  // AOTC_COMPILER_SCHEDULE_STAGE_KINDS_H_
