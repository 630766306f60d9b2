// Convolutions that look at single pixels, whose result is only read under another shape of its
// pixels: of reshaped inputs, so that what they write can lie in a larger value.
//
//   %c = Conv(%x, %w)                    // %w: [64, 32, 1, 1], %c: [1, 64, 20, 20]
//   %y = Reshape(%c)                     // [1, 64, 400]
//
//   %r = Reshape(%x)                     // [1, 32, 400]
//   %y = Conv(%r, %w)                    // %w: [64, 32, 1]
#ifndef AOTC_COMPILER_OPTIMIZE_RESHAPED_CONVOLUTIONS_H_
#define AOTC_COMPILER_OPTIMIZE_RESHAPED_CONVOLUTIONS_H_

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/pass/pass.h"

namespace aotc {

// The pass. Needs types.
absl::StatusOr<Graph> ReshapedConvolutions(const Graph& graph, PassContext& context);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_RESHAPED_CONVOLUTIONS_H_
