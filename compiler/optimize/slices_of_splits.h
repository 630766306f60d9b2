// Splits of channels between blocks as slices: each is laid out by itself, and can lie in what it
// is a slice of.
//
//   %a, %b = Split(%x) {axis=1}      =>      %a = Slice(%x) of channels 0 to 31, %b = ... 32 to 63
#ifndef AOTC_COMPILER_OPTIMIZE_SLICES_OF_SPLITS_H_
#define AOTC_COMPILER_OPTIMIZE_SLICES_OF_SPLITS_H_

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/pass/pass.h"

namespace aotc {

// The pass: of channels alone, parts that begin on the target's blocks; anywhere where it has none.
// Needs types.
absl::StatusOr<Graph> SlicesOfSplits(const Graph& graph, PassContext& context);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_SLICES_OF_SPLITS_H_
