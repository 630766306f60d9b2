// Row nests whose rows multiply with one matrix, such as the scores and the values of attention.
//
//   Nest nest = *RowProductNest(kernel);
//   Schedule schedule = *ChooseRowProducts(kernel, nest, isa);
//   LoopFunction loops = *ApplyRowProducts(kernel, nest, schedule);
//
//   for each block of rows                                           // a task
//     aotc_row_dots<6, 2>(row_count, sequence, 64, q..., keys..., scores...);
//     for each row of the block: softmax                             // as plain loops have it
//     aotc_row_products<6, 2>(row_count, 64, sequence, weights..., values..., y...);
//
// The temps of a row become those of a block. Stages that are no products run as in plain loops.
#ifndef AOTC_COMPILER_TARGETS_CPU_ROW_PRODUCTS_H_
#define AOTC_COMPILER_TARGETS_CPU_ROW_PRODUCTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/loops.h"
#include "compiler/lower/nest.h"
#include "compiler/schedule/schedule.h"
#include "compiler/targets/cpu/cpu_target.h"

namespace aotc {

// The rows of the kernel, whose temps become those of a block.
absl::StatusOr<Nest> RowProductNest(const Kernel& kernel);

// Error, with the reason: no stage multiplies all rows with one matrix (of f32, or of bytes into
// i32) whose rows or columns are dense, or the temps of a few rows would leave the cache.
absl::StatusOr<Schedule> ChooseRowProducts(const Kernel& kernel, const Nest& nest, const Isa& isa);
// Blocks of more and of fewer rows and columns, along each axis that allows it; the above among
// them. Empty where it is an error.
std::vector<Schedule> RowProductCandidates(const Kernel& kernel, const Nest& nest, const Isa& isa);

// Error: the schedule is none of these rows.
absl::StatusOr<LoopFunction> ApplyRowProducts(const Kernel& kernel, const Nest& nest,
                                              const Schedule& schedule);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_ROW_PRODUCTS_H_
