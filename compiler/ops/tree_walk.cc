// Ops of ours that ensembles of decision trees are made of (tree_ensemble.cc).
//
// The walk is unrolled: one stage a level, each from the node reached to the next, for each sample
// and tree, by tables of nodes that are constants; a leaf follows itself. That costs samples x
// trees x depth steps of four reads, and tables of 16 bytes a node. Sums then read one weight for
// each sample, tree and target: a table of leaves x targets, or of one target and weight a leaf
// where no leaf has more than one, so that ensembles of a tree a class stay as small as they are.
// What the tables hold is within their limits (tree_nodes.h), so no index is clamped.
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/ops/tree_nodes.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Whether x is in one of the cases of TreeCase, compared with the threshold.
Expr IsCase(const Expr& x, const Expr& threshold, int64_t cases) {
  constexpr int64_t kUnlike = kBelow | kAbove | kNotANumber;
  if ((cases & kUnlike) == kUnlike) return (cases & kEqual) != 0 ? Bool(true) : Ne(x, threshold);
  Expr result = Bool(false);
  const bool equal = (cases & kEqual) != 0;
  const bool below = (cases & kBelow) != 0, above = (cases & kAbove) != 0;
  if (below) result = equal ? Le(x, threshold) : Lt(x, threshold);
  if (above) result = Or(result, equal ? Le(threshold, x) : Lt(threshold, x));
  if (equal && !below && !above) result = Eq(x, threshold);
  if ((cases & kNotANumber) != 0) result = Or(result, Unary(ExprOp::kIsNan, x));
  return result;
}

// Whether x is in one of those cases, which a table has.
Expr IsCaseOf(const Expr& x, const Expr& threshold, const Expr& cases) {
  const auto is = [](int64_t one) { return IntConst(one, DType::kI32); };
  const Expr unlike = Select(Lt(threshold, x), is(kAbove), is(kNotANumber));
  const Expr relation =
      Select(Lt(x, threshold), is(kBelow), Select(Eq(x, threshold), is(kEqual), unlike));
  return Ne(Binary(ExprOp::kBitAnd, cases, relation), is(0));
}

// Ours: the leaf of each tree that a sample reaches, i32 [N, trees]. Inputs: X [N, F] (or one
// sample, [F]), roots, and for each node the feature, the threshold, both successors and, where
// attribute `cases` lists several, its cases. Attributes: `depth`, `features` that X needs.
absl::Status TreeLeaves(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireNumber(x));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 1, 2));
  std::vector<Tensor> tables;
  const std::vector<int64_t> cases = op.attributes().Ints("cases");
  for (size_t i = 1; i < (cases.size() > 1 ? 7U : 6U); ++i) {
    AOTC_ASSIGN_OR_RETURN(const Tensor table, op.Input(i));
    AOTC_RETURN_IF_ERROR(RequireRank(table, 1, 1));
    tables.push_back(table);
  }
  const Tensor &roots = tables[0], &features = tables[1], &thresholds = tables[2];
  const Expr& width = x.shape().back();
  const int64_t needed = op.attributes().Int("features");
  AOTC_RETURN_IF_ERROR(op.Require(
      Le(needed, width), StrCat("the trees read ", needed, " features, more than there are")));
  // Integers are compared as f32, or f64 with thresholds of that type; floats in the wider type.
  const DType own = IsFloat(x.dtype()) ? ComputeType(x.dtype()) : thresholds.dtype();
  const DType type = thresholds.dtype() == DType::kF64 ? DType::kF64 : own;
  auto takes_yes = [&](const Expr& value, const Expr& node) {
    const Expr threshold = Cast(type, thresholds({node}));
    return cases.size() == 1 ? IsCase(value, threshold, cases[0])
                             : IsCaseOf(value, threshold, tables[5]({node}));
  };
  const Shape shape = {x.rank() == 1 ? Expr(1) : x.dim(0), roots.dim(0)};
  Tensor reached =
      op.b().Compute(DType::kI32, shape, [&](const Indices& i) { return roots({i[1]}); }, "root");
  auto next = [&](const Indices& i) {
    const Expr node = Cast(DType::kI64, reached(i));
    const Expr feature = Cast(DType::kI64, features({node}));
    const Expr value = Cast(type, x.rank() == 1 ? x({feature}) : x({i[0], feature}));
    return Select(takes_yes(value, node), tables[3]({node}), tables[4]({node}));
  };
  for (int64_t level = 0; level < op.attributes().Int("depth"); ++level) {
    reached = op.b().Compute(DType::kI32, shape, next, "node");
  }
  op.SetOutput(0, reached);
  return absl::OkStatus();
}

// Ours: what the leaves reached give to each target, [N, targets] in the type of the weights.
// Inputs: leaves i32 [N, trees]; weights [leaves, targets] (NaN: none, with attribute `gaps`), or
// [leaves] with the target of each at input 2; base values [targets]. Attributes: `targets`,
// `aggregate`. Output 1, bool: whether any leaf gives something to the target.
class TreeSumsBuilder {
 public:
  explicit TreeSumsBuilder(OpContext& op) : op_(op), b_(op.b()) {}

  absl::Status Run() {
    AOTC_ASSIGN_OR_RETURN(leaves_, op_.Input(0));
    AOTC_ASSIGN_OR_RETURN(weights_, op_.Input(1));
    if (op_.HasInput(2)) {
      AOTC_ASSIGN_OR_RETURN(targets_, op_.Input(2));
      AOTC_RETURN_IF_ERROR(RequireRank(targets_, 1, 1));
    }
    const int rank = targets_.valid() ? 1 : 2;
    AOTC_RETURN_IF_ERROR(RequireRank(leaves_, 2, 2));
    AOTC_RETURN_IF_ERROR(RequireRank(weights_, rank, rank));
    aggregate_ = op_.attributes().String("aggregate", "SUM");
    const bool least = aggregate_ == "MIN", most = aggregate_ == "MAX";
    if (!least && !most && aggregate_ != "SUM" && aggregate_ != "AVERAGE") {
      return AOTC_REFUSAL(InvalidArgument, StrCat("unknown aggregate_function '", aggregate_, "'"));
    }
    const Expr none = least ? HighestOf(Type()) : most ? LowestOf(Type()) : NumberConst(0, Type());
    const Shape shape = {leaves_.dim(0), Expr(op_.attributes().Int("targets"))};
    Tensor sums =
        b_.Reduce(least  ? "min"
                  : most ? "max"
                         : "sum",
                  Type(), shape, {leaves_.dim(1)}, [&](const Indices& i, const Indices& r) {
                    return Select(HasVote(i, r), Weight(i, r), none);
                  });
    Tensor voted;
    if ((least || most) || op_.WantsOutput(1)) voted = Voted(shape);
    if (least || most) {
      sums =
          b_.Map({voted, sums}, [&](const auto& v) { return Select(v[0], v[1], Number(0, v[1])); });
    }
    AOTC_ASSIGN_OR_RETURN(sums, WithBase(sums));
    op_.SetOutput(0, sums);
    if (op_.WantsOutput(1)) op_.SetOutput(1, voted);
    return absl::OkStatus();
  }

 private:
  DType Type() const { return weights_.dtype(); }
  Expr Leaf(const Indices& i, const Indices& r) const {
    return Cast(DType::kI64, leaves_({i[0], r[0]}));
  }
  Expr Weight(const Indices& i, const Indices& r) const {
    if (targets_.valid()) return weights_({Leaf(i, r)});
    return weights_({Leaf(i, r), i[1]});
  }
  Expr HasVote(const Indices& i, const Indices& r) const {
    const bool gaps = op_.attributes().Int("gaps") != 0;
    Expr has = gaps ? Not(Unary(ExprOp::kIsNan, Weight(i, r))) : Bool(true);
    if (!targets_.valid()) return has;
    return And(Eq(Cast(DType::kI64, targets_({Leaf(i, r)})), i[1]), has);
  }
  Tensor Voted(const Shape& shape) {
    return b_.Reduce("or", DType::kBool, shape, {leaves_.dim(1)},
                     [&](const Indices& i, const Indices& r) { return HasVote(i, r); });
  }
  absl::StatusOr<Tensor> WithBase(const Tensor& sums) {
    const bool mean = aggregate_ == "AVERAGE";
    Tensor base;
    if (op_.HasInput(3)) {
      AOTC_ASSIGN_OR_RETURN(base, op_.Input(3));
    }
    if (!mean && !base.valid()) return sums;
    return b_.Compute(Type(), sums.shape(), [&](const Indices& i) {
      const Expr trees = Cast(Type(), leaves_.dim(1));
      const Expr sum = mean ? Div(sums(i), trees) : sums(i);
      return base.valid() ? sum + base({i[1]}) : sum;
    });
  }

  OpContext& op_;
  TensorBuilder& b_;
  Tensor leaves_, weights_, targets_;
  std::string aggregate_;
};

absl::Status TreeSums(OpContext& op) { return TreeSumsBuilder(op).Run(); }

constexpr OpDef kOps[] = {
    {.name = "TreeLeaves",
     .compute = TreeLeaves,
     .summary = "the leaf of each decision tree that a sample reaches",
     .traits = kOwn},
    {.name = "TreeSums",
     .compute = TreeSums,
     .summary = "what leaves of decision trees give to each target",
     .traits = kOwn},
};

}  // namespace

std::span<const OpDef> TreeWalkOps() { return kOps; }

}  // namespace aotc
