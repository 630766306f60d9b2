// Dilated convolutions of bytes with few channels as dense ones: their operands stay row-major, and
// tiles read neighbours of a row in groups.
//
//   %y = ConvInteger(%x, %w) {dilations=[2, 2]}      // %w: [8, 3, 3, 3]
//
//   %y = ConvInteger(%x, %v) {dilations=[2, 1]}      // %v: [8, 3, 3, 5], every other tap 0
#ifndef AOTC_COMPILER_LAYOUT_DENSE_TAPS_H_
#define AOTC_COMPILER_LAYOUT_DENSE_TAPS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace aotc {

// Needs types. Of operands with fewer than `least_channels` channels.
absl::StatusOr<Graph> DenseTaps(const Graph& graph, int64_t least_channels);

}  // namespace aotc

#endif  // AOTC_COMPILER_LAYOUT_DENSE_TAPS_H_
