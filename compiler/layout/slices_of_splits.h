// Splits of channels between blocks as slices: each is laid out by itself, and can lie in what it
// is a slice of.
//
//   %a, %b = Split(%x) {axis=1}      =>      %a = Slice(%x) of channels 0 to 31, %b = ... 32 to 63
#ifndef AOTC_COMPILER_LAYOUT_SLICES_OF_SPLITS_H_
#define AOTC_COMPILER_LAYOUT_SLICES_OF_SPLITS_H_

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace aotc {

absl::StatusOr<Graph> SlicesOfSplits(const Graph& graph, int64_t block);

}  // namespace aotc

#endif  // AOTC_COMPILER_LAYOUT_SLICES_OF_SPLITS_H_
