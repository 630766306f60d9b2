// Reductions that combine for each place of an axis the elements of its block up to there, which
// is how running sums come,
//
//   %y[i<n] = reduce sum(r<32) select(floor_div(i, 32)*32 + r <= i, %x[floor_div(i, 32)*32 + r], 0)
//
// as one value that runs through each block: n steps in place of 32 * n, in the same order.
//
//   for block in 0..ceil_div(n, 32) {
//     var y_value = 0
//     for r in 0..min(32, n - block*32) {
//       y_value = y_value + %x[block*32 + r]
//       store %y[block*32 + r] = y_value } }
//
// With `<` in place of `<=` an element counts from the next place on.
#ifndef AOTC_COMPILER_LOWER_RUNNING_H_
#define AOTC_COMPILER_LOWER_RUNNING_H_

#include <optional>

#include "compiler/lower/nest.h"

namespace aotc {

struct RunningStage {
  // Its reduction goes through a block, its last inner axes are the block and those behind the axis
  // that is cut; a result lies at each of its steps.
  FlatStage stage = {};
  bool counts_from_next = false;
};

// Nothing where the stage is no such reduction to memory.
std::optional<RunningStage> ReadRunning(const Nest& nest, const FlatStage& stage);

}  // namespace aotc

#endif  // AOTC_COMPILER_LOWER_RUNNING_H_
