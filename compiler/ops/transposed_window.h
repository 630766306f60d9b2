// The geometry of a transposed convolution: which taps of which input elements meet in an element
// of the result.
//
//   AOTC_ASSIGN_OR_RETURN(TransposedWindow w,
//                         MakeTransposedWindow(node, x_dims, weight_dims, bounds));
//   w.out;                 // spatial dims of the result
//   w.Position(0, o, k);   // (o + pad_begin - k * dilation) / stride, of input axis 0
//   w.Reached(o, k);       // bool: the division is exact and the input has the element
#ifndef AOTC_COMPILER_OPS_TRANSPOSED_WINDOW_H_
#define AOTC_COMPILER_OPS_TRANSPOSED_WINDOW_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/simplifier.h"
#include "compiler/ops/tensor_builder.h"

namespace aotc {

struct TransposedWindow {
  Shape input = {};                  // spatial dims of the input
  Shape out = {};                    // spatial dims of the result
  std::vector<int64_t> kernel = {};  // none where only a run knows it
  std::vector<int64_t> strides = {};
  std::vector<int64_t> dilations = {};
  std::vector<Expr> pad_begin = {};  // leading elements of the full result that are cut off

  size_t rank() const { return input.size(); }
  // From the first to the last tap.
  int64_t Reach(size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
  Expr Position(size_t axis, const Expr& o, const Expr& k) const;
  Indices Positions(const Indices& o, const Indices& k) const;
  Expr Reached(const Indices& o, const Indices& k) const;
};

// From the attributes strides, dilations, pads, output_padding, output_shape and auto_pad (ONNX
// ConvTranspose-22) of `node`. `x` is [N, C, spatial...], `weight` [C, M / groups, kernel...].
// Error: attributes that do not fit, a result without elements.
absl::StatusOr<TransposedWindow> MakeTransposedWindow(const Node& node, const Shape& x,
                                                      const std::vector<int64_t>& weight,
                                                      const Bounds& bounds);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_TRANSPOSED_WINDOW_H_
