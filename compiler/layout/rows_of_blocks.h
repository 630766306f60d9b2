// Softmax, and what else is computed along an axis, over as many channels as a block has, which lie
// together: computed where they lie.
//
//   %r = Reshape(%x)                           // [1, 64, 8400] in blocks of 16; [1, 4, 16, 8400]
//   %y = Softmax(%r) {axis=2}
//
//   %t = Transpose(%r) {perm=[0, 1, 3, 2]}     // [1, 4, 8400, 16]: the elements of %x as they lie
//   %s = Softmax(%t) {axis=3}
//   %y = Transpose(%s) {perm=[0, 1, 3, 2]}
//
// Detectors say distances so (Generalized Focal Loss, Li et al. 2020).
#ifndef AOTC_COMPILER_LAYOUT_ROWS_OF_BLOCKS_H_
#define AOTC_COMPILER_LAYOUT_ROWS_OF_BLOCKS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace aotc {

// Of [n, c / block, block, pixels] over the elements of a block: computed so, if what the operand
// is reshaped from lies in such blocks.
bool IsAlongBlocks(const Graph& graph, const Node& node, int64_t block);

// Of a graph that has its layouts.
absl::StatusOr<Graph> RowsOfBlocks(const Graph& graph);

}  // namespace aotc

#endif  // AOTC_COMPILER_LAYOUT_ROWS_OF_BLOCKS_H_
