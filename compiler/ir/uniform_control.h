// Where the threads of a task may take different ways.
//
//   DivergentBarriers(function)   // {"a barrier is under a condition that differs among threads"}
#ifndef AOTC_COMPILER_IR_UNIFORM_CONTROL_H_
#define AOTC_COMPILER_IR_UNIFORM_CONTROL_H_

#include <string>
#include <vector>

#include "compiler/ir/loops.h"

namespace aotc {

// A message for each barrier that some threads of a task may not reach, or not as often as others:
// under a condition or a loop whose extent depends on `thread`, on the variable of a thread loop,
// on local memory, or on a variable that is assigned under such control.
std::vector<std::string> DivergentBarriers(const LoopFunction& function);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_UNIFORM_CONTROL_H_
