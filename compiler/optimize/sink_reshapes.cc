#include "compiler/optimize/sink_reshapes.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/ops/op.h"
#include "compiler/optimize/permutation.h"
#include "compiler/optimize/rewrite.h"
#include "compiler/optimize/simplify_rules.h"

namespace aotc {
namespace {

bool IsComputed(const Node* node) {
  return node != nullptr && (HasTrait(node->op, kContraction) || HasTrait(node->op, kElementwise));
}

// The reshape that defines an input, which nothing else reads, of something computed.
const Node* OwnReshape(const RewriteSite& site, size_t index) {
  const Node* node = site.Producer(index);
  if (node == nullptr || node->op != "Reshape" || site.Readers(index) != 1) return nullptr;
  return IsComputed(site.ProducerOf(node->inputs[0])) ? node : nullptr;
}

// What the operand would be a reshape of is computed itself: the two would take turns for ever.
bool WouldTakeTurns(const RewriteSite& site, size_t index) {
  const Node* node = site.Producer(index);
  if (node != nullptr && node->op == "Reshape") node = site.ProducerOf(node->inputs[0]);
  return IsComputed(node);
}

// The shape under which an operand of `dims`, broadcast to `to`, means the same to `from`.
std::optional<Shape> ShapeBefore(const Shape& dims, const Shape& from, const Shape& to,
                                 const Bounds& bounds) {
  if (SameShape(dims, to)) return from;
  if (ElementCount(dims).IsInt(1)) return dims;
  if (dims.size() > to.size() || from.empty()) return std::nullopt;
  Shape padded(to.size() - dims.size(), Expr(1));
  padded.insert(padded.end(), dims.begin(), dims.end());
  const bool last_only =
      std::all_of(padded.begin(), padded.end() - 1, [](const Expr& d) { return d.IsInt(1); });
  if (last_only && ProveEqual(from.back(), to.back(), bounds)) return Shape{padded.back()};
  const auto pairs = MatchAxes(from, to, bounds);
  if (!pairs) return std::nullopt;
  Shape before(from.size(), Expr(1));
  for (const auto& [left, right] : *pairs) before[left] = padded[right];
  return before;
}

// An operand on the other side of a reshape from `from` to the shape of the result.
struct Passing {
  bool possible = false;
  std::optional<Shape> shape = {};  // to be given to it; nothing where it is absent
  ValueId value = {};               // what has that shape already; else invalid
};

Passing PassingOf(const RewriteSite& site, size_t index, const Shape& from) {
  if (!site.HasInput(index)) return {.possible = true};
  const Shape &dims = site.InputType(index).dims, &to = site.type().dims;
  Passing passing = {.shape = ShapeBefore(dims, from, to, site.bounds())};
  if (!passing.shape) return passing;
  const Node* reshape = site.Producer(index);
  if (SameShape(*passing.shape, dims)) {
    passing.value = site.node().inputs[index];
  } else if (reshape != nullptr && reshape->op == "Reshape" &&
             SameShape(site.TypeOf(reshape->inputs[0]).dims, *passing.shape)) {
    passing.value = reshape->inputs[0];
  }
  passing.possible = passing.value.valid() || site.ConstantInput(index) != nullptr ||
                     (SameShape(dims, to) && !WouldTakeTurns(site, index));
  return passing;
}

bool PastElementwise(RewriteSite& site) {
  if (!HasTrait(site.node().op, kElementwise)) return false;
  const size_t count = site.node().inputs.size();
  ValueId source;
  for (size_t i = 0; i < count && !source.valid(); ++i) {
    const Node* reshape = OwnReshape(site, i);
    const bool whole = reshape != nullptr && SameShape(site.InputType(i).dims, site.type().dims);
    if (whole) source = reshape->inputs[0];
  }
  if (!source.valid()) return false;
  const Shape from = site.TypeOf(source).dims;
  std::vector<Passing> operands;
  for (size_t i = 0; i < count; ++i) {
    operands.push_back(PassingOf(site, i, from));
    if (!operands.back().possible) return false;
  }
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < count; ++i) {
    const bool as_it_is = operands[i].value.valid() || !operands[i].shape;
    inputs.push_back(as_it_is ? operands[i].value
                              : site.EmitReshape(site.node().inputs[i], *operands[i].shape));
  }
  const ValueId result = site.Emit(site.node().op, inputs, site.node().attributes,
                                   TensorType(site.type().dtype, from));
  return site.ReplaceBy(site.EmitReshape(result, site.type().dims));
}

}  // namespace

absl::StatusOr<Graph> SinkReshapes(const Graph& graph, PassContext&) {
  std::vector<RewriteRule> rules = {PastElementwise};
  // Those that meet become one.
  rules.insert(rules.end(), ReshapeRules().begin(), ReshapeRules().end());
  return RewriteUntilDone(graph, rules);
}

}  // namespace aotc
