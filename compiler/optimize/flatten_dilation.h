// Convolutions between space-to-batch and its inverse written as dilated ones. Some exporters write
// a dilation of b by moving the pixels of each phase mod b into an image of its own:
//
//   %p = Pad(%x); %s = Reshape(Transpose(Reshape(%p)))       [N, C, H, W] -> [N * b * b, C, H', W']
//   %c = Conv(%s, %w)
//   %y = Slice(Reshape(Transpose(Reshape(%c))))              back, without what the padding added
//
//   %y = Conv(%x, %w) {dilations=[b, b]}
//
// However the moves are spelled, they are followed element by element: the rewrite is done where
// each element of the image lies at the place that a phase gives it, and each of the result comes
// from there; then a tap of the inner convolution reads the pixel that the tap of the dilated one
// reads, and zero where that reads padding. Other strides, other fills, pixels cut off, phases in
// another order, results that others read: nothing is done (TVM's FlattenAtrousConv checks none of
// it).
#ifndef AOTC_COMPILER_OPTIMIZE_FLATTEN_DILATION_H_
#define AOTC_COMPILER_OPTIMIZE_FLATTEN_DILATION_H_

#include "compiler/pass/pass.h"

namespace aotc {

// Needs types. Convolutions over two axes of images whose sizes are static.
absl::StatusOr<Graph> FlattenDilation(const Graph& graph, PassContext& context);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_FLATTEN_DILATION_H_
