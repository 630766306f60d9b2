// Transposed convolutions written as convolutions without holes.
//
//   %y = ConvTranspose(%x, %w) {strides=[2, 2]}                    %w: [C, M, 4, 4]
//
//   %c = Conv(%x, %w2) {pads=[1, 1, 1, 1]}                         %w2: [M * 2 * 2, C, 2, 2]
//   %y = Slice(Reshape(Transpose(Reshape(%c))), ...)               phases become pixels
//
// With stride s, element s * q + p of the uncropped result reads only the taps k with k mod s = p,
// and those read neighbours of input element q: one convolution of stride 1 computes all s phases p
// as channels of their own ("sub-pixel convolution", Shi et al. 2016). No tap meets a hole, and the
// convolution has the tiles that every other has; where kernel and stride are equal it is a matrix
// product. Where the result is laid out in blocks of channels, each phase is a convolution of its
// own, which writes where its pixels are (phases_apart.h).
#ifndef AOTC_COMPILER_CANONICALIZE_SPLIT_PHASES_H_
#define AOTC_COMPILER_CANONICALIZE_SPLIT_PHASES_H_

#include "compiler/pass/pass.h"

namespace aotc {

// Needs types. A ConvTranspose stays as it is where weight or bias are not constant, where what is
// cut off depends on a symbolic dim, and, unless math is fast, where phases differ in their taps.
absl::StatusOr<Graph> SplitPhases(const Graph& graph, PassContext& context);

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_SPLIT_PHASES_H_
