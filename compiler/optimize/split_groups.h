// Grouped convolutions written as one convolution per group, for targets whose tiles know no
// groups. What is computed element by element of the results goes with the parts.
//
//   %y = Conv(%x, %w) {group=2}
//   %z = Relu(%y)
//
//   %x0 = Slice(%x, channels of group 0)      %y0 = Conv(%x0, rows of %w of group 0)
//   %x1 = Slice(%x, channels of group 1)      %y1 = Conv(%x1, rows of %w of group 1)
//   %z = Concat(Relu(%y0), Relu(%y1)) {axis=1}
//
// Groups of bytes with few outputs are joined, their weights being zero for inputs of each other:
// tiles compute so many outputs at a time anyway.
#ifndef AOTC_COMPILER_OPTIMIZE_SPLIT_GROUPS_H_
#define AOTC_COMPILER_OPTIMIZE_SPLIT_GROUPS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/pass/pass.h"

namespace aotc {

// Needs types. Convolutions stay as they are that have a depthwise tile, whose weights are not
// constant, or that would be more than 64 parts. `least_channels`: as that tile asks for, of bytes.
absl::StatusOr<Graph> SplitGroups(const Graph& graph, int64_t least_channels = 8);

// The pass: for targets whose tiles read blocks of channels.
absl::StatusOr<Graph> SplitGroups(const Graph& graph, PassContext& context);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_SPLIT_GROUPS_H_
