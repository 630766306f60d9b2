// The memory plan as text, for people: who lies where in the arena, and during which steps.
//
//   arena 640 bytes, lower bound 640 (100 %)
//       offset        bytes    steps   buffer
//            0          256      0-1   %conv1
//          256          128      1-2   %pool1
#ifndef AOTC_COMPILER_PLAN_MEMORY_MAP_H_
#define AOTC_COMPILER_PLAN_MEMORY_MAP_H_

#include <string>

#include "compiler/ir/program.h"

namespace aotc {

// Buffers of the arena by offset, then by first step. A view is named behind its base.
std::string PrintMemoryMap(const Program& program);

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_MEMORY_MAP_H_
