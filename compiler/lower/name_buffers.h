// Buffers of a function under names that none of its variables has: a tensor of a model may well be
// called "task", "r1" or "acc".
//
//   loops @pool(%r1, %y) ... for serial r1 in 0..2 { ... %r1[...] ... }     ->  %r1_data
#ifndef AOTC_COMPILER_LOWER_NAME_BUFFERS_H_
#define AOTC_COMPILER_LOWER_NAME_BUFFERS_H_

#include "compiler/ir/loops.h"

namespace aotc {

// Renames buffers; variables, symbols and function objects keep their names.
void NameBuffers(LoopFunction& function);

}  // namespace aotc

#endif  // AOTC_COMPILER_LOWER_NAME_BUFFERS_H_
