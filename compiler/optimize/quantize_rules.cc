// QuantizeLinear, DequantizeLinear and what lies between them.
#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/ops/op.h"
#include "compiler/optimize/integer_operands.h"

namespace aotc {
namespace {

// Both are bytes of one type, scaled alike; rounding what is dequantised then gives it back.
bool IsSameGrid(const RewriteSite& site, const Node& dequantize, const QuantGrid& grid) {
  const auto other = GridOf(site, dequantize);
  return dequantize.op == "DequantizeLinear" && other == grid &&
         std::isnormal(static_cast<float>(grid.scale)) && std::abs(grid.scale) < 0x1p100 &&
         std::abs(grid.scale) > 0x1p-100 &&
         site.TypeOf(dequantize.inputs[0]).dtype == site.type().dtype;
}

// QuantizeLinear(DequantizeLinear(x)) is x.
bool RoundTrip(RewriteSite& site) {
  const auto grid = GridOf(site, site.node());
  const Node* inner = site.Producer(0);
  if (site.node().op != "QuantizeLinear" || !grid || inner == nullptr) return false;
  return IsSameGrid(site, *inner, *grid) && site.ReplaceBy(inner->inputs[0]);
}

// QuantizeLinear(MaxPool(DequantizeLinear(x))) is MaxPool(x).
bool MovedRoundTrip(RewriteSite& site) {
  const auto grid = GridOf(site, site.node());
  const Node* mover = site.Producer(0);
  if (site.node().op != "QuantizeLinear" || !grid || mover == nullptr) return false;
  if (!HasTrait(mover->op, kMovesElements)) return false;
  if (grid->scale < 0) return false;  // turns the order round
  const Node* inner = site.ProducerOf(mover->inputs[0]);
  if (inner == nullptr || !IsSameGrid(site, *inner, *grid)) return false;
  if (std::ranges::count_if(mover->outputs, [](ValueId v) { return v.valid(); }) != 1) return false;
  std::vector<ValueId> inputs = mover->inputs;
  inputs[0] = inner->inputs[0];
  const std::string op = mover->op;
  return site.ReplaceBy(op, std::move(inputs), mover->attributes);
}

// DequantizeLinear(QuantizeLinear(x)) over i8 reads u8: one form for what reads the same value.
bool UnsignedBetween(RewriteSite& site) {
  const Node* inner = site.Producer(0);
  if (site.node().op != "DequantizeLinear" || inner == nullptr || inner->op != "QuantizeLinear")
    return false;
  if (site.InputType(0).dtype != DType::kI8) return false;
  const auto outer = GridOf(site, site.node()), grid = GridOf(site, *inner);
  if (!outer || !grid) return false;
  const Node quantize = *inner;
  constexpr int64_t kHalf = 128;
  auto zero = [&](int64_t value) {
    return site.EmitConstant("_zero", Constant::SplatInt(DType::kU8, {}, value + kHalf));
  };
  Attributes attributes = quantize.attributes;
  attributes.Erase("output_dtype");
  const ValueId stored =
      site.Emit("QuantizeLinear", {quantize.inputs[0], quantize.inputs[1], zero(grid->zero)},
                std::move(attributes), TensorType(DType::kU8, site.type().dims));
  return site.ReplaceBy("DequantizeLinear", {stored, site.node().inputs[1], zero(outer->zero)},
                        site.node().attributes);
}

// ---- Scales that only rounding follows ---

// A product of an i32 and constant factors: sums of an integer contraction.
bool IsScaledSum(const RewriteSite& site, const Node& node) {
  if (node.op != "Mul") return false;
  const Node* cast = site.ProducerOf(node.inputs[0]);
  return cast != nullptr && cast->op == "Cast" &&
         site.TypeOf(cast->inputs[0]).dtype == DType::kI32 &&
         site.ConstantOf(node.inputs[1]) != nullptr;
}

// The constant over `scale`; nothing where a number of it is no normal one then.
std::optional<Constant> Divided(const Constant& constant, double scale) {
  const Constant dense = constant.Expanded();
  std::vector<uint8_t> bytes(dense.bytes().size());
  for (int64_t i = 0; i < dense.element_count(); ++i) {
    const double quotient = dense.FloatAt(i) / scale;
    if (quotient != 0 && !std::isnormal(static_cast<float>(quotient))) return std::nullopt;
    StoreElement(DType::kF32, bytes.data(), i, quotient);
  }
  return Constant::Dense(DType::kF32, dense.dims(), std::move(bytes));
}

// The constant that a value is a multiple of: factors of a scaled sum, or the scale of what is
// dequantised; null where it is neither.
const Constant* FactorsOf(const RewriteSite& site, const Node& node) {
  const bool is_dequantized = node.op == "DequantizeLinear" &&
                              site.TypeOf(node.outputs[0]).dtype == DType::kF32 &&
                              site.TypeOf(node.inputs[1]).dtype == DType::kF32;
  return is_dequantized || IsScaledSum(site, node) ? site.ConstantOf(node.inputs[1]) : nullptr;
}

constexpr int kMostLevels = 4;  // of sums of sums

// Whether `value` over `scale` is the same with other constants: multiples as above, constants,
// sums and differences of those, and what a Relu leaves of them.
bool TakesScale(const RewriteSite& site, ValueId value, double scale, int levels = kMostLevels) {
  if (const Constant* constant = site.ConstantOf(value))
    return Divided(*constant, scale).has_value();
  const Node* node = site.ProducerOf(value);
  if (node == nullptr || levels == 0) return false;
  if (node->op == "Relu" || node->op == "Add" || node->op == "Sub") {
    const std::vector<ValueId> inputs = node->inputs;
    return std::ranges::all_of(
        inputs, [&](ValueId input) { return TakesScale(site, input, scale, levels - 1); });
  }
  const Constant* factors = FactorsOf(site, *node);
  return factors != nullptr && Divided(*factors, scale);
}

// `value`, which takes the scale, over it.
ValueId EmitOver(RewriteSite& site, ValueId value, double scale) {
  if (const Constant* constant = site.ConstantOf(value))
    return site.EmitConstant("_over", *Divided(*constant, scale));
  const Node node = *site.ProducerOf(value);
  std::vector<ValueId> inputs = node.inputs;
  if (const Constant* factors = FactorsOf(site, node)) {
    inputs[1] = site.EmitConstant("_factors", *Divided(*factors, scale));
  } else {
    for (ValueId& input : inputs) input = EmitOver(site, input, scale);
  }
  return site.Emit(node.op, std::move(inputs), node.attributes, site.TypeOf(value));
}

// QuantizeLinear(x, s) is QuantizeLinear(x / s, 1), where the division is one of constants.
bool ScaleIntoFactors(RewriteSite& site) {
  const auto grid = GridOf(site, site.node());
  if (site.node().op != "QuantizeLinear" || !grid || grid->scale == 1 || !(grid->scale > 0))
    return false;
  const Node* product = site.Producer(0);
  if (product == nullptr || !TakesScale(site, site.node().inputs[0], grid->scale)) return false;
  // What others read as well is not computed twice, but for one factor.
  if (FactorsOf(site, *product) == nullptr && site.Readers(0) > 1) return false;
  std::vector<ValueId> inputs = site.node().inputs;
  inputs[0] = EmitOver(site, inputs[0], grid->scale);
  inputs[1] = site.EmitConstant("_scale", Constant::Splat(DType::kF32, {}, 1));
  return site.ReplaceBy("QuantizeLinear", std::move(inputs), site.node().attributes);
}

// What saturation does anyway: Relu and Clip before a QuantizeLinear whose range is no wider.
bool ClampBySaturation(RewriteSite& site) {
  const auto grid = GridOf(site, site.node());
  const Node* clamp = site.Producer(0);
  if (site.node().op != "QuantizeLinear" || !grid || clamp == nullptr || !(grid->scale > 0))
    return false;
  const bool is_clip = clamp->op == "Clip";
  if (clamp->op != "Relu" && !is_clip) return false;
  const auto [least, most] = IntegerRange(site.type().dtype);
  auto place = [&](double bound) {
    const float quotient = static_cast<float>(bound) / static_cast<float>(grid->scale);
    return std::nearbyint(quotient) + static_cast<double>(grid->zero);
  };
  double low = is_clip ? -INFINITY : 0, high = INFINITY;
  for (size_t i : {1, 2}) {
    if (i >= clamp->inputs.size() || !clamp->inputs[i].valid()) continue;
    const auto bound = NumbersOf(site.ConstantOf(clamp->inputs[i]), 1);
    if (!bound || std::isnan((*bound)[0])) return false;
    (i == 1 ? low : high) = (*bound)[0];
  }
  if (low > high || place(low) > static_cast<double>(least) ||
      place(high) < static_cast<double>(most)) {
    return false;
  }
  std::vector<ValueId> inputs = site.node().inputs;
  inputs[0] = clamp->inputs[0];
  return site.ReplaceBy("QuantizeLinear", std::move(inputs), site.node().attributes);
}

constexpr RewriteRule kRules[] = {RoundTrip, MovedRoundTrip, UnsignedBetween, ClampBySaturation,
                                  ScaleIntoFactors};

}  // namespace

std::span<const RewriteRule> QuantizeRules() { return kRules; }

}  // namespace aotc
