// Sliding windows: the geometry that convolutions and pools share.
//
//   AOTC_ASSIGN_OR_RETURN(Window window, MakeWindow(op, spatial_dims, {3, 3}));
//   window.out;                      // spatial dims of the result
//   window.Position(0, o, k);        // o * stride + k * dilation - pad_begin, of input axis 0
//   window.Inside(o, k);             // bool: no position lies in the padding
#ifndef AOTC_COMPILER_OPS_WINDOW_H_
#define AOTC_COMPILER_OPS_WINDOW_H_

#include <vector>

#include "compiler/ops/op.h"

namespace aotc {

struct Window {
  Shape input = {};  // spatial dims of the input
  Shape out = {};    // spatial dims of the result
  std::vector<int64_t> kernel = {};
  std::vector<int64_t> strides = {};
  std::vector<int64_t> dilations = {};
  std::vector<Expr> pad_begin = {};  // expressions where auto_pad meets a symbolic dim
  std::vector<Expr> pad_end = {};

  size_t rank() const { return kernel.size(); }
  // The input index along `axis` of tap k of window o; outside [0, input) in the padding.
  Expr Position(size_t axis, const Expr& o, const Expr& k) const;
  Indices Positions(const Indices& o, const Indices& k) const;
  // Whether the input has an element at each position.
  Expr Inside(const Indices& o, const Indices& k) const;
  // How many taps of window o along `axis` lie within the input, or also within the padding.
  Expr TapCount(size_t axis, const Expr& o, bool count_padding) const;
};

// From the attributes strides, dilations, pads, auto_pad and ceil_mode. Error: lengths that do not
// fit, strides or dilations below 1, negative pads, a window that is larger than the padded input.
absl::StatusOr<Window> MakeWindow(const OpContext& op, const Shape& spatial_dims,
                                  const std::vector<int64_t>& kernel);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_WINDOW_H_
