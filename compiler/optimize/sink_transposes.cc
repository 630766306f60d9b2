#include "compiler/optimize/sink_transposes.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/optimize/permutation.h"
#include "compiler/optimize/rewrite.h"
#include "compiler/optimize/simplify_rules.h"
#include "compiler/optimize/transposable.h"
#include "compiler/optimize/transpose_regions.h"

namespace aotc {
namespace {

// The transpose that defines an input and may move: nothing else reads it, or it sinks with all.
const Node* OwnTranspose(const RewriteSite& site, size_t index) {
  const Node* node = site.Producer(index);
  if (node == nullptr || node->op != "Transpose") return nullptr;
  return site.Readers(index) == 1 || site.IsMarked(index) ? node : nullptr;
}

std::optional<Permutation> PermutationAbove(const RewriteSite& site, size_t index) {
  const Node* transpose = OwnTranspose(site, index);
  if (transpose == nullptr) return std::nullopt;
  return PermutationOf(*transpose, site.InputType(index).dims.size());
}

// An operand in the order before the transpose. Bounds of Clip and values of Pad stay scalars.
ValueId Passed(RewriteSite& site, size_t index, const Permutation& perm) {
  if (!site.HasInput(index)) return {};
  if (PermutationAbove(site, index) == perm) return site.Producer(index)->inputs[0];
  const ValueId value = site.node().inputs[index];
  Shape dims = site.InputType(index).dims;
  if (ElementCount(dims).IsInt(1)) return value;
  dims.insert(dims.begin(), perm.size() - dims.size(), Expr(1));
  const Permutation back = InversePermutation(perm);
  if (site.ConstantInput(index) == nullptr)
    return site.EmitReshape(value, PermuteShape(dims, back));
  return site.Emit("Transpose", {site.EmitReshape(value, dims)}, PermutationAttribute(back),
                   TensorType(site.TypeOf(value).dtype, PermuteShape(dims, back)));
}

// The pads of axis d are those of axis perm[d] before the transpose.
ValueId PassedPads(RewriteSite& site, const Permutation& perm) {
  const std::vector<int64_t> after = site.ConstantInput(1)->AsInts();
  std::vector<int64_t> before(after.size());
  for (size_t d = 0; d < perm.size(); ++d) {
    const auto axis = static_cast<size_t>(perm[d]);
    before[axis] = after[d];
    before[perm.size() + axis] = after[perm.size() + d];
  }
  return site.EmitConstant("_pads", Constant::Ints(before));
}

Attributes PassedAttributes(const Node& node, const Permutation& perm) {
  Attributes attributes = node.attributes;
  if (node.op != "Concat") return attributes;
  const int64_t axis = attributes.Int("axis");
  const size_t d = static_cast<size_t>(axis) + (axis < 0 ? perm.size() : 0);
  attributes.Set("axis", perm[d]);
  return attributes;
}

// Does the node before the transpose, which is left behind it where it moves an axis.
bool ReplaceByOpAndTranspose(RewriteSite& site, std::vector<ValueId> inputs, Attributes attributes,
                             const Permutation& perm) {
  const ValueType before =
      TensorType(site.type().dtype, PermuteShape(site.type().dims, InversePermutation(perm)));
  const ValueId result =
      site.Emit(site.node().op, std::move(inputs), std::move(attributes), before);
  if (IsIdentityPermutation(perm)) return site.ReplaceBy(result);
  return site.ReplaceBy("Transpose", {result}, PermutationAttribute(perm));
}

bool PastOps(RewriteSite& site) {
  const std::optional<Permutation> perm =
      PermutationPassed(site.graph(), site.node(), site.type().dims,
                        [&](size_t index) { return PermutationAbove(site, index); });
  if (!perm) return false;
  const bool is_pad = site.node().op == "Pad";
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < site.node().inputs.size(); ++i) {
    inputs.push_back(is_pad && i == 1 ? PassedPads(site, *perm) : Passed(site, i, *perm));
  }
  return ReplaceByOpAndTranspose(site, std::move(inputs), PassedAttributes(site.node(), *perm),
                                 *perm);
}

// A reduction finds its axes elsewhere; those that are left may have to be put in order.
bool IntoReduction(RewriteSite& site) {
  const Node* transpose = site.HasInput(0) ? OwnTranspose(site, 0) : nullptr;
  if (transpose == nullptr) return false;
  const Shape dims = site.InputType(0).dims;
  const Permutation perm = PermutationOf(*transpose, dims.size());
  std::optional<Permutation> axes = ReducedAxes(site.graph(), site.node(), dims.size());
  if (!axes) return false;
  const ValueId source = transpose->inputs[0];
  Permutation mapped, kept;  // axes of the source: reduced, and left in the order of the result
  for (size_t d = 0; d < perm.size(); ++d) {
    const bool reduced = std::ranges::binary_search(*axes, static_cast<int64_t>(d));
    (reduced ? mapped : kept).push_back(perm[d]);
  }
  const bool keep_dims = site.node().attributes.Int("keepdims", 1) != 0;
  std::sort(mapped.begin(), mapped.end());
  Permutation order = kept;  // the transpose that is left
  if (keep_dims) order = perm;
  Permutation sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (int64_t& axis : order) {
    axis = std::ranges::lower_bound(sorted, axis) - sorted.begin();
  }
  const ValueId list = site.EmitConstant("_axes", Constant::Ints(mapped));
  return ReplaceByOpAndTranspose(site, {source, list}, site.node().attributes, order);
}

// Softmax finds its axis elsewhere. Along the last one, where elements are neighbours, it stays.
bool PastSoftmax(RewriteSite& site) {
  if (site.node().op != "Softmax" && site.node().op != "LogSoftmax") return false;
  const std::optional<Permutation> perm = PermutationAbove(site, 0);
  if (!perm) return false;
  const auto rank = static_cast<int64_t>(perm->size());
  const int64_t given = site.node().attributes.Int("axis", -1),
                axis = given + (given < 0 ? rank : 0);
  if (axis < 0 || axis + 1 >= rank) return false;
  Attributes attributes = site.node().attributes;
  attributes.Set("axis", (*perm)[static_cast<size_t>(axis)]);
  return ReplaceByOpAndTranspose(site, {site.Producer(0)->inputs[0]}, std::move(attributes), *perm);
}

}  // namespace

absl::StatusOr<Graph> SinkTransposes(const Graph& graph, PassContext&) {
  std::vector<RewriteRule> rules = {PastOps, PastSoftmax, IntoReduction};
  // Those that meet become one.
  rules.insert(rules.end(), ReshapeRules().begin(), ReshapeRules().end());
  return RewriteUntilDone(graph, rules, SinkableValues);
}

}  // namespace aotc
