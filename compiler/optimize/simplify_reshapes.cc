// What keeps the order of the elements is a Reshape; transposes in a row are one.
#include <algorithm>

#include "compiler/optimize/permutation.h"
#include "compiler/optimize/simplify_rules.h"

namespace aotc {
namespace {

bool MovesOnlyUnitAxes(const RewriteSite& site) {
  if (site.node().op != "Transpose") return false;
  const Shape& dims = site.InputType(0).dims;
  return KeepsOrder(dims, PermutationOf(site.node(), dims.size()), site.bounds());
}

// Flatten, Squeeze, Unsqueeze, a Transpose that moves axes of dim 1 only: one Reshape of what the
// reshapes before started from.
bool OneReshape(RewriteSite& site) {
  const std::string& op = site.node().op;
  const bool other =
      op == "Flatten" || op == "Squeeze" || op == "Unsqueeze" || MovesOnlyUnitAxes(site);
  if (!other && op != "Reshape") return false;
  ValueId source = site.node().inputs[0];
  const Node* inner = site.Producer(0);
  while (inner != nullptr && inner->op == "Reshape") {
    source = inner->inputs[0];
    inner = site.ProducerOf(source);
  }
  const bool nothing = SameShape(site.TypeOf(source).dims, site.type().dims);
  if (!other && !nothing && source == site.node().inputs[0]) return false;
  return site.ReplaceBy(site.EmitReshape(source, site.type().dims));
}

bool TransposeOfTranspose(RewriteSite& site) {
  if (site.node().op != "Transpose") return false;
  const size_t rank = site.type().dims.size();
  std::vector<int64_t> perm = PermutationOf(site.node(), rank);
  if (IsIdentityPermutation(perm)) return site.ReplaceBy(site.node().inputs[0]);
  const Node* inner = site.Producer(0);
  if (inner == nullptr || inner->op != "Transpose") return false;
  const ValueId source = inner->inputs[0];
  perm = Compose(PermutationOf(*inner, rank), perm);
  if (IsIdentityPermutation(perm)) return site.ReplaceBy(source);
  return site.ReplaceBy("Transpose", {source}, PermutationAttribute(perm));
}

// A reduction of one element to itself. The sum of -0.0 alone is -0.0.
bool ReductionOfOne(RewriteSite& site) {
  constexpr std::string_view kOps[] = {"ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
                                       "ReduceSum"};
  if (std::ranges::find(kOps, site.node().op) == std::end(kOps)) return false;
  const Expr before = ElementCount(site.InputType(0).dims), after = ElementCount(site.type().dims);
  if (!ProveEqual(before, after, site.bounds())) return false;
  return site.ReplaceBy(site.EmitReshape(site.node().inputs[0], site.type().dims));
}

// Softmax over the last axis does not mind how the axes before it are counted: older opsets flatten
// them first.
bool SoftmaxOfReshape(RewriteSite& site) {
  if (site.node().op != "Softmax" && site.node().op != "LogSoftmax") return false;
  const Node* reshape = site.Producer(0);
  if (reshape == nullptr || reshape->op != "Reshape") return false;
  const auto rank = static_cast<int64_t>(site.type().dims.size());
  const int64_t axis = site.node().attributes.Int("axis", -1);
  if (axis != -1 && axis != rank - 1) return false;
  const ValueId source = reshape->inputs[0];
  const ValueType from = site.TypeOf(source);
  if (from.dims.empty() || !ProveEqual(from.dims.back(), site.type().dims.back(), site.bounds()))
    return false;
  Attributes attributes;
  attributes.Set("axis", int64_t{-1});
  const ValueId result = site.Emit(site.node().op, {source}, std::move(attributes), from);
  return site.ReplaceBy(site.EmitReshape(result, site.type().dims));
}

constexpr RewriteRule kRules[] = {OneReshape, TransposeOfTranspose, ReductionOfOne,
                                  SoftmaxOfReshape};

}  // namespace

std::span<const RewriteRule> ReshapeRules() { return kRules; }

}  // namespace aotc
