// Discrete Fourier transforms of a known length written as products with constant matrices.
//
//   %y = DFT(%x, _, %axis)                                         %x: [1048576, 1]
//
//   %s = MatMul(%matrix, Reshape(%x)); %t = ComplexProduct(%s, %turns)      once for each factor
//   %y = Reshape(Transpose(MatMul(%t, %matrix)))
//
// For n elements that is n times the sum of some factors of the length, and not n times n; what
// has a large prime in it is padded to a length that has none (fourier_plan.h). Matrices and turns
// are worked out in f64; results differ from the definition by roundings, as sums in another order
// do. DFT and STFT stay as they are where only a run knows the length or the axis.
#ifndef AOTC_COMPILER_OPTIMIZE_SPLIT_TRANSFORMS_H_
#define AOTC_COMPILER_OPTIMIZE_SPLIT_TRANSFORMS_H_

#include "compiler/pass/pass.h"

namespace aotc {

// Needs types.
absl::StatusOr<Graph> SplitTransforms(const Graph& graph, PassContext& context);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_SPLIT_TRANSFORMS_H_
