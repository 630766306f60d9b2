// Lending: what is made of boxes takes memory from the first of them on; the place of a box that is
// not written yet can hold others until then.
//
//   const std::vector<IdleRange> idle = IdleRanges(program, classes);
//   const ArenaAssignment lent = AssignWithLending(blocks, idle, align);
//   lent.offsets   // of all blocks, those lent a place within another included
//
// A skip connection of a U-Net is written early, the box beside it late: the deeper levels lie
// there.
#ifndef AOTC_COMPILER_PLAN_LEND_IDLE_H_
#define AOTC_COMPILER_PLAN_LEND_IDLE_H_

#include <cstdint>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/plan/alias_classes.h"
#include "compiler/plan/assign_arena.h"

namespace aotc {

// Bytes of a block that no step touches from the block's first step to `last_step`.
struct IdleRange {
  int block = 0;       // a class of aliases
  int64_t offset = 0;  // in it; a multiple of the alignment, as `bytes`
  int64_t bytes = 0;
  int first_step = 0;
  int last_step = 0;
};

// Of all classes with one member. None where the program has branches or loops.
std::vector<IdleRange> IdleRanges(const Program& program, const std::vector<AliasClass>& classes);

// Largest sum of bytes that are alive and not idle at one step.
int64_t BusyBytesBound(const std::vector<ArenaBlock>& blocks, const std::vector<IdleRange>& idle,
                       int64_t align);

// AssignArena, with blocks of the worst steps in idle ranges of others where that takes less.
ArenaAssignment AssignWithLending(const std::vector<ArenaBlock>& blocks,
                                  const std::vector<IdleRange>& idle, int64_t align);

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_LEND_IDLE_H_
