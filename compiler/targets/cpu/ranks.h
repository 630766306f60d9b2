// Ranks along a long axis on a CPU, by sorting in place of n * n comparisons:
//
//   %place[i<n] = reduce sum(r<n) select(%x[i] < %x[r] || ... && r < i, 1, 0)
//   %chosen[j<k] = reduce max(r<n) select(%place[r] == j, r, 0)
//   schedule { tasks %chosen()  %place @ tasks in scratch by rank_tile(1)  %chosen ... by loops }
//
// Where few or all are chosen, these are found without the ranks, which lie nowhere:
//
//   schedule { tasks %chosen()  %place, %chosen @ tasks in scratch by select_tile(1)  ... }
//   schedule { tasks %chosen()  %place, %chosen @ tasks in scratch by order_tile(1)  ... }
//
// A task has one row. Stages that are no ranks run as in plain loops.
#ifndef AOTC_COMPILER_TARGETS_CPU_RANKS_H_
#define AOTC_COMPILER_TARGETS_CPU_RANKS_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "compiler/ir/loops.h"
#include "compiler/lower/nest.h"
#include "compiler/schedule/schedule.h"

namespace aotc {

inline bool IsRankTile(std::string_view by) {
  return by.starts_with("rank_tile") || by.starts_with("order_tile") ||
         by.starts_with("select_tile");
}

// The rows. Error, with the reason: no stage is of ranks along a long axis.
absl::StatusOr<Nest> RankNest(const Kernel& kernel);

// The one schedule of that nest, which has vectors of `lanes`.
Schedule ScheduleRanks(const Kernel& kernel, const Nest& nest, int lanes);

// Error: the schedule is none of these rows.
absl::StatusOr<LoopFunction> ApplyRanks(const Kernel& kernel, const Nest& nest,
                                        const Schedule& schedule);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_RANKS_H_
