// Rows of a nest, each by a group of neighbouring threads: reductions are dealt out to the group
// and combined by shuffles, what all threads of it need again lies in shared memory.
//
//   Nest nest = *BuildNest(softmax);
//   LoopFunction f = *LowerToRowGroups(softmax, nest, {.group = 32, .threads = 128});
//   // for (int64_t k = lane; k < 100; k += 32) top = max(top, x[row*100 + k]);
//   // top = aotc_warp_reduce<32>(top, ...);
#ifndef AOTC_COMPILER_LOWER_ROW_GROUPS_H_
#define AOTC_COMPILER_LOWER_ROW_GROUPS_H_

#include "absl/status/statusor.h"
#include "compiler/ir/loops.h"
#include "compiler/lower/nest.h"

namespace aotc {

// `group` threads to a row, a power of two up to 32 or the whole block. Numbers follow from the
// group alone: the order of combination is the same in every run. Combiners must not mind the order
// of their operands, since neighbouring elements go to different threads.
struct RowGroups {
  int64_t group = 32;
  int64_t threads = 128;  // of a block
};

// Error: rows whose temps do not fit in shared memory, or results of several ranks in one stage.
absl::StatusOr<LoopFunction> LowerToRowGroups(const Kernel& kernel, Nest nest,
                                              const RowGroups& groups);

// Most elements that one stage deals out to a group, at the symbols' maxima.
int64_t LongestDeal(const Nest& nest);

}  // namespace aotc

#endif  // AOTC_COMPILER_LOWER_ROW_GROUPS_H_
