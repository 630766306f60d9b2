// The memory plan as text, for people: who lies where in the arena, and during which steps.
//
//   arena 640 bytes, its lower bound
//       offset        bytes    steps   buffer
//            0          256      0-1   %conv1
//          256          128      1-2   %pool1
//
// Where the arena is made of pools, each has such a part of its own, with offsets in the pool.
#ifndef AOTC_COMPILER_PLAN_MEMORY_MAP_H_
#define AOTC_COMPILER_PLAN_MEMORY_MAP_H_

#include <string>
#include <string_view>

#include "compiler/ir/program.h"

namespace aotc {

// Why the arena of a planned program cannot be smaller in this order of the steps: "lower_bound"
// (so many bytes are alive at one step), "search" (all other assignments have been ruled out), or
// "none": it may.
std::string_view ArenaProof(const Program& program);

// The same of the buffers that lie in a pool.
std::string_view PoolProof(const Pool& pool);

// The arena over its lower bound; 1 where that is 0.
double ArenaRatio(const Program& program);

// One line, without its end: "arena 640 bytes, its lower bound", "arena 704 bytes, 1.100 times its
// lower bound of 640, proven smallest", or the same without the last words.
std::string DescribeArena(const Program& program);

// A line with its end for each pool: "pool fast 448 of 512 bytes, its lower bound, 61.2 % of the
// traffic" (bytes that the steps read and write in the arena). Nothing where there are none.
std::string DescribePools(const Program& program);

// Buffers of the arena by offset, then by first step. A view is named behind its base.
std::string PrintMemoryMap(const Program& program);

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_MEMORY_MAP_H_
