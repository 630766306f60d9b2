// Activation functions x * gate(x) from their parts: Gelu in both forms, Swish, HardSwish, Mish.
#include <cmath>
#include <numbers>
#include <optional>

#include "compiler/optimize/pattern.h"
#include "compiler/optimize/recognize.h"

namespace aotc {
namespace {

// x^3 times a number
std::optional<double> CubeOf(const RewriteSite& site, ValueId value, ValueId x) {
  const Product product = ProductOf(site, value);
  if (product.factors.size() == 3 && CountOf(product, x) == 3) return product.number;
  if (product.factors.size() != 1) return std::nullopt;
  const Node* power = OnlyReadBy(site, product.factors[0], "Pow");
  if (power == nullptr || power->inputs[0] != x || NumberOf(site, power->inputs[1]) != 3)
    return std::nullopt;
  return product.number;
}

// x^2 times a number
std::optional<double> SquareOf(const RewriteSite& site, ValueId value, ValueId x) {
  const Product product = ProductOf(site, value);
  if (product.factors.size() == 2 && CountOf(product, x) == 2) return product.number;
  if (product.factors.size() != 1) return std::nullopt;
  const Node* power = OnlyReadBy(site, product.factors[0], "Pow");
  if (power == nullptr || power->inputs[0] != x || NumberOf(site, power->inputs[1]) != 2)
    return std::nullopt;
  return product.number;
}

constexpr double kCubic = 0.044715;

// x + 0.044715 x^3
bool IsCubic(const RewriteSite& site, const Node& add, ValueId x) {
  for (size_t side : {0, 1}) {
    if (add.inputs[side] != x) continue;
    std::optional<double> number = CubeOf(site, add.inputs[1 - side], x);
    if (number && IsNear(site, *number, kCubic)) return true;
  }
  return false;
}

// 1 + 0.044715 x^2
bool IsQuadratic(const RewriteSite& site, const Node& add, ValueId x) {
  std::optional<NumberAndRest> parts = SplitNumber(site, add);
  if (!parts || parts->number != 1) return false;
  std::optional<double> number = SquareOf(site, parts->rest, x);
  return number && IsNear(site, *number, kCubic);
}

// sqrt(2 / pi) (x + 0.044715 x^3), also as x (1 + 0.044715 x^2)
bool IsTanhArgument(const RewriteSite& site, ValueId value, ValueId x) {
  const Product product = ProductOf(site, value);
  if (!IsNear(site, product.number, std::sqrt(2 / std::numbers::pi))) return false;
  const int own = CountOf(product, x);
  if (product.factors.size() != static_cast<size_t>(own) + 1 || own > 1) return false;
  for (ValueId factor : product.factors) {
    const Node* add = factor == x ? nullptr : OnlyReadBy(site, factor, "Add");
    if (add == nullptr) continue;
    return own == 0 ? IsCubic(site, *add, x) : IsQuadratic(site, *add, x);
  }
  return false;
}

// x times a number
std::optional<double> MultipleOf(const RewriteSite& site, ValueId value, ValueId x) {
  const Product product = ProductOf(site, value);
  const bool alone = product.factors.size() == 1 && product.factors[0] == x;
  return alone ? std::optional(product.number) : std::nullopt;
}

// What a function of x is multiplied by x and a number for: the op with its attributes.
struct Gate {
  std::string op = {};
  double number = 1;
  Attributes attributes = {};
};

// 1 + erf(x / sqrt(2)) or 1 + tanh(...)
std::optional<Gate> GeluGate(const RewriteSite& site, ValueId value, ValueId x) {
  const Node* add = OnlyReadBy(site, value, "Add");
  std::optional<NumberAndRest> parts = add == nullptr ? std::nullopt : SplitNumber(site, *add);
  if (!parts || parts->number != 1) return std::nullopt;
  Gate gate = {.op = "Gelu", .number = 0.5};
  if (const Node* erf = OnlyReadBy(site, parts->rest, "Erf"); erf != nullptr) {
    std::optional<double> scale = MultipleOf(site, erf->inputs[0], x);
    return scale && IsNear(site, *scale, 1 / std::numbers::sqrt2) ? std::optional(gate)
                                                                  : std::nullopt;
  }
  const Node* tanh = OnlyReadBy(site, parts->rest, "Tanh");
  if (tanh == nullptr || !IsTanhArgument(site, tanh->inputs[0], x)) return std::nullopt;
  gate.attributes.Set("approximate", std::string("tanh"));
  return gate;
}

std::optional<Gate> SwishGate(const RewriteSite& site, ValueId value, ValueId x) {
  const Node* sigmoid = OnlyReadBy(site, value, "Sigmoid");
  if (sigmoid == nullptr) return std::nullopt;
  std::optional<double> alpha = MultipleOf(site, sigmoid->inputs[0], x);
  if (!alpha || !FitsAttribute(site, *alpha)) return std::nullopt;
  Gate gate = {.op = "Swish"};
  if (*alpha != 1) gate.attributes.Set("alpha", static_cast<float>(*alpha));
  return gate;
}

// HardSigmoid(x) with the line x / 6 + 1 / 2, or min(max(x + 3, 0), 6) to be divided by 6
std::optional<Gate> HardSwishGate(const RewriteSite& site, ValueId value, ValueId x) {
  if (const Node* line = OnlyReadBy(site, value, "HardSigmoid"); line != nullptr) {
    const double alpha = line->attributes.Float("alpha", 0.2F);
    const double beta = line->attributes.Float("beta", 0.5F);
    const bool same = line->inputs[0] == x && IsNear(site, alpha, 1.0 / 6) && beta == 0.5;
    return same ? std::optional(Gate{.op = "HardSwish"}) : std::nullopt;
  }
  const Node* clip = OnlyReadBy(site, value, "Clip");
  if (clip == nullptr || clip->inputs.size() != 3) return std::nullopt;
  if (NumberOf(site, clip->inputs[1]) != 0 || NumberOf(site, clip->inputs[2]) != 6)
    return std::nullopt;
  const Node* add = OnlyReadBy(site, clip->inputs[0], "Add");
  std::optional<NumberAndRest> parts = add == nullptr ? std::nullopt : SplitNumber(site, *add);
  if (!parts || parts->number != 3 || parts->rest != x) return std::nullopt;
  return Gate{.op = "HardSwish", .number = 1.0 / 6};
}

std::optional<Gate> MishGate(const RewriteSite& site, ValueId value, ValueId x) {
  const Node* tanh = OnlyReadBy(site, value, "Tanh");
  const Node* plus = tanh == nullptr ? nullptr : OnlyReadBy(site, tanh->inputs[0], "Softplus");
  return plus != nullptr && plus->inputs[0] == x ? std::optional(Gate{.op = "Mish"}) : std::nullopt;
}

std::optional<Gate> GateOf(const RewriteSite& site, ValueId value, ValueId x) {
  for (auto match : {GeluGate, SwishGate, HardSwishGate, MishGate}) {
    if (std::optional<Gate> gate = match(site, value, x)) return gate;
  }
  return std::nullopt;
}

// x * gate(x) * number, in any order. A number that is too large or too small stays a factor of the
// nodes around: the pattern is not there.
bool GatedActivation(RewriteSite& site) {
  const bool product = site.node().op == "Mul" || site.node().op == "Div";
  if (!product || !IsFloat(site.type().dtype)) return false;
  const ValueId output = UsedOutputs(site.node_before())[0];
  const Product factors = ProductOf(site, output);
  if (factors.factors.size() != 2) return false;
  for (size_t side : {0, 1}) {
    const ValueId x = factors.factors[side];
    if (!SameType(site.before().values[x].type, site.type())) continue;
    std::optional<Gate> gate = GateOf(site, factors.factors[1 - side], x);
    if (!gate || !IsNear(site, factors.number, gate->number)) continue;
    return site.ReplaceBy(gate->op, {site.Now(x)}, gate->attributes);
  }
  return false;
}

constexpr RewriteRule kRules[] = {GatedActivation};

}  // namespace

std::span<const RewriteRule> ActivationPatterns() { return kRules; }

}  // namespace aotc
