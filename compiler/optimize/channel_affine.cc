#include "compiler/optimize/channel_affine.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace aotc {
namespace {

bool AllEqual(const std::vector<double>& values, double expected) {
  return std::all_of(values.begin(), values.end(), [&](double v) { return v == expected; });
}

bool AllFinite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

const Constant* ConstantOf(const Graph& graph, ValueId id) {
  if (!id.valid() || !graph.values[id].constant) return nullptr;
  return &*graph.values[id].constant;
}

std::optional<ChannelAffine> OfBatchNormalization(const Graph& graph, const Node& node, int axis,
                                                  int64_t channels) {
  if (axis != 1 || node.inputs.size() != 5) return std::nullopt;
  std::vector<double> operands[5];
  for (size_t i = 1; i < 5; ++i) {
    const Constant* constant = ConstantOf(graph, node.inputs[i]);
    if (constant == nullptr || constant->element_count() != channels) return std::nullopt;
    for (int64_t c = 0; c < channels; ++c) operands[i].push_back(constant->FloatAt(c));
  }
  double epsilon = node.attributes.Float("epsilon", 1e-5F);
  ChannelAffine result = {.operand = node.inputs[0]};
  for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
    double scale = operands[1][c] / std::sqrt(operands[4][c] + epsilon);
    result.scale.push_back(scale);
    result.shift.push_back(operands[2][c] - operands[3][c] * scale);
  }
  return result;
}

// One of Mul, Div, Add, Sub with `vector` as operand `side`.
std::optional<ChannelAffine> OfArithmetic(const Node& node, size_t side,
                                          std::vector<double> vector) {
  ChannelAffine result = {.operand = node.inputs[1 - side]};
  bool constant_first = side == 0;
  std::vector<double> ones(vector.size(), 1.0), zeros(vector.size(), 0.0);
  if (node.op == "Mul") {
    result.scale = std::move(vector);
    result.shift = std::move(zeros);
  } else if (node.op == "Div" && !constant_first) {
    for (double& v : vector) v = 1 / v;
    result.scale = std::move(vector);
    result.shift = std::move(zeros);
  } else if (node.op == "Add") {
    result.scale = std::move(ones);
    result.shift = std::move(vector);
  } else if (node.op == "Sub") {
    double sign = constant_first ? 1 : -1;  // c - x, x - c
    for (double& v : vector) v *= sign;
    for (double& v : ones) v *= -sign;
    result.scale = std::move(ones);
    result.shift = std::move(vector);
  } else {
    return std::nullopt;
  }
  return result;
}

}  // namespace

bool ChannelAffine::KeepsScale() const { return AllEqual(scale, 1); }
bool ChannelAffine::KeepsZero() const { return AllEqual(shift, 0); }

std::optional<std::vector<double>> ChannelVector(const Constant& constant, int rank, int axis,
                                                 int64_t channels) {
  int constant_rank = static_cast<int>(constant.dims().size());
  if (constant_rank > rank || !IsFloat(constant.dtype())) return std::nullopt;
  for (int i = 0; i < constant_rank; ++i) {
    int64_t dim = constant.dims()[static_cast<size_t>(i)];
    bool is_channel = i + rank - constant_rank == axis;
    if (dim != 1 && !(is_channel && dim == channels)) return std::nullopt;
  }
  std::vector<double> values;
  for (int64_t c = 0; c < channels; ++c) {
    values.push_back(constant.FloatAt(constant.element_count() == 1 ? 0 : c));
  }
  return values;
}

std::optional<ChannelAffine> ChannelAffineOf(const Graph& graph, const Node& node, int axis,
                                             int64_t channels) {
  // In training it has the statistics of the batch.
  const bool batch_norm =
      node.op == "BatchNormalization" && node.attributes.Int("training_mode") == 0;
  const bool arithmetic =
      node.op == "Mul" || node.op == "Div" || node.op == "Add" || node.op == "Sub";
  if (!batch_norm && !(arithmetic && node.inputs.size() == 2)) return std::nullopt;
  std::optional<ChannelAffine> result;
  if (batch_norm) result = OfBatchNormalization(graph, node, axis, channels);
  for (size_t side : {0, 1}) {
    const Constant* constant = arithmetic ? ConstantOf(graph, node.inputs[side]) : nullptr;
    if (constant == nullptr) continue;
    int rank = static_cast<int>(graph.values[node.outputs[0]].type.dims.size());
    std::optional<std::vector<double>> vector = ChannelVector(*constant, rank, axis, channels);
    if (vector) result = OfArithmetic(node, side, *std::move(vector));
  }
  if (!result || !AllFinite(result->scale) || !AllFinite(result->shift)) return std::nullopt;
  // The constant must not broadcast x to more elements.
  const ValueType& from = graph.values[result->operand].type;
  return SameType(from, graph.values[node.outputs[0]].type) ? result : std::nullopt;
}

Constant VectorConstant(DType dtype, const std::vector<double>& values) {
  std::vector<uint8_t> bytes(
      static_cast<size_t>(StorageBytes(dtype, static_cast<int64_t>(values.size()))));
  for (size_t i = 0; i < values.size(); ++i) {
    StoreElement(dtype, bytes.data(), static_cast<int64_t>(i), values[i]);
  }
  return Constant::Dense(dtype, {static_cast<int64_t>(values.size())}, std::move(bytes));
}

}  // namespace aotc
