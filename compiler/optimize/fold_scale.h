// Folds functions of the channel alone (batch normalisation, scale, bias) into the constant weights
// of the Conv, ConvTranspose, MatMul or Gemm before or after them; what is left of batch
// normalisation becomes Mul and Add.
//
//   %y = Conv(%x, %w)                                     %z = Conv(%x, %w_folded, %bias)
//   %z = BatchNormalization(%y, %s, %b, %m, %v)    =>
//
// Exact conditions: all parameters are float constants and finite, and so are the folded weights in
// their type; the value between has no other reader and is no output of the graph; the function is
// per output channel (after), or per input channel and without a shift (before: weighted.h).
#ifndef AOTC_COMPILER_OPTIMIZE_FOLD_SCALE_H_
#define AOTC_COMPILER_OPTIMIZE_FOLD_SCALE_H_

#include "compiler/pass/pass.h"

namespace aotc {

absl::StatusOr<Graph> FoldScale(const Graph& graph, PassContext& context);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_FOLD_SCALE_H_
