#include "compiler/plan/place_in_pools.h"

#include "compiler/plan/assign_pools.h"
#include "compiler/plan/traffic.h"
#include "compiler/support/refusal.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

std::vector<PooledBlock> BlocksOf(const Program& program, const std::vector<AliasClass>& classes) {
  const IdVector<BufferId, int64_t> traffic = BufferTraffic(program);
  std::vector<PooledBlock> blocks;
  for (const AliasClass& shared : classes) {
    PooledBlock block{.place = {shared.bytes, shared.first_step, shared.last_step}};
    for (const BufferId member : shared.members) block.traffic += traffic[member];
    blocks.push_back(block);
  }
  return blocks;
}

std::vector<PoolLimit> LimitsOf(const Program& program) {
  std::vector<PoolLimit> limits;
  for (const Pool& pool : program.pools) limits.push_back(pool.limit);
  return limits;
}

absl::Status NoRoom(const Program& program, const AliasClass& misfit, int64_t enough) {
  const std::string pools = StrJoin(program.pools, ", ", [](const Pool& pool) {
    return pool.limit ? StrCat(pool.name, "=", *pool.limit) : pool.name;
  });
  const std::string& last = (program.pools.end() - 1)->name;
  return AOTC_REFUSAL(
      ResourceExhausted,
      StrCat("no pool has room for '", program.buffers[misfit.members.front()].value, "' of ",
             misfit.bytes, " bytes: ", pools, "; hint: --pool ", last, "=", enough,
             " is enough, as is --pool ", last, " without a limit"));
}

// One after another; their sizes are multiples of the alignment.
void StackPools(Program& program, const PoolAssignment& found) {
  program.arena_bytes = 0;
  for (const PoolId id : program.pools.ids()) {
    Pool& pool = program.pools[id];
    const ArenaAssignment& filled = found.filled[id.index()];
    pool.offset = program.arena_bytes;
    pool.bytes = filled.bytes;
    pool.lower_bound = found.lower_bounds[id.index()];
    pool.is_least = filled.is_smallest && pool.bytes > pool.lower_bound;
    program.arena_bytes += pool.bytes;
  }
  program.arena_is_least = program.pools.size() == 1 && program.pools.begin()->is_least;
}

}  // namespace

absl::Status PlaceInPools(Program& program, const std::vector<AliasClass>& classes) {
  const PoolAssignment found =
      AssignPools(BlocksOf(program, classes), LimitsOf(program), program.arena_align);
  if (found.misfit >= 0) return NoRoom(program, classes[found.misfit], found.enough);
  StackPools(program, found);
  for (size_t i = 0; i < classes.size(); ++i) {
    const PoolId pool(found.pool_of[i]);
    for (const BufferId member : classes[i].members) {
      program.buffers[member].pool = pool;
      program.buffers[member].offset = program.pools[pool].offset + found.offsets[i];
    }
  }
  return absl::OkStatus();
}

}  // namespace aotc
