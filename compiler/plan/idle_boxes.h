// What is in the arena without use: boxes that are not written yet while others of their base are.
#ifndef AOTC_COMPILER_PLAN_IDLE_BOXES_H_
#define AOTC_COMPILER_PLAN_IDLE_BOXES_H_

#include <string>

#include "compiler/ir/program.h"

namespace aotc {

// Of a planned program, at the step where most bytes are alive: the value made of boxes in which
// most are not written yet. "" where there is none.
std::string IdlestValue(const Program& program);

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_IDLE_BOXES_H_
