// Offsets for blocks of memory that live for a range of steps each, so that blocks alive at the
// same time do not overlap and the whole is small (dynamic storage allocation).
//
//   ArenaAssignment a = AssignArena({{256, 0, 1}, {128, 1, 2}, {256, 2, 3}}, 64);
//   a.offsets   // {0, 256, 0}
//   a.bytes     // 384, which is also LiveBytesBound
//
// Blocks are placed in some order, each in the lowest gap that fits between those already placed
// that live at the same time. Several orders are tried; where the best stays above the bound,
// search_arena.h looks for the smallest.
#ifndef AOTC_COMPILER_PLAN_ASSIGN_ARENA_H_
#define AOTC_COMPILER_PLAN_ASSIGN_ARENA_H_

#include <cstdint>
#include <vector>

namespace aotc {

struct ArenaBlock {
  int64_t bytes = 0;
  int first_step = 0;  // inclusive
  int last_step = 0;   // inclusive
};

struct ArenaAssignment {
  std::vector<int64_t> offsets = {};  // multiples of the alignment, one per block
  int64_t bytes = 0;                  // end of the last block, rounded up to the alignment
  bool is_smallest = false;           // proven: no assignment has fewer bytes
};

// Largest sum of bytes, each rounded up to `align`, of the blocks alive at one step.
int64_t LiveBytesBound(const std::vector<ArenaBlock>& blocks, int64_t align);

ArenaAssignment AssignArena(const std::vector<ArenaBlock>& blocks, int64_t align);

// Places the blocks in the given order of indices, each in the lowest gap.
ArenaAssignment PlaceInOrder(const std::vector<ArenaBlock>& blocks, const std::vector<int>& order,
                             int64_t align);

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_ASSIGN_ARENA_H_
