// A schedule: how a kernel is computed, as a value apart from what it computes. It says which part
// of the result a task has, where each stage is computed, by what, and where its result lives.
//
//   schedule { tasks %y(n:1, h*w:64, c:32)
//              %acc, %y @ tasks in fragment by contract_tile(14, 2, 1) }
//
// * `tasks` cuts axes of the kernel's result: a task has a block of each. `h*w` are neighbouring
//   axes that are walked as one; an axis that is not named is whole in every task. The order is
//   that in which tasks are numbered, the last axis fastest.
// * `loop k:32` cuts what a task has of an axis again, into blocks one after another.
// * A part names the stages by their results, in order: what a tile computes, then the stages that
//   take its fragments. `@` names the loop in which it runs, `tasks` or one of `loop`; `in`
//   is where the results live that later parts read: fragment (registers, one after another),
//   scratch (memory of the worker) or place (their own).
// * `by` names a tile function of the target's table with the values of its parameters, or a way of
//   writing plain loops: loops(lanes), threads(count), row_groups(group, threads), packs(elements,
//   threads), updates(blocks, threads).
// * `partial` marks the part that folds a block of a reduction into what it has of those before:
//   weighted values whose weights are not final yet. Its loop is over the axis that is reduced.
//
// Names of axes are those of the stage that defines the result, and of their parts in storage:
// `c_o` counts the blocks of c, `c_i` within a block, `c_g` the groups of a grouped convolution.
//
// A schedule can be printed, parsed and applied to the kernel again; nothing that it decides is
// written anywhere else.
#ifndef AOTC_COMPILER_SCHEDULE_SCHEDULE_H_
#define AOTC_COMPILER_SCHEDULE_SCHEDULE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ir/kernel.h"
#include "compiler/schedule/tile.h"

namespace aotc {

class Scanner;  // compiler/support/scanner.h

// A block of `block` elements of axes that are walked as one.
struct Cut {
  std::vector<std::string> axes = {};
  int64_t block = 1;
  friend bool operator==(const Cut&, const Cut&) = default;
};

// Where the results of a part live for the parts behind it.
enum class StageMemory : uint8_t { kFragment, kScratch, kPlace };

struct SchedulePart {
  std::vector<std::string> results = {};  // tensors, the first the one that the tile computes
  std::vector<std::string> at = {};       // axes of the loop in which it runs; none: tasks
  StageMemory memory = StageMemory::kFragment;
  std::string by = {};  // a tile's name, or a way of writing loops
  std::vector<int64_t> params = {};
  bool is_partial = false;
  friend bool operator==(const SchedulePart&, const SchedulePart&) = default;
};

struct Schedule {
  std::string result = {};  // whose axes are cut
  std::vector<Cut> tasks = {};
  std::vector<Cut> loops = {};  // outermost first
  std::vector<SchedulePart> parts = {};
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

// The part that a tile function computes; else the first. Whether a name is one of plain loops.
const SchedulePart& HeartOf(const Schedule& schedule);
bool IsPlainLoops(std::string_view by);

// The results of all stages, in order.
std::vector<std::string> ResultNames(const Kernel& kernel);
// A schedule whose one part computes all stages.
Schedule WholeKernel(const Kernel& kernel, std::vector<Cut> tasks, StageMemory memory,
                     std::string_view by, std::vector<int64_t> params);

// The cut of these axes; null where they are not cut.
const Cut* FindCut(const Schedule& schedule, const std::vector<std::string>& axes);

std::string PrintSchedule(const Schedule& schedule);
absl::StatusOr<Schedule> ParseSchedule(Scanner& scanner);
absl::StatusOr<Schedule> ParseSchedule(std::string_view text);

// Error: the schedule is none of this kernel: it names other tensors or axes, stages stand in
// another order or are missing, a block is not positive, a tile or its parameters are not in the
// table.
absl::Status VerifySchedule(const Kernel& kernel, const Schedule& schedule, TileTable tiles);

}  // namespace aotc

#endif  // AOTC_COMPILER_SCHEDULE_SCHEDULE_H_
