#include "compiler/optimize/weighted.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "compiler/ir/small_float.h"

namespace aotc {
namespace {

bool IsTransposed(const Weighted& node) {
  return node.op == "Gemm" && node.attributes.Int("transB") != 0;
}

int64_t Groups(const Weighted& node) { return node.attributes.Int("group", 1); }

// The channel of each element of a weight: elements come in groups, each with channels of its own,
// within which every `step` elements the next channel begins.
struct ChannelMap {
  int64_t group = 1;  // elements
  int64_t channels = 1;
  int64_t step = 1;

  int64_t operator()(int64_t index) const {
    return index / group * channels + index / step % channels;
  }
};

// Output channels of the weight, which is [O, I/group, ...] of a Conv, [I, O/group, ...] of a
// ConvTranspose, [K, N] or [N, K] of a Gemm or MatMul.
ChannelMap OutputChannels(const Weighted& node) {
  const int64_t count = node.weight.element_count();
  if (node.op == "Conv") return {.group = count / node.output_channels};
  if (node.op == "ConvTranspose") {
    const int64_t outputs = node.weight.dims()[1], inputs = node.input_channels / Groups(node);
    const int64_t taps = count / node.input_channels / outputs;
    return {.group = taps * outputs * inputs, .channels = outputs, .step = taps};
  }
  if (IsTransposed(node)) return {.group = node.input_channels};
  return {.group = count, .channels = node.output_channels};
}

ChannelMap InputChannels(const Weighted& node) {
  const int64_t count = node.weight.element_count();
  if (node.op == "ConvTranspose") return {.group = count / node.input_channels};
  if (node.op == "Conv") {
    const int64_t inputs = node.weight.dims()[1], outputs = node.output_channels / Groups(node);
    const int64_t filter = count / node.output_channels;
    return {.group = filter * outputs, .channels = inputs, .step = filter / inputs};
  }
  if (IsTransposed(node)) return {.group = count, .channels = node.input_channels};
  return {.group = node.output_channels};
}

const Constant* ConstantInput(const Graph& graph, const Node& node, size_t index) {
  if (!HasInput(node, index)) return nullptr;
  const Value& value = graph.values[node.inputs[index]];
  return value.constant && IsFloat(value.constant->dtype()) ? &*value.constant : nullptr;
}

// Channels and where they are; false where the shapes are not those of the op.
bool SetChannels(Weighted& node, int input_rank) {
  const std::vector<int64_t>& dims = node.weight.dims();
  if (node.op == "Conv") {
    if (dims.size() < 3 || dims[0] == 0) return false;
    node.output_channels = dims[0];
    node.input_channels = dims[1] * Groups(node);
    node.input_axis = node.output_axis = 1;
    return node.weight.element_count() > 0;
  }
  if (node.op == "ConvTranspose") {
    if (dims.size() < 3) return false;
    node.input_channels = dims[0];
    node.output_channels = dims[1] * Groups(node);
    node.input_axis = node.output_axis = 1;
    return node.weight.element_count() > 0;
  }
  if (dims.size() != 2 || input_rank < 2 || node.attributes.Int("transA") != 0) return false;
  node.input_channels = dims[IsTransposed(node) ? 1 : 0];
  node.output_channels = dims[IsTransposed(node) ? 0 : 1];
  node.input_axis = node.output_axis = input_rank - 1;
  return node.weight.element_count() > 0;
}

void ScaleWeight(Weighted& node, const std::vector<double>& scale, const ChannelMap& channel) {
  std::vector<double> largest(scale.size());
  const int64_t count = node.weight.element_count();
  for (int64_t i = 0; i < count; ++i) {
    double& most = largest[static_cast<size_t>(channel(i))];
    most = std::max(most, std::fabs(node.weight.FloatAt(i)));
  }
  const double least = NormalRangeOf(node.weight.dtype()).least;
  for (size_t c = 0; c < scale.size(); ++c) {
    const double scaled = largest[c] * std::fabs(scale[c]);
    node.underflows |= largest[c] >= least && scaled > 0 && scaled < least;
  }
  node.weight = ScaleChannels(node.weight, scale, channel);
  node.weight_changed = true;
}

}  // namespace

std::optional<Weighted> WeightedOf(const Graph& graph, const Node& node) {
  static const std::set<std::string> kOps = {"Conv", "ConvTranspose", "MatMul", "Gemm"};
  if (!kOps.contains(node.op)) return std::nullopt;
  const bool gemm = node.op == "Gemm";
  const Constant* weight = ConstantInput(graph, node, 1);
  const Constant* bias = ConstantInput(graph, node, 2);
  if (weight == nullptr || (bias == nullptr && HasInput(node, 2))) return std::nullopt;
  Weighted result = {.op = node.op, .attributes = node.attributes, .input = node.inputs[0]};
  result.weight = *weight;
  result.weight_value = node.inputs[1];
  if (!SetChannels(result, static_cast<int>(graph.values[result.input].type.dims.size()))) {
    return std::nullopt;
  }
  result.bias.assign(static_cast<size_t>(result.output_channels), 0.0);
  if (bias != nullptr) {
    result.bias_value = node.inputs[2];
    int rank = gemm ? 2 : 1;
    std::optional<std::vector<double>> vector =
        ChannelVector(*bias, rank, rank - 1, result.output_channels);
    if (!vector) return std::nullopt;
    result.bias = *std::move(vector);
  }
  if (gemm) {  // alpha * A * B + beta * C: the factors go into the constants
    double alpha = node.attributes.Float("alpha", 1), beta = node.attributes.Float("beta", 1);
    for (double& value : result.bias) value *= beta;
    if (alpha != 1) {
      ScaleWeight(result, {alpha}, {.group = result.weight.element_count()});
    }
    result.attributes.Erase("alpha");
    result.attributes.Erase("beta");
  }
  return result;
}

void ApplyAfter(Weighted& node, const ChannelAffine& affine) {
  if (!affine.KeepsScale()) {
    ScaleWeight(node, affine.scale, OutputChannels(node));
  }
  for (size_t c = 0; c < node.bias.size(); ++c) {
    node.bias[c] = node.bias[c] * affine.scale[c] + affine.shift[c];
  }
}

void ApplyBefore(Weighted& node, const ChannelAffine& affine) {
  if (affine.KeepsScale()) return;
  ScaleWeight(node, affine.scale, InputChannels(node));
}

bool IsPrecise(const Weighted& node) {
  if (node.underflows) return false;
  for (const Constant& constant : {node.weight, VectorConstant(node.weight.dtype(), node.bias)}) {
    const int64_t count = constant.element_count();
    for (int64_t i = 0; i < count; ++i) {
      if (!std::isfinite(constant.FloatAt(i))) return false;
    }
  }
  return true;
}

}  // namespace aotc
