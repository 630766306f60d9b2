#include "compiler/optimize/transposable.h"

#include <algorithm>

#include "compiler/ops/op.h"

namespace aotc {
namespace {

bool IsConstantInput(const Graph& graph, const Node& node, size_t index) {
  return HasInput(node, index) && graph.values[node.inputs[index]].constant.has_value();
}

// What is not transposed, yet can be had in the order before `perm` and moves no element.
bool IsFree(const Graph& graph, ValueId value, const Permutation& perm) {
  Shape dims = graph.values[value].type.dims;
  if (dims.size() > perm.size()) return false;
  if (ElementCount(dims).IsInt(1) || graph.values[value].constant) return true;
  dims.insert(dims.begin(), perm.size() - dims.size(), Expr(1));
  return KeepsOrder(dims, InversePermutation(perm), BoundsOf(graph.symbols));
}

std::optional<Permutation> PassedByElementwise(const Graph& graph, const Node& node,
                                               const Shape& result, TransposeAbove above) {
  const size_t count = node.inputs.size();
  std::optional<Permutation> perm;
  for (size_t i = 0; i < count && !perm; ++i) {
    if (HasInput(node, i) && SameShape(graph.values[node.inputs[i]].type.dims, result))
      perm = above(i);
  }
  if (!perm) return std::nullopt;
  for (size_t i = 0; i < count; ++i) {
    if (HasInput(node, i) && above(i) != perm && !IsFree(graph, node.inputs[i], *perm))
      return std::nullopt;
  }
  return perm;
}

std::optional<Permutation> PassedByConcat(const Node& node, TransposeAbove above) {
  std::optional<Permutation> perm = above(0);
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (above(i) != perm) return std::nullopt;
  }
  return perm;
}

}  // namespace

std::optional<Permutation> PermutationPassed(const Graph& graph, const Node& node,
                                             const Shape& result, TransposeAbove above) {
  if (HasTrait(node.op, kElementwise)) return PassedByElementwise(graph, node, result, above);
  if (node.op == "Concat") return PassedByConcat(node, above);
  // Axes in a list of their own are left where they are: exporters state the pads of all.
  const bool is_pad = node.op == "Pad" && IsConstantInput(graph, node, 1) && !HasInput(node, 3);
  return is_pad ? above(0) : std::nullopt;
}

std::optional<Permutation> ReducedAxes(const Graph& graph, const Node& node, size_t rank) {
  if (!HasTrait(node.op, kReducesAxes)) return std::nullopt;
  if (!IsConstantInput(graph, node, 1)) return std::nullopt;
  Permutation axes = graph.values[node.inputs[1]].constant->AsInts();
  if (axes.empty()) return std::nullopt;
  for (int64_t& axis : axes) axis = axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
  std::sort(axes.begin(), axes.end());
  return axes;
}

}  // namespace aotc
