// Functions y = scale[c] * x + shift[c] of the channel c alone: recognised in nodes, applied to
// weights.
//
//   std::optional<ChannelAffine> f = ChannelAffineOf(graph, batch_norm, /*axis=*/1, channels);
//   weight = ScaleChannels(weight, f->scale, [&](int64_t i) { return i / inner; });
#ifndef AOTC_COMPILER_OPTIMIZE_CHANNEL_AFFINE_H_
#define AOTC_COMPILER_OPTIMIZE_CHANNEL_AFFINE_H_

#include <optional>
#include <vector>

#include "compiler/ir/graph.h"

namespace aotc {

struct ChannelAffine {
  ValueId operand = {};            // x
  std::vector<double> scale = {};  // [channels], finite
  std::vector<double> shift = {};

  bool KeepsScale() const;  // scale is 1 everywhere
  bool KeepsZero() const;   // shift is 0 everywhere
};

// The node's only output as such a function of the channels along `axis` of a float tensor of the
// same shape: BatchNormalization, and Mul, Div, Add and Sub with a constant. Nothing for any other
// node.
std::optional<ChannelAffine> ChannelAffineOf(const Graph& graph, const Node& node, int axis,
                                             int64_t channels);

// The elements of a constant that varies along one axis of a tensor of rank `rank` at most, one per
// channel; nothing where it varies along others.
std::optional<std::vector<double>> ChannelVector(const Constant& constant, int rank, int axis,
                                                 int64_t channels);

// A rank-1 tensor of `dtype`.
Constant VectorConstant(DType dtype, const std::vector<double>& values);

// Each element times the factor of its channel, rounded once; `channel` maps a row-major index.
template <class ChannelOfIndex>
Constant ScaleChannels(const Constant& weight, const std::vector<double>& scale,
                       const ChannelOfIndex& channel) {
  const int64_t count = weight.element_count();
  std::vector<uint8_t> bytes(static_cast<size_t>(StorageBytes(weight.dtype(), count)));
  for (int64_t i = 0; i < count; ++i) {
    double factor = scale[static_cast<size_t>(channel(i))];
    StoreElement(weight.dtype(), bytes.data(), i, weight.FloatAt(i) * factor);
  }
  return Constant::Dense(weight.dtype(), weight.dims(), std::move(bytes));
}

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_CHANNEL_AFFINE_H_
