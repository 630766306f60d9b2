// Copies that read along another axis than they write, on a CPU: the columns of matrices as rows.
//
//   %y[n, w, c] = %x[n, c, w]
//   schedule { tasks %y(n:1, w:64, c:64)  %y @ tasks in fragment by transpose_tile(16) }
//
// A task has a block of both axes, and one iteration of all others.
#ifndef AOTC_COMPILER_TARGETS_CPU_TRANSPOSE_H_
#define AOTC_COMPILER_TARGETS_CPU_TRANSPOSE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/lower/nest.h"
#include "compiler/schedule/schedule.h"

namespace aotc {

inline constexpr std::string_view kTransposeTile = "transpose_tile";

struct Transpose {
  Nest nest = {};
  size_t row = 0, column = 0;  // outer axes: the one written along, the one read along
  Expr load = {};
  // Elements from a row of what is read to its next, and likewise of what is written.
  Expr read_step = {}, written_step = {};
};

// Of the plain loops of a kernel with its constants packed. Error: the reason why it is none.
absl::StatusOr<Transpose> ReadTranspose(Nest nest);

struct TransposeTiling {
  int64_t rows = 1, columns = 1;  // of a task
  int64_t block = 16;             // of the tile, along both
};

// Error: the reason why the schedule is none of this copy.
absl::StatusOr<TransposeTiling> TransposeTilingOf(const Kernel& kernel, const Transpose& transpose,
                                                  const Schedule& schedule);

// Blocks and tasks of several sizes, the best first.
std::vector<Schedule> TransposeCandidates(const Kernel& kernel, const Transpose& transpose);

// Error: the schedule is none of this copy.
absl::StatusOr<LoopFunction> ApplyTranspose(const Kernel& kernel, const Transpose& transpose,
                                            const Schedule& schedule);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_TRANSPOSE_H_
