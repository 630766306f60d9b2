// Zeros around what a convolution reads are padding of its own.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "compiler/optimize/permutation.h"
#include "compiler/optimize/simplify_rules.h"

namespace aotc {
namespace {

// Elements before and behind each axis.
struct ZeroPad {
  ValueId x = {};
  std::vector<int64_t> begin = {};
  std::vector<int64_t> end = {};
};

// A Pad with zeros that drops nothing.
std::optional<ZeroPad> ZeroPadOf(const RewriteSite& site, const Node* node) {
  if (node == nullptr || node->op != "Pad" || node->inputs.size() < 2) return std::nullopt;
  if (node->attributes.String("mode", "constant") != "constant") return std::nullopt;
  const std::optional<Constant>& pads = site.before().values[node->inputs[1]].constant;
  if (!pads || HasInput(*node, 3)) return std::nullopt;
  if (HasInput(*node, 2)) {
    const std::optional<Constant>& value = site.before().values[node->inputs[2]].constant;
    if (!value || value->element_count() != 1 || value->FloatAt(0) != 0) return std::nullopt;
  }
  const std::vector<int64_t> all = pads->AsInts();
  if (std::ranges::any_of(all, [](int64_t pad) { return pad < 0; })) return std::nullopt;
  const auto middle = all.begin() + static_cast<int64_t>(all.size() / 2);
  return ZeroPad{.x = node->inputs[0],
                 .begin = std::vector<int64_t>(all.begin(), middle),
                 .end = std::vector<int64_t>(middle, all.end())};
}

// Zero times a weight is zero.
bool HasFiniteWeights(const RewriteSite& site) {
  const Constant* weight = site.ConstantInput(1);
  if (weight == nullptr || !IsFloat(weight->dtype())) return false;
  if (weight->is_splat()) return std::isfinite(weight->FloatAt(0));
  for (int64_t i = 0; i < weight->element_count(); ++i) {
    if (!std::isfinite(weight->FloatAt(i))) return false;
  }
  return true;
}

// The convolution's own pads, where it states them as numbers; of all axes.
std::optional<ZeroPad> OwnPads(const Node& conv, size_t rank) {
  const std::string mode = conv.attributes.String("auto_pad", "NOTSET");
  std::vector<int64_t> pads = conv.attributes.Ints("pads");
  if (mode != "NOTSET" && mode != "VALID") return std::nullopt;
  if (mode == "VALID" || pads.empty()) pads.assign(2 * (rank - 2), 0);
  ZeroPad own = {.begin = {0, 0}, .end = {0, 0}};
  const auto middle = pads.begin() + static_cast<int64_t>(rank - 2);
  own.begin.insert(own.begin.end(), pads.begin(), middle);
  own.end.insert(own.end.end(), middle, pads.end());
  return own;
}

// A reshape between Pad and convolution may add and drop axes of dim 1.
bool PadIntoConvolution(RewriteSite& site) {
  if (site.node().op != "Conv") return false;
  const Node* above = site.ProducerBefore(site.node_before().inputs[0]);
  const bool reshaped = above != nullptr && above->op == "Reshape";
  if (reshaped) above = site.ProducerBefore(above->inputs[0]);
  std::optional<ZeroPad> pad = ZeroPadOf(site, above);
  // Others would have to read around the zeros that tiles want beside the image.
  if (!pad || site.ReadersBefore(pad->x) != 1) return false;
  const Shape padded = site.before().values[above->outputs[0]].type.dims;
  const Shape from = site.before().values[pad->x].type.dims;
  const Shape to = site.InputType(0).dims;
  std::optional<ZeroPad> own = OwnPads(site.node(), to.size());
  if (!own || !HasFiniteWeights(site)) return false;
  const auto pairs = MatchAxes(padded, to, site.bounds());
  if (!pairs) return false;
  Shape before = to;
  for (const auto& [left, right] : *pairs) {
    const bool pads = pad->begin[left] + pad->end[left] > 0;
    if (pads && right < 2) return false;
    before[right] = from[left];
    own->begin[right] += std::exchange(pad->begin[left], 0);
    own->end[right] += std::exchange(pad->end[left], 0);
  }
  const auto is_left = [](int64_t count) { return count != 0; };
  if (std::ranges::any_of(pad->begin, is_left) || std::ranges::any_of(pad->end, is_left))
    return false;
  Attributes attributes = site.node().attributes;
  std::vector<int64_t> pads(own->begin.begin() + 2, own->begin.end());
  pads.insert(pads.end(), own->end.begin() + 2, own->end.end());
  attributes.Erase("auto_pad");
  attributes.Set("pads", pads);
  std::vector<ValueId> inputs = site.node().inputs;
  inputs[0] = site.EmitReshape(site.Now(pad->x), before);
  return site.ReplaceBy("Conv", inputs, std::move(attributes));
}

constexpr RewriteRule kRules[] = {PadIntoConvolution};

}  // namespace

std::span<const RewriteRule> PadRules() { return kRules; }

}  // namespace aotc
