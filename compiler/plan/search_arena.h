// Exact search for a small arena: the smallest, or the best that a fixed amount of work finds.
//
//   ArenaSearch found = SearchArena(blocks, 64, greedy.bytes, kWork);
//   found.assignment   // smaller than greedy.bytes, or none
//   found.complete     // nothing smaller exists
//
// Only canonical assignments are searched: blocks are placed by ascending offset, each right on top
// of those below it that live at the same time. Any assignment can be pushed down into that form.
// A branch ends where the blocks still to place at some step cannot fit, or where one of them would
// have fitted below the block just placed. The idea of searching canonical forms with bounds per
// step is that of MiniMalloc (Moffitt, ASPLOS 2023).
#ifndef AOTC_COMPILER_PLAN_SEARCH_ARENA_H_
#define AOTC_COMPILER_PLAN_SEARCH_ARENA_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/plan/assign_arena.h"

namespace aotc {

struct ArenaSearch {
  std::optional<ArenaAssignment> assignment = {};
  bool complete = false;
};

// Looks for an assignment of fewer than `bytes` bytes. `work` bounds how many blocks may be touched
// in all, so that a compile gives the same plan on every machine.
ArenaSearch SearchArena(const std::vector<ArenaBlock>& blocks, int64_t align, int64_t bytes,
                        int64_t work);

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_SEARCH_ARENA_H_
