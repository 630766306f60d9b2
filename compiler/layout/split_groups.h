// Grouped convolutions written as one convolution per group, for targets whose tiles know no
// groups.
//
//   %y = Conv(%x, %w) {group=2}
//
//   %x0 = Slice(%x, channels of group 0)      %y0 = Conv(%x0, rows of %w of group 0)
//   %x1 = Slice(%x, channels of group 1)      %y1 = Conv(%x1, rows of %w of group 1)
//   %y = Concat(%y0, %y1) {axis=1}
#ifndef AOTC_COMPILER_LAYOUT_SPLIT_GROUPS_H_
#define AOTC_COMPILER_LAYOUT_SPLIT_GROUPS_H_

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/pass/pass.h"

namespace aotc {

// Needs types. Convolutions stay as they are whose groups have one input channel (a depthwise tile
// is made for these), whose weights are not constant, or that have more than 64 groups.
absl::StatusOr<Graph> SplitGroups(const Graph& graph);

// The pass: for targets whose tiles read blocks of channels.
absl::StatusOr<Graph> SplitGroups(const Graph& graph, PassContext& context);

}  // namespace aotc

#endif  // AOTC_COMPILER_LAYOUT_SPLIT_GROUPS_H_
