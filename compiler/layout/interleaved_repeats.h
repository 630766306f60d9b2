// Upsampling by whole factors as pixels in turn, each of which whatever makes the operand can write
// as well.
//
//   %y = Resize(%x, ...) {mode="nearest"}          // [1, 32, 20, 20] to [1, 32, 40, 40]
//
//   %r00 = Identity(%x) ...                        // four of them
//   %r0 = Interleave(%r00, %r01) {axis=3}
//   %y = Interleave(%r0, %r1) {axis=2}
//
// Which ops those are is read from their index maps.
#ifndef AOTC_COMPILER_LAYOUT_INTERLEAVED_REPEATS_H_
#define AOTC_COMPILER_LAYOUT_INTERLEAVED_REPEATS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace aotc {

// Of values with at least one whole block of `block` channels, which a node other than one that
// only moves elements makes; at most eight pixels of one.
absl::StatusOr<Graph> InterleavedRepeats(const Graph& graph, int64_t block);

}  // namespace aotc

#endif  // AOTC_COMPILER_LAYOUT_INTERLEAVED_REPEATS_H_
