// The convolution that Conv, ConvInteger and QLinearConv share.
//
//   AOTC_ASSIGN_OR_RETURN(Convolution conv, ConvolutionOf(op, x, weight));
//   Tensor sums = ConvolutionSums(op.b(), conv, {});     // [N, M, spatial...]
#ifndef AOTC_COMPILER_OPS_CONVOLUTION_H_
#define AOTC_COMPILER_OPS_CONVOLUTION_H_

#include <functional>
#include <optional>

#include "compiler/ops/op.h"
#include "compiler/ops/window.h"

namespace aotc {

struct Convolution {
  Tensor x = {};       // [N, groups * C, spatial...]
  Tensor weight = {};  // [M, C, kernel...]
  Window window = {};
  int64_t groups = 1;
};

// From the operands and the attributes of the node. Error: ranks, channels or attributes that do
// not fit each other; a weight whose shape is not static.
absl::StatusOr<Convolution> ConvolutionOf(OpContext& op, const Tensor& x, const Tensor& weight);

// What is made of an element, in the accumulator's type, before it is multiplied: of the input, and
// of the weight for output channel m. Absent: the element itself.
struct ConvolutionLifts {
  std::function<Expr(const Expr& element)> x = {};
  std::function<Expr(const Expr& element, const Expr& m)> weight = {};
  // What stands for an element of the padding, in the accumulator's type; absent: 0.
  std::optional<int64_t> padding = {};
};

// The sums over input channels of the group and taps, in the accumulator's type. Axes [n, m,
// spatial...], reduce axes [c, taps...]. The group of output channel m is floor_div(m, M / groups),
// so that the input channel is affine in m for one group and for a group per channel.
Tensor ConvolutionSums(TensorBuilder& b, const Convolution& conv, const ConvolutionLifts& lifts);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_CONVOLUTION_H_
