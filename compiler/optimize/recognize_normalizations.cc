// Softmax, LayerNormalization and RMSNormalization from their parts.
#include <algorithm>
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

// The first of the axes that a mean is taken over, where those are the last ones and keep their
// place.
std::optional<int64_t> FirstAxisOfMean(const RewriteSite& site, const Node& mean) {
  if (mean.inputs.size() != 2 || mean.attributes.Int("keepdims", 1) == 0) return std::nullopt;
  const std::optional<Constant>& given = site.before().values[mean.inputs[1]].constant;
  const auto rank = static_cast<int64_t>(site.before().values[mean.inputs[0]].type.dims.size());
  if (!given || given->element_count() == 0) return std::nullopt;
  std::vector<int64_t> axes = given->AsInts();
  for (int64_t& axis : axes) axis = axis < 0 ? axis + rank : axis;
  std::sort(axes.begin(), axes.end());
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != rank - static_cast<int64_t>(axes.size() - i)) return std::nullopt;
  }
  return axes[0];
}

// sqrt(mean(d^2) + epsilon) over the axes from `axis` on.
struct Deviation {
  ValueId d = {};
  int readers = 0;  // of d in here
  int64_t axis = 0;
  double epsilon = 0;
};

std::optional<Deviation> DeviationOf(const RewriteSite& site, ValueId value) {
  const Node* root = OnlyReadBy(site, value, "Sqrt");
  const Node* add = root == nullptr ? nullptr : OnlyReadBy(site, root->inputs[0], "Add");
  std::optional<NumberAndRest> parts = add == nullptr ? std::nullopt : SplitNumber(site, *add);
  const Node* mean = parts ? OnlyReadBy(site, parts->rest, "ReduceMean") : nullptr;
  std::optional<int64_t> axis = mean == nullptr ? std::nullopt : FirstAxisOfMean(site, *mean);
  if (!axis) return std::nullopt;
  Deviation deviation = {.readers = 1, .axis = *axis, .epsilon = parts->number};
  if (const Node* power = OnlyReadBy(site, mean->inputs[0], "Pow"); power != nullptr) {
    deviation.d = power->inputs[0];
    return NumberOf(site, power->inputs[1]) == 2 ? std::optional(deviation) : std::nullopt;
  }
  const Node* square = OnlyReadBy(site, mean->inputs[0], "Mul");
  if (square == nullptr || square->inputs[0] != square->inputs[1]) return std::nullopt;
  deviation.d = square->inputs[0];
  deviation.readers = 2;
  return deviation;
}

// The deviation that a node divides by: d / deviation, or d * (1 / deviation).
std::optional<Deviation> DivisorOf(const RewriteSite& site, const Node& node, ValueId& dividend) {
  if (node.op == "Div") {
    dividend = node.inputs[0];
    return DeviationOf(site, node.inputs[1]);
  }
  for (size_t side : {0, 1}) {
    const Node* inverse =
        node.op == "Mul" ? OnlyReadBy(site, node.inputs[side], "Reciprocal") : nullptr;
    if (inverse == nullptr) continue;
    dividend = node.inputs[1 - side];
    if (auto deviation = DeviationOf(site, inverse->inputs[0])) return deviation;
  }
  return std::nullopt;
}

// The x of d = x - mean(x) over the axes of the deviation, where nothing else reads d.
std::optional<ValueId> CenteredOperand(const RewriteSite& site, const Deviation& deviation) {
  const Node* sub = DefinedBy(site, deviation.d, "Sub");
  if (sub == nullptr || site.ReadersBefore(deviation.d) != deviation.readers + 1)
    return std::nullopt;
  const Node* mean = OnlyReadBy(site, sub->inputs[1], "ReduceMean");
  if (mean == nullptr || mean->inputs[0] != sub->inputs[0]) return std::nullopt;
  if (FirstAxisOfMean(site, *mean) != deviation.axis) return std::nullopt;
  return sub->inputs[0];
}

// (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon), or x / sqrt(mean(x^2) + epsilon), with a
// scale of 1 for now.
bool NormalizationFromParts(RewriteSite& site) {
  if (!IsFloat(site.type().dtype)) return false;
  ValueId dividend;
  std::optional<Deviation> deviation = DivisorOf(site, site.node_before(), dividend);
  if (!deviation || dividend != deviation->d) return false;
  if (!FitsAttribute(site, deviation->epsilon)) return false;
  const std::optional<ValueId> centered = CenteredOperand(site, *deviation);
  const ValueId x = centered.value_or(deviation->d);
  if (!SameType(site.before().values[x].type, site.type())) return false;
  Attributes attributes;
  attributes.Set("axis", deviation->axis - static_cast<int64_t>(site.type().dims.size()));
  attributes.Set("epsilon", static_cast<float>(deviation->epsilon));
  const ValueId one = site.EmitConstant("_scale", Constant::Splat(site.type().dtype, {1}, 1));
  return site.ReplaceBy(centered ? "LayerNormalization" : "RMSNormalization", {site.Now(x), one},
                        std::move(attributes));
}

// A constant of the normalised axes alone.
bool IsScaleOrBias(const RewriteSite& site, ValueId value, const Node& norm) {
  if (site.ConstantOf(value) == nullptr) return false;
  const auto rank = static_cast<int64_t>(site.TypeOf(value).dims.size());
  return rank <= -norm.attributes.Int("axis", -1) &&
         SameType(site.TypeOf(norm.outputs[0]), site.type());
}

// The scale and then the bias behind a normalisation that has none.
bool AffineOfNormalization(RewriteSite& site) {
  const bool scale = site.node().op == "Mul", bias = site.node().op == "Add";
  if (!scale && !bias) return false;
  for (size_t side : {0, 1}) {
    const Node* norm = site.Producer(side);
    const bool layer = norm != nullptr && norm->op == "LayerNormalization";
    const bool root = norm != nullptr && norm->op == "RMSNormalization";
    if ((!layer && !(root && scale)) || site.Readers(side) != 1 || norm->inputs.size() > 2)
      continue;
    const ValueId operand = site.node().inputs[1 - side];
    if (!IsScaleOrBias(site, operand, *norm)) continue;
    const Constant* one = site.ConstantOf(norm->inputs[1]);
    if (scale && (one == nullptr || one->element_count() != 1 || one->FloatAt(0) != 1)) continue;
    std::vector<ValueId> inputs = {norm->inputs[0], scale ? operand : norm->inputs[1]};
    if (bias) inputs.push_back(operand);
    const std::string op = norm->op;
    return site.ReplaceBy(op, inputs, Attributes(norm->attributes));
  }
  return false;
}

constexpr RewriteRule kRules[] = {SoftmaxFromParts, NormalizationFromParts, AffineOfNormalization};

}  // namespace

std::span<const RewriteRule> NormalizationPatterns() { return kRules; }

}  // namespace aotc
