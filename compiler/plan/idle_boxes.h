// What is in the arena without use: boxes that are not written yet while others of their base are.
#ifndef AOTC_COMPILER_PLAN_IDLE_BOXES_H_
#define AOTC_COMPILER_PLAN_IDLE_BOXES_H_

#include <cstdint>
#include <string>

#include "compiler/ir/program.h"

namespace aotc {

// Of a planned program, at a step where more than `most` bytes are alive: the value made of boxes
// in which most are not written yet; where all are written, the largest. "" where there is none.
std::string IdlestValue(const Program& program, int64_t most);

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_IDLE_BOXES_H_
