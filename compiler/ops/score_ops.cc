// Ops of ours on the scores that classifiers of ai.onnx.ml give to classes.
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/ops/scores.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

// post_transform of the rows of [N, classes].
absl::Status ScoreTransform(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor scores, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireFloat(scores));
  AOTC_RETURN_IF_ERROR(RequireRank(scores, 2, 2));
  AOTC_ASSIGN_OR_RETURN(const PostTransform transform, PostTransformOf(op.attributes()));
  op.SetOutput(0, Transformed(op.b(), scores, transform));
  return absl::OkStatus();
}

// i64 [N]: the label of the greatest score, of those that count where input 2, bool, says so. With
// attribute `threshold` label 1 where the score at `column` is above it, else label 0. Inputs:
// scores [N, classes], labels [classes].
absl::Status ScoreLabels(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor scores, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor labels, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireRank(scores, 2, 2));
  AOTC_RETURN_IF_ERROR(RequireRank(labels, 1, 1));
  const Shape shape = {scores.dim(0)};
  if (op.attributes().Has("threshold")) {
    const Expr column = op.attributes().Int("column");
    op.SetOutput(0, op.b().Compute(DType::kI64, shape, [&](const Indices& i) {
      const Expr score = scores({i[0], column});
      const Expr is_second = Lt(Number(op.attributes().Float("threshold"), score), score);
      return Select(is_second, labels({Expr(1)}), labels({Expr(0)}));
    }));
    return absl::OkStatus();
  }
  Tensor counts;
  if (op.HasInput(2)) {
    AOTC_ASSIGN_OR_RETURN(counts, op.Input(2));
    AOTC_RETURN_IF_ERROR(RequireRank(counts, 2, 2));
  }
  const Tensor place = PlaceOfGreatest(op.b(), scores, counts);
  op.SetOutput(0, op.b().Compute(DType::kI64, shape, [&](const Indices& i) {
    return labels({Clamp(place(i), 0, labels.dim(0) - 1)});
  }));
  return absl::OkStatus();
}

// The scores of two classes, [N, 2], from one, s, of [N, 1]: 1 - s and s with attribute `share`,
// 1 / (1 + exp(s)) and 1 / (1 + exp(-s)) with `logistic`, else -s and s.
absl::Status BinaryScores(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor scores, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireRank(scores, 2, 2));
  const bool logistic = op.attributes().Int("logistic") != 0;
  const bool share = op.attributes().Int("share") != 0;
  op.SetOutput(0, op.b().Compute(scores.dtype(), {scores.dim(0), 2}, [&](const Indices& i) {
    const Expr score = scores({i[0], Expr(0)}), is_second = Eq(i[1], 1);
    if (logistic) return Logistic(Select(is_second, score, -score));
    return Select(is_second, score, share ? Number(1, score) - score : -score);
  }));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "BinaryScores",
     .compute = BinaryScores,
     .summary = "scores of two classes from one",
     .traits = kOwn},
    {.name = "ScoreLabels",
     .compute = ScoreLabels,
     .summary = "the label of the greatest score",
     .traits = kOwn},
    {.name = "ScoreTransform",
     .compute = ScoreTransform,
     .summary = "scores of classes as probabilities",
     .traits = kOwn},
};

}  // namespace

std::span<const OpDef> ScoreOps() { return kOps; }

}  // namespace aotc
