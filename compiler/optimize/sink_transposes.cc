#include "compiler/optimize/sink_transposes.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/optimize/elementwise.h"
#include "compiler/optimize/permutation.h"
#include "compiler/optimize/rewrite.h"
#include "compiler/optimize/simplify_rules.h"

namespace aotc {
namespace {

constexpr std::string_view kReductions[] = {
    "ReduceL1",   "ReduceL2",  "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
    "ReduceMean", "ReduceMin", "ReduceProd",   "ReduceSum",       "ReduceSumSquare"};

// The transpose that defines an input which nothing else reads.
const Node* OwnTranspose(const RewriteSite& site, size_t index) {
  const Node* node = site.Producer(index);
  return node != nullptr && node->op == "Transpose" && site.Readers(index) == 1 ? node : nullptr;
}

using Permutation = std::vector<int64_t>;

// What an operand is on the other side of a transpose by `perm`: where it was transposed likewise,
// a single element, or a constant. Nothing where it is neither; nothing is emitted before all are
// known.
bool CanPass(const RewriteSite& site, size_t index, const Permutation& perm) {
  if (!site.HasInput(index)) return true;
  const Shape& dims = site.InputType(index).dims;
  if (const Node* transpose = OwnTranspose(site, index); transpose != nullptr) {
    return PermutationOf(*transpose, dims.size()) == perm;
  }
  if (ElementCount(dims).IsInt(1) && dims.size() <= perm.size()) return true;
  return site.ConstantInput(index) != nullptr && dims.size() <= perm.size();
}

ValueId Passed(RewriteSite& site, size_t index, const Permutation& perm) {
  if (!site.HasInput(index)) return {};
  if (const Node* transpose = OwnTranspose(site, index); transpose != nullptr) {
    return transpose->inputs[0];
  }
  const ValueId value = site.node().inputs[index];
  Shape dims = site.InputType(index).dims;
  // Few elements count for all places whatever the order of the axes; bounds of Clip stay scalars.
  if (ElementCount(dims).IsInt(1)) return value;
  dims.insert(dims.begin(), perm.size() - dims.size(), Expr(1));
  const Permutation back = InversePermutation(perm);
  return site.Emit("Transpose", {site.EmitReshape(value, dims)}, PermutationAttribute(back),
                   TensorType(site.TypeOf(value).dtype, PermuteShape(dims, back)));
}

// The permutation of the first operand that is transposed and has the shape of the result.
std::optional<Permutation> PermutationAbove(const RewriteSite& site) {
  for (size_t i = 0; i < site.node().inputs.size(); ++i) {
    const Node* transpose = OwnTranspose(site, i);
    if (transpose == nullptr) continue;
    const Shape& dims = site.InputType(i).dims;
    if (SameShape(dims, site.type().dims)) return PermutationOf(*transpose, dims.size());
  }
  return std::nullopt;
}

bool PastElementwise(RewriteSite& site) {
  if (!IsElementwise(site.node().op)) return false;
  std::optional<Permutation> perm = PermutationAbove(site);
  if (!perm) return false;
  const size_t count = site.node().inputs.size();
  for (size_t i = 0; i < count; ++i) {
    if (!CanPass(site, i, *perm)) return false;
  }
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < count; ++i) inputs.push_back(Passed(site, i, *perm));
  const ValueType before =
      TensorType(site.type().dtype, PermuteShape(site.type().dims, InversePermutation(*perm)));
  const ValueId result = site.Emit(site.node().op, inputs, site.node().attributes, before);
  return site.ReplaceBy("Transpose", {result}, PermutationAttribute(*perm));
}

bool PastConcat(RewriteSite& site) {
  if (site.node().op != "Concat") return false;
  const size_t rank = site.type().dims.size();
  const Node* first = OwnTranspose(site, 0);
  if (first == nullptr) return false;
  const Permutation perm = PermutationOf(*first, rank);
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < site.node().inputs.size(); ++i) {
    const Node* transpose = OwnTranspose(site, i);
    if (transpose == nullptr || PermutationOf(*transpose, rank) != perm) return false;
    inputs.push_back(transpose->inputs[0]);
  }
  int64_t axis = site.node().attributes.Int("axis");
  axis = axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
  Attributes attributes = site.node().attributes;
  attributes.Set("axis", perm[static_cast<size_t>(axis)]);
  const ValueType before =
      TensorType(site.type().dtype, PermuteShape(site.type().dims, InversePermutation(perm)));
  const ValueId result = site.Emit("Concat", inputs, std::move(attributes), before);
  return site.ReplaceBy("Transpose", {result}, PermutationAttribute(perm));
}

// The axes of a reduction, none negative, in order; nothing where they are not stated.
std::optional<Permutation> ReducedAxes(const RewriteSite& site, size_t rank) {
  const Constant* given = site.ConstantInput(1);
  if (given == nullptr || given->element_count() == 0) return std::nullopt;
  Permutation axes = given->AsInts();
  for (int64_t& axis : axes) axis = axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
  std::sort(axes.begin(), axes.end());
  return axes;
}

// A reduction finds its axes elsewhere; those that are left may have to be put in order.
bool IntoReduction(RewriteSite& site) {
  if (std::ranges::find(kReductions, site.node().op) == std::end(kReductions)) return false;
  const Node* transpose = OwnTranspose(site, 0);
  if (transpose == nullptr) return false;
  const Shape dims = site.InputType(0).dims;
  const Permutation perm = PermutationOf(*transpose, dims.size());
  std::optional<Permutation> axes = ReducedAxes(site, dims.size());
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
  const ValueType before =
      TensorType(site.type().dtype, PermuteShape(site.type().dims, InversePermutation(order)));
  const ValueId result = site.Emit(site.node().op, {source, list}, site.node().attributes, before);
  if (IsIdentityPermutation(order)) return site.ReplaceBy(result);
  return site.ReplaceBy("Transpose", {result}, PermutationAttribute(order));
}

}  // namespace

absl::StatusOr<Graph> SinkTransposes(const Graph& graph, PassContext&) {
  std::vector<RewriteRule> rules = {PastElementwise, PastConcat, IntoReduction};
  // Those that meet become one.
  rules.insert(rules.end(), ReshapeRules().begin(), ReshapeRules().end());
  return RewriteUntilDone(graph, rules);
}

}  // namespace aotc
