// A node with constant weights (Conv, ConvTranspose, MatMul, Gemm) taken apart, so that scales can
// be folded into it.
//
//   std::optional<Weighted> conv = WeightedOf(graph, node);
//   ApplyAfter(*conv, affine);                                       // y' = scale * y + shift
//   if (affine.KeepsZero()) ApplyBefore(*conv, affine);              // x' = scale * x
//   if (!IsPrecise(*conv)) { /* leave the nodes as they are */ }
#ifndef AOTC_COMPILER_OPTIMIZE_WEIGHTED_H_
#define AOTC_COMPILER_OPTIMIZE_WEIGHTED_H_

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/optimize/channel_affine.h"

namespace aotc {

struct Weighted {
  std::string op = {};
  Attributes attributes = {};
  ValueId input = {};
  ValueId weight_value = {};
  Constant weight = {};
  bool weight_changed = false;    // weight is no longer the constant of weight_value
  bool underflows = false;        // a channel has no weight left that is a normal number
  ValueId bias_value = {};        // invalid where the node has none
  std::vector<double> bias = {};  // one per output channel
  int64_t input_channels = 0;
  int64_t output_channels = 0;
  int input_axis = 0;   // of the channels in the input
  int output_axis = 0;  // and in the output
};

// Nothing where weight or bias is no constant, is no float, or the bias is not one per output
// channel. MatMul: a matrix on the right.
std::optional<Weighted> WeightedOf(const Graph& graph, const Node& node);

void ApplyAfter(Weighted& node, const ChannelAffine& affine);
// Of a function without a shift. A shift stays: (x - mean) * W is precise where x is far from zero
// and near the mean, the difference of x * W and mean * W is not; nor does it pass zero padding.
void ApplyBefore(Weighted& node, const ChannelAffine& affine);
// Weights and bias are numbers of the weight's type: folding must not overflow it, nor leave a
// channel with the few bits of numbers below its normal ones.
bool IsPrecise(const Weighted& node);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_WEIGHTED_H_
