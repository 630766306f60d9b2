// Shuffles of channels moved behind depthwise convolutions, whose channels may come in any order.
//
//   %s = Transpose(Reshape(%x, [n, 4, 17, h, w])) {perm=[0, 2, 1, 3, 4]}, as [n, 68, h, w]
//   %y = Conv(%s, %w) {group=68}                 // rows of %w in the order of %s
//
//   %d = Conv(%x, %v) {group=68}                 // the same rows in the order of %x
//   %y = Transpose(Reshape(%d, [n, 4, 17, h, w])) {perm=[0, 2, 1, 3, 4]}, as [n, 68, h, w]
//
// What reads %y then sums over channels, as convolutions do, and can take them from anywhere
// (ShuffleNet: Zhang and others, https://arxiv.org/abs/1707.01083).
#ifndef AOTC_COMPILER_OPTIMIZE_SHUFFLES_LAST_H_
#define AOTC_COMPILER_OPTIMIZE_SHUFFLES_LAST_H_

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/pass/pass.h"

namespace aotc {

// Needs types. Convolutions stay as they are whose filters are not constant, or whose shuffle has
// other readers.
absl::StatusOr<Graph> ShufflesLast(const Graph& graph);

// The pass: for targets whose tiles read blocks of channels.
absl::StatusOr<Graph> ShufflesLast(const Graph& graph, PassContext& context);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_SHUFFLES_LAST_H_
