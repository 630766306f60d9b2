// Kernels to loops without tile functions: the realisation that always exists, and the oracle.
//
//   LoopFunction f = *LowerToLoops(kernel, {.lanes = 16});  // vectors along the innermost axis
//   LoopFunction g = *LowerToLoops(kernel, {});             // scalars
#ifndef AOTC_COMPILER_LOWER_LOWER_LOOPS_H_
#define AOTC_COMPILER_LOWER_LOWER_LOOPS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/kernel.h"
#include "compiler/ir/loops.h"
#include "compiler/lower/nest.h"
#include "compiler/schedule/schedule.h"

namespace aotc {

// The nest that plain loops and their schedules are about.
absl::StatusOr<Nest> LoopNest(const Kernel& kernel);

// Vectors of `lanes`, tasks as PointCuts has them.
Schedule ScheduleLoops(const Kernel& kernel, const Nest& nest, int lanes);
// The same first, then with an iteration of all axes to a task, the innermost in up to eight parts.
std::vector<Schedule> LoopCandidates(const Kernel& kernel, const Nest& nest, int lanes);

// Error: the schedule is none of plain loops, or cuts an axis that cannot be.
absl::StatusOr<LoopFunction> LowerToLoops(const Kernel& kernel, Nest nest,
                                          const Schedule& schedule);

// The points of the axes from `first` on, in vectors of `lanes` along the innermost; those in front
// are the caller's variables.
std::vector<Stmt> PointLoopsFrom(const Nest& nest, size_t first, int lanes);

// One thread per point (or per row): for GPUs. `threads` per block.
absl::StatusOr<LoopFunction> LowerToThreads(const Kernel& kernel, int64_t threads);

// Statements that define the variables of `axes` from a number that counts their product, halos
// included (the variable is negative in the halo before).
std::vector<Stmt> DecodeAxes(const std::vector<NestAxis>& axes, const Expr& number);
Expr CountOf(const std::vector<NestAxis>& axes);

// An empty function with the kernel's name, params, symbols and buffers.
LoopFunction StartFunction(const Kernel& kernel, const Nest& nest);

// Gives the buffer a place in the function's scratch, behind what is there already.
void PlaceInScratch(LoopBuffer& buffer, LoopFunction& function);

}  // namespace aotc

#endif  // AOTC_COMPILER_LOWER_LOWER_LOOPS_H_
