// Blocks of memory shared out among several pools, the fastest first: those with the most traffic
// for the room that they take come first, each into the first pool that has room for it.
//
//   const std::vector<PooledBlock> blocks = {{{256, 0, 1}, 512}, {{256, 0, 1}, 1024}};
//   PoolAssignment a = AssignPools(blocks, {256, std::nullopt}, 64);
//   a.pool_of    // {1, 0}: the second block is touched more often
//   a.offsets    // {0, 0}, each in its pool
//
// Traffic is weighed by bytes, and by bytes and steps: the way that serves the fast pools better is
// taken. Where the last pool has a bound and no room for what is left, blocks that found no place
// come first in further attempts, and take the slowest pool with room for them.
#ifndef AOTC_COMPILER_PLAN_ASSIGN_POOLS_H_
#define AOTC_COMPILER_PLAN_ASSIGN_POOLS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/plan/assign_arena.h"

namespace aotc {

struct PooledBlock {
  ArenaBlock place = {};
  int64_t traffic = 0;  // bytes that the steps read and write
};

// Most bytes of a pool. Only the last pool may be without a bound.
using PoolLimit = std::optional<int64_t>;

struct PoolAssignment {
  std::vector<int> pool_of = {};             // per block
  std::vector<int64_t> offsets = {};         // per block, in its pool; multiples of the alignment
  std::vector<ArenaAssignment> filled = {};  // per pool: of its blocks, in their order
  std::vector<int64_t> lower_bounds = {};    // per pool: most bytes of its blocks alive at a step
  int misfit = -1;     // a block for which no room was found; then only the next line holds
  int64_t enough = 0;  // a bound of the last pool with which all blocks find room
};

PoolAssignment AssignPools(const std::vector<PooledBlock>& blocks,
                           const std::vector<PoolLimit>& limits, int64_t align);

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_ASSIGN_POOLS_H_
