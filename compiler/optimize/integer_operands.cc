#include "compiler/optimize/integer_operands.h"

#include <utility>

#include "compiler/optimize/channel_affine.h"

namespace aotc {
namespace {

// The element of a constant of one; nothing where it has several or is unknown.
std::optional<double> OnlyNumber(const RewriteSite& site, const Node& node, size_t index) {
  const Constant* constant = site.ConstantOf(node.inputs[index]);
  const auto numbers = NumbersOf(constant, 1);
  return numbers ? std::optional<double>((*numbers)[0]) : std::nullopt;
}

}  // namespace

std::optional<std::vector<double>> NumbersOf(const Constant* constant, int64_t count) {
  if (constant == nullptr || constant->dims().size() > 1) return std::nullopt;
  const int64_t given = constant->element_count();
  if (given != 1 && given != count) return std::nullopt;
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i) numbers.push_back(constant->FloatAt(given == 1 ? 0 : i));
  return numbers;
}

std::optional<QuantGrid> GridOf(const RewriteSite& site, const Node& node) {
  const bool quantizes = node.op == "QuantizeLinear";
  if (!quantizes && node.op != "DequantizeLinear") return std::nullopt;
  if (node.attributes.Int("block_size") != 0) return std::nullopt;
  // The outputs of the site's own node are values of the graph before.
  const DType made = &node == &site.node() ? site.type().dtype : site.TypeOf(node.outputs[0]).dtype;
  const DType read = site.TypeOf(node.inputs[0]).dtype;
  const DType real = quantizes ? read : made, stored = quantizes ? made : read;
  if (real != DType::kF32 || !IsByte(stored)) return std::nullopt;
  if (site.TypeOf(node.inputs[1]).dtype != DType::kF32) return std::nullopt;
  QuantGrid grid;
  const std::optional<double> scale = OnlyNumber(site, node, 1);
  if (!scale) return std::nullopt;
  grid.scale = *scale;
  if (node.inputs.size() > 2 && node.inputs[2].valid()) {
    const std::optional<double> zero = OnlyNumber(site, node, 2);
    if (!zero) return std::nullopt;
    grid.zero = static_cast<int64_t>(*zero);
  }
  return grid;
}

std::optional<IntegerWeights> IntegerWeightsOf(const Constant* stored, bool is_convolution) {
  if (stored == nullptr || !IsByte(stored->dtype()) || stored->element_count() == 0)
    return std::nullopt;
  IntegerWeights weights{.stored = stored->Expanded()};
  const size_t rank = stored->dims().size();
  if (is_convolution ? rank < 3 : rank < 1 || rank > 2) return std::nullopt;
  weights.axis = is_convolution ? 0 : 1;
  if (weights.axis < rank) weights.channels = stored->dims()[weights.axis];
  return weights;
}

Constant PerChannel(DType dtype, const std::vector<double>& numbers, bool is_convolution,
                    size_t rank) {
  const auto count = static_cast<int64_t>(numbers.size());
  std::vector<int64_t> dims = {count};
  if (is_convolution) dims.resize(rank - 1, 1);
  if (!is_convolution && count == 1) dims.clear();
  return VectorConstant(dtype, numbers).Reshaped(std::move(dims));
}

Attributes CastTo(DType type) {
  Attributes to;
  to.Set("to", static_cast<int64_t>(type));
  return to;
}

ValueId EmitScaled(RewriteSite& site, ValueId sums, ValueId factors) {
  const ValueType real = TensorType(DType::kF32, site.TypeOf(sums).dims);
  const ValueId numbers = site.Emit("Cast", {sums}, CastTo(DType::kF32), real);
  return site.Emit("Mul", {numbers, factors}, {}, real);
}

bool ReplaceByRounded(RewriteSite& site, ValueId scaled, ValueId zero) {
  const ValueId one = site.EmitConstant("_scale", Constant::Splat(DType::kF32, {}, 1));
  return site.ReplaceBy("QuantizeLinear", {scaled, one, zero});
}

}  // namespace aotc
