// Limits and choices: Clip, Relu, Where.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "compiler/optimize/simplify_rules.h"

namespace aotc {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Limits {
  double low = -kInfinity;
  double high = kInfinity;
};

// One bound of a Clip: an absent one is infinite. Nothing where it is not known or depends on the
// sign of a zero.
std::optional<double> BoundOf(const RewriteSite& site, const Node& node, size_t index,
                              double absent) {
  if (index >= node.inputs.size() || !node.inputs[index].valid()) return absent;
  const Constant* constant = site.ConstantOf(node.inputs[index]);
  if (constant == nullptr || constant->element_count() != 1) return std::nullopt;
  const double bound = constant->FloatAt(0);
  if (std::isnan(bound) || (bound == 0 && std::signbit(bound))) return std::nullopt;
  return bound;
}

// What a node limits its float input 0 to; nothing where it does not.
std::optional<Limits> LimitsOf(const RewriteSite& site, const Node& node) {
  if (node.op != "Clip" && node.op != "Relu") return std::nullopt;
  if (!IsFloat(site.TypeOf(node.inputs[0]).dtype)) return std::nullopt;
  if (node.op == "Relu") return Limits{.low = 0};
  std::optional<double> low = BoundOf(site, node, 1, -kInfinity);
  std::optional<double> high = BoundOf(site, node, 2, kInfinity);
  if (!low || !high || *low > *high || *low == kInfinity || *high == -kInfinity)
    return std::nullopt;
  return Limits{.low = *low, .high = *high};
}

bool EmitLimits(RewriteSite& site, ValueId x, const Limits& limits) {
  if (limits.low == -kInfinity && limits.high == kInfinity) return site.ReplaceBy(x);
  if (limits.low == 0 && limits.high == kInfinity) return site.ReplaceBy("Relu", {x});
  auto bound = [&](const char* suffix, double value) {
    if (std::isinf(value)) return ValueId();
    return site.EmitConstant(suffix, Constant::Splat(site.type().dtype, {}, value));
  };
  std::vector<ValueId> inputs = {x, bound("_low", limits.low)};
  if (limits.high != kInfinity) inputs.push_back(bound("_high", limits.high));
  return site.ReplaceBy("Clip", inputs);
}

// Limits of what is limited already: one Clip to the inner limits, limited by the outer ones.
bool LimitOfLimit(RewriteSite& site) {
  std::optional<Limits> outer = LimitsOf(site, site.node());
  const Node* producer = outer ? site.Producer(0) : nullptr;
  if (producer == nullptr) return false;
  std::optional<Limits> inner = LimitsOf(site, *producer);
  if (!inner) return false;
  auto limited = [&](double value) { return std::clamp(value, outer->low, outer->high); };
  const Limits both = {.low = limited(inner->low), .high = limited(inner->high)};
  return EmitLimits(site, producer->inputs[0], both);
}

// A Clip from 0 on is a Relu, one without limits is nothing.
bool ClipIsRelu(RewriteSite& site) {
  if (site.node().op != "Clip") return false;
  std::optional<Limits> limits = LimitsOf(site, site.node());
  if (!limits || limits->high != kInfinity) return false;
  if (limits->low != 0 && limits->low != -kInfinity) return false;
  return EmitLimits(site, site.node().inputs[0], *limits);
}

// One side of a Where whose condition is known, or whose sides are one value.
bool WhereIsDecided(RewriteSite& site) {
  if (site.node().op != "Where") return false;
  const std::vector<ValueId> inputs = site.node().inputs;
  size_t chosen = 1;
  if (inputs[1] != inputs[2]) {
    const Constant* condition = site.ConstantInput(0);
    if (condition == nullptr || condition->element_count() == 0) return false;
    if (!condition->UniformElement()) return false;
    chosen = condition->IntAt(0) != 0 ? 1 : 2;
  }
  if (!SameType(site.InputType(chosen), site.type())) return false;
  return site.ReplaceBy(inputs[chosen]);
}

// Where(not c, x, y)
bool WhereOfNot(RewriteSite& site) {
  if (site.node().op != "Where") return false;
  const Node* condition = site.Producer(0);
  if (condition == nullptr || condition->op != "Not") return false;
  const std::vector<ValueId> inputs = site.node().inputs;
  return site.ReplaceBy("Where", {condition->inputs[0], inputs[2], inputs[1]});
}

constexpr RewriteRule kRules[] = {LimitOfLimit, ClipIsRelu, WhereIsDecided, WhereOfNot};

}  // namespace

std::span<const RewriteRule> ClampRules() { return kRules; }

}  // namespace aotc
