// Contractions of quantised tensors on the integers that are stored.
//
//   %x = DequantizeLinear(%qx, %sx, %zx)                 // u8 or i8, one scale
//   %w = DequantizeLinear(%qw, %sw, %zw)                 // a constant, a scale per output channel
//   %y = Conv(%x, %w, %b)
//     =>
//   %sums = ConvInteger(%qx, %qw) {pad_value=zx}         // u8 times i8 into i32, no zero points
//   %all = Add(%sums, %correction)                       // i32: zero points, and the bias over sx
//   * sw %y = Mul(Cast(%all), %factor)                        // sx * sw, one per channel
//
// Likewise MatMul and Gemm (MatMulInteger), and QLinearConv, QLinearMatMul, ConvInteger and
// MatMulInteger as models write them. A contraction that stays as it is gets its weights folded.
//
// A scale that only rounding follows joins the factor: QuantizeLinear then has the scale 1. That
// rounds once less than the model says, so that a result may be a quantum off where it is a tie.
// Values that are only moved or compared between a DequantizeLinear and a QuantizeLinear of the
// same scale and zero point stay integers.
#ifndef AOTC_COMPILER_OPTIMIZE_INTEGER_CONTRACTIONS_H_
#define AOTC_COMPILER_OPTIMIZE_INTEGER_CONTRACTIONS_H_

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/pass/pass.h"

namespace aotc {

absl::StatusOr<Graph> IntegerContractions(const Graph& graph, PassContext& context);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_INTEGER_CONTRACTIONS_H_
