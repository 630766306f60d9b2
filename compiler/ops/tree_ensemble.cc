// Ensembles of decision trees of ai.onnx.ml, in terms of TreeLeaves and TreeSums (tree_walk.cc):
// TreeEnsembleRegressor and TreeEnsembleClassifier (opset 1 and 3), TreeEnsemble (opset 5).
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "compiler/ops/class_labels.h"
#include "compiler/ops/expansion.h"
#include "compiler/ops/registry.h"
#include "compiler/ops/scores.h"
#include "compiler/ops/tree_nodes.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Emits TreeLeaves and TreeSums.
class TreeExpansion {
 public:
  TreeExpansion(Expansion& e, const TreeNodes& trees, int64_t targets)
      : e_(e), trees_(trees), targets_(targets), type_(trees.wide ? DType::kF64 : DType::kF32) {}

  // [N, targets], and whether any leaf reached gives something to a target.
  absl::StatusOr<std::vector<ValueId>> Sums(std::string_view aggregate,
                                            const std::vector<double>& base) {
    AOTC_RETURN_IF_ERROR(e_.RequireInputs({0}));
    if (!base.empty() && base.size() != static_cast<size_t>(targets_)) {
      return AOTC_REFUSAL(InvalidArgument,
                          StrCat("has ", base.size(), " base values for ", targets_, " targets"));
    }
    for (const auto& votes : trees_.votes) {
      for (const TreeVote& vote : votes) {
        if (std::isnan(vote.weight)) return AOTC_REFUSAL(Unimplemented, "a weight that is NaN");
      }
    }
    const ValueId leaves = Leaves();
    std::vector<ValueId> inputs = {leaves, {}, {}, {}};
    int64_t gaps = 0;
    AddWeights(aggregate, inputs[1], inputs[2], gaps);
    if (!base.empty()) inputs[3] = e_.Numbers("base", type_, {targets_}, base);
    return e_.EmitSeveral(
        "TreeSums", inputs, 2,
        {{"targets", targets_}, {"gaps", gaps}, {"aggregate", std::string(aggregate)}});
  }

 private:
  ValueId Column(std::string_view name, DType type, double (*of)(const TreeNode&)) {
    std::vector<double> column;
    for (const TreeNode& node : trees_.nodes) column.push_back(of(node));
    return e_.Numbers(name, type, {static_cast<int64_t>(column.size())}, column);
  }

  ValueId Leaves() {
    std::set<int64_t> cases;
    for (size_t i = trees_.votes.size(); i < trees_.nodes.size(); ++i) {
      cases.insert(trees_.nodes[i].cases);
    }
    if (cases.empty()) cases.insert(0);
    const std::vector<double> roots(trees_.roots.begin(), trees_.roots.end());
    std::vector<ValueId> inputs = {
        e_.Input(0),
        e_.Numbers("roots", DType::kI32, {static_cast<int64_t>(roots.size())}, roots),
        Column("features", DType::kI32,
               [](const TreeNode& node) { return static_cast<double>(node.feature); }),
        Column("thresholds", type_, [](const TreeNode& node) { return node.threshold; }),
        Column("yes", DType::kI32,
               [](const TreeNode& node) { return static_cast<double>(node.yes); }),
        Column("no", DType::kI32,
               [](const TreeNode& node) { return static_cast<double>(node.no); })};
    if (cases.size() > 1) {
      inputs.push_back(Column("cases", DType::kI32, [](const TreeNode& node) {
        return static_cast<double>(node.cases);
      }));
    }
    return e_.Emit("TreeLeaves", inputs,
                   {{"depth", trees_.depth},
                    {"features", trees_.features},
                    {"cases", std::vector<int64_t>(cases.begin(), cases.end())}});
  }

  static double Joined(std::string_view aggregate, double a, double b) {
    if (aggregate == "MIN") return std::min(a, b);
    return aggregate == "MAX" ? std::max(a, b) : a + b;
  }

  // One target and weight a leaf where that is all there is, else a row of weights a leaf.
  void AddWeights(std::string_view aggregate, ValueId& weights, ValueId& target_of, int64_t& gaps) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    const auto leaves = static_cast<int64_t>(trees_.votes.size());
    const bool single = targets_ > 1 && std::ranges::all_of(trees_.votes, [](const auto& votes) {
                          return votes.size() <= 1;
                        });
    const int64_t columns = single ? 1 : targets_;
    std::vector<double> table(static_cast<size_t>(leaves * columns), kNone), targets;
    for (int64_t leaf = 0; leaf < leaves; ++leaf) {
      const auto& votes = trees_.votes[static_cast<size_t>(leaf)];
      targets.push_back(votes.empty() ? 0 : static_cast<double>(votes[0].target));
      for (const TreeVote& vote : votes) {
        double& place = table[static_cast<size_t>(leaf * columns + (single ? 0 : vote.target))];
        place = std::isnan(place) ? vote.weight : Joined(aggregate, place, vote.weight);
      }
    }
    gaps = std::ranges::any_of(table, [](double weight) { return std::isnan(weight); }) ? 1 : 0;
    if (single) target_of = e_.Numbers("targets", DType::kI32, {leaves}, targets);
    weights = single ? e_.Numbers("weights", type_, {leaves}, table)
                     : e_.Numbers("weights", type_, {leaves, targets_}, table);
  }

  Expansion& e_;
  const TreeNodes& trees_;
  const int64_t targets_;
  const DType type_;
};

std::vector<double> BaseValues(const Attributes& attributes) {
  std::vector<double> values;
  for (float value : attributes.Floats("base_values")) values.push_back(value);
  const AttributeValue* found = attributes.Find("base_values_as_tensor");
  const auto* tensor = found == nullptr ? nullptr : std::get_if<Constant>(found);
  for (int64_t i = 0; tensor != nullptr && i < tensor->element_count(); ++i) {
    values.push_back(tensor->FloatAt(i));
  }
  return values;
}

// onnxruntime transforms the score of a single target by PROBIT only, and so do we.
std::string TransformOfTargets(const std::string& transform, int64_t targets) {
  return targets == 1 && transform != "PROBIT" ? "NONE" : transform;
}

ValueId EmitTransform(Expansion& e, ValueId scores, const std::string& transform) {
  if (transform.empty() || transform == "NONE") return scores;
  return e.Emit("ScoreTransform", {scores}, {{"post_transform", transform}});
}

// Outputs of opset 1 and 3 are f32.
ValueId EmitCastToF32(Expansion& e, ValueId scores, bool wide) {
  if (!wide) return scores;
  return e.Emit("Cast", {scores}, {{"to", static_cast<int64_t>(DType::kF32)}});
}

absl::Status TreeEnsembleRegressor(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  const int64_t targets = e.attributes().Int("n_targets", 1);
  AOTC_ASSIGN_OR_RETURN(const TreeNodes trees, TreesOfLists(e.attributes(), "target", targets));
  TreeExpansion expansion(e, trees, targets);
  AOTC_ASSIGN_OR_RETURN(const auto sums,
                        expansion.Sums(e.attributes().String("aggregate_function", "SUM"),
                                       BaseValues(e.attributes())));
  const std::string transform = e.attributes().String("post_transform", "NONE");
  AOTC_RETURN_IF_ERROR(PostTransformNamed(transform).status());
  const ValueId scores = EmitTransform(e, sums[0], TransformOfTargets(transform, targets));
  e.SetOutput(0, EmitCastToF32(e, scores, trees.wide));
  return absl::OkStatus();
}

// Names of numbered choices; error where there is none of that number.
absl::StatusOr<std::string> Choice(const Attributes& attributes, std::string_view name,
                                   int64_t fallback, const std::vector<std::string>& names) {
  const int64_t number = attributes.Int(name, fallback);
  if (number >= 0 && number < static_cast<int64_t>(names.size())) {
    return names[static_cast<size_t>(number)];
  }
  return AOTC_REFUSAL(InvalidArgument, StrCat("attribute '", name, "' is ", number));
}

absl::Status TreeEnsemble(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  const int64_t targets = e.attributes().Int("n_targets", 1);
  AOTC_ASSIGN_OR_RETURN(TreeNodes trees, TreesOfEnsemble(e.attributes()));
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0}));
  trees.wide |= e.InputType(0).dtype == DType::kF64;
  AOTC_ASSIGN_OR_RETURN(const std::string aggregate, Choice(e.attributes(), "aggregate_function", 1,
                                                            {"AVERAGE", "SUM", "MIN", "MAX"}));
  AOTC_ASSIGN_OR_RETURN(const std::string transform,
                        Choice(e.attributes(), "post_transform", 0,
                               {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"}));
  TreeExpansion expansion(e, trees, targets);
  AOTC_ASSIGN_OR_RETURN(const auto sums, expansion.Sums(aggregate, {}));
  const ValueId scores = EmitTransform(e, sums[0], TransformOfTargets(transform, targets));
  e.SetOutput(0, e.Emit("CastLike", {scores, e.Input(0)}));
  return absl::OkStatus();
}

// The class that all votes are for; nothing where they are for several.
std::optional<int64_t> OnlyClass(const Attributes& attributes) {
  const std::vector<int64_t> ids = attributes.Ints("class_ids");
  const bool one =
      !ids.empty() && std::ranges::all_of(ids, [&](int64_t id) { return id == ids[0]; });
  return one ? std::optional(ids[0]) : std::nullopt;
}

bool NoWeightIsNegative(const TreeNodes& trees) {
  return std::ranges::all_of(trees.votes, [](const auto& votes) {
    return std::ranges::all_of(votes, [](const TreeVote& vote) { return vote.weight >= 0; });
  });
}

// Two classes, with votes for one of them only: the label is the second one where its score is
// above 0, or above 0.5 where no weight is negative.
class BinaryTrees {
 public:
  BinaryTrees(Expansion& e, TreeNodes trees, int64_t voted)
      : e_(e), trees_(std::move(trees)), voted_(voted) {}

  // Scores [N, 2], and what the label goes by.
  absl::Status Run(const ClassLabels& labels) {
    const std::string transform = e_.attributes().String("post_transform", "NONE");
    const std::vector<double> base = BaseValues(e_.attributes());
    if (base.size() > (voted_ == 0 ? 1 : 0)) {
      return AOTC_REFUSAL(
          Unimplemented,
          "base values of both classes where all votes are for one of two are not supported");
    }
    if (voted_ == 0 && transform == "PROBIT") {
      return AOTC_REFUSAL(Unimplemented,
                          "post_transform PROBIT of one score for two classes is not supported");
    }
    const bool positive = NoWeightIsNegative(trees_);
    const float threshold = positive ? 0.5F : 0.0F;
    TreeExpansion expansion(e_, trees_, voted_ + 1);
    AOTC_ASSIGN_OR_RETURN(const auto sums, expansion.Sums("SUM", base));
    labels.Set(e_, sums[0], {}, {{"column", voted_}, {"threshold", threshold}});
    ValueId scores = voted_ == 0 ? e_.Emit("BinaryScores", {sums[0]},
                                           {{"logistic", int64_t{transform == "LOGISTIC"}},
                                            {"share", int64_t{positive}}})
                                 : EmitTransform(e_, sums[0], transform);
    e_.SetOutput(labels.scores_output(), EmitCastToF32(e_, scores, trees_.wide));
    return absl::OkStatus();
  }

 private:
  Expansion& e_;
  const TreeNodes trees_;
  const int64_t voted_;
};

// Where two classes both have votes the label is the one with the greater score, as the standard
// says; onnxruntime takes 1, whatever the labels are, wherever the second score is above 0.
absl::Status TreeEnsembleClassifier(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_ASSIGN_OR_RETURN(const ClassLabels labels,
                        ClassLabels::Of(e.attributes(), "classlabels_int64s"));
  const int64_t classes = labels.count();
  if (classes < 2) return AOTC_REFUSAL(Unimplemented, "a classifier of one class is not supported");
  AOTC_ASSIGN_OR_RETURN(TreeNodes trees, TreesOfLists(e.attributes(), "class", classes));
  const std::string transform = e.attributes().String("post_transform", "NONE");
  AOTC_RETURN_IF_ERROR(PostTransformNamed(transform).status());
  const std::optional<int64_t> only = OnlyClass(e.attributes());
  if (classes == 2 && only) return BinaryTrees(e, std::move(trees), *only).Run(labels);
  const std::vector<double> base = BaseValues(e.attributes());
  TreeExpansion expansion(e, trees, classes);
  AOTC_ASSIGN_OR_RETURN(const auto sums, expansion.Sums("SUM", base));
  // With base values every class has a score, else those that leaves vote for.
  labels.Set(e, sums[0], base.empty() ? sums[1] : ValueId());
  e.SetOutput(labels.scores_output(),
              EmitCastToF32(e, EmitTransform(e, sums[0], transform), trees.wide));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "ai.onnx.ml.TreeEnsemble",
     .expand = TreeEnsemble,
     .summary = "decision trees, of which each leaf gives to one target"},
    {.name = "ai.onnx.ml.TreeEnsembleClassifier",
     .expand = TreeEnsembleClassifier,
     .summary = "the class that decision trees vote for, and the scores"},
    {.name = "ai.onnx.ml.TreeEnsembleRegressor",
     .expand = TreeEnsembleRegressor,
     .summary = "sums, means or limits of what decision trees give"},
};

}  // namespace

std::span<const OpDef> TreeEnsembleOps() { return kOps; }

}  // namespace aotc
