// As many places as memory allows: what lies in a larger value keeps all of that alive, and a value
// with two rooms is twice as large.
//
//   Scheduler schedule = ScheduledOnce(target.schedule);      // programs are built more than once
//   FusedGraph fused = *FuseWithinArena(graph, options, {schedule, smaller});
#ifndef AOTC_COMPILER_DRIVER_FUSE_WITHIN_ARENA_H_
#define AOTC_COMPILER_DRIVER_FUSE_WITHIN_ARENA_H_

#include "absl/status/statusor.h"
#include "compiler/fuse/fuse.h"
#include "compiler/lower/build_program.h"
#include "compiler/plan/fit_scratch.h"

namespace aotc {

// What the program will be planned with.
struct Planning {
  Scheduler schedule = {};
  SmallerVariant smaller = {};
  bool threads = true;
  bool for_size = false;  // nothing is worth a larger arena
};

// Plans the program with places and with copies. Where the arena of the first is more than a
// twentieth larger (larger at all, for size), operands of the Concat whose result is idlest at its
// peak are copied, until it is not.
absl::StatusOr<FusedGraph> FuseWithinArena(const Graph& graph, FuseOptions options,
                                           const Planning& planning);

// Whether carried values of loops may have two rooms, which rounds use in turn: not where the arena
// then is more than a twentieth larger than with a copy in each round.
absl::StatusOr<bool> MayUseRoomsInTurn(const Graph& graph, const FusedGraph& fused,
                                       const Planning& planning);

// Schedules each kernel once.
Scheduler ScheduledOnce(Scheduler schedule);

}  // namespace aotc

#endif  // AOTC_COMPILER_DRIVER_FUSE_WITHIN_ARENA_H_
