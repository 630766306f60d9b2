// Exact search for a small arena: the smallest, or the best that a fixed amount of work finds.
//
//   ArenaSearch found = SearchArena(blocks, 64, greedy.bytes, kWork);
//   found.assignment   // smaller than greedy.bytes, or none
//   found.complete     // nothing smaller exists
//
// Steps whose live blocks are all alive at another step do not matter: what is left are sections of
// time. Whether all fits below the lower bound is decided first, then below what the last answer
// needed, by many attempts of two searches (skyline_search.h, rising_search.h) that differ in the
// order of the blocks, the choice of the next place and the direction of time.
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

// Looks for an assignment of fewer than `bytes` bytes. `work` bounds the sections and blocks that
// may be touched in all, so that a compile gives the same plan on every machine.
ArenaSearch SearchArena(const std::vector<ArenaBlock>& blocks, int64_t align, int64_t bytes,
                        int64_t work);

// An assignment of at most `capacity` bytes, if one is found before `work`, which is used up, ends.
std::optional<ArenaAssignment> FitArena(const std::vector<ArenaBlock>& blocks, int64_t align,
                                        int64_t capacity, int64_t& work);

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_SEARCH_ARENA_H_
