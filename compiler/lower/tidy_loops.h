// Loops as a person would write them: no loop of one iteration, no empty loop, no decided branch.
#ifndef AOTC_COMPILER_LOWER_TIDY_LOOPS_H_
#define AOTC_COMPILER_LOWER_TIDY_LOOPS_H_

#include "compiler/ir/loops.h"

namespace aotc {

// Substitutes variables that have one value (loops of one iteration, lets of constants), drops
// loops of none and lets that nothing reads, decides ifs, and spells floor_div and mod of what
// cannot be negative as / and %.
Stmt TidyLoops(const Stmt& stmt, const Bounds& bounds);
// The same for a whole function, where `task` and `thread` are not negative, without stores into
// buffers of its own that nothing reads; then NameBuffers.
void TidyLoops(LoopFunction& function);

}  // namespace aotc

#endif  // AOTC_COMPILER_LOWER_TIDY_LOOPS_H_
