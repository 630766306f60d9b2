// Softmax from its parts.
#include <optional>

#include "compiler/optimize/pattern.h"
#include "compiler/optimize/recognize.h"

namespace aotc {
namespace {

// A reduction of x along one axis whose result has the shape of x with 1 there; a Reshape may put
// the 1 back.
struct AxisReduction {
  ValueId x = {};
  int64_t axis = 0;
};

std::optional<AxisReduction> ReductionOf(const RewriteSite& site, ValueId value,
                                         std::string_view op) {
  const Shape kept = site.before().values[value].type.dims;
  const Node* reshape = OnlyReadBy(site, value, "Reshape");
  const Node* node = OnlyReadBy(site, reshape == nullptr ? value : reshape->inputs[0], op);
  if (node == nullptr || node->inputs.size() != 2) return std::nullopt;
  const std::optional<Constant>& axes = site.before().values[node->inputs[1]].constant;
  const Shape& dims = site.before().values[node->inputs[0]].type.dims;
  if (!axes || axes->element_count() != 1) return std::nullopt;
  int64_t axis = axes->IntAt(0);
  axis = axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis;
  Shape expected = dims;
  expected[static_cast<size_t>(axis)] = 1;
  if (!SameShape(expected, kept)) return std::nullopt;
  return AxisReduction{.x = node->inputs[0], .axis = axis};
}

// exp(x - max(x)) / sum(exp(x - max(x))) along one axis
bool SoftmaxFromParts(RewriteSite& site) {
  if (site.node().op != "Div" || !IsFloat(site.type().dtype)) return false;
  const ValueId power = site.node_before().inputs[0];
  const Node* exp = DefinedBy(site, power, "Exp");
  if (exp == nullptr || site.ReadersBefore(power) != 2) return false;
  std::optional<AxisReduction> sum = ReductionOf(site, site.node_before().inputs[1], "ReduceSum");
  const Node* sub = OnlyReadBy(site, exp->inputs[0], "Sub");
  if (!sum || sum->x != power || sub == nullptr) return false;
  std::optional<AxisReduction> top = ReductionOf(site, sub->inputs[1], "ReduceMax");
  if (!top || top->x != sub->inputs[0] || top->axis != sum->axis) return false;
  Attributes attributes;
  attributes.Set("axis", top->axis);
  return site.ReplaceBy("Softmax", {site.Now(top->x)}, std::move(attributes));
}

constexpr RewriteRule kRules[] = {SoftmaxFromParts};

}  // namespace

std::span<const RewriteRule> NormalizationPatterns() { return kRules; }

}  // namespace aotc
