// Linear models of ai.onnx.ml (opset 1): LinearRegressor and LinearClassifier.
#include "compiler/ops/class_labels.h"
#include "compiler/ops/expansion.h"
#include "compiler/ops/registry.h"
#include "compiler/ops/scores.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

std::vector<double> Wide(const std::vector<float>& values) {
  return std::vector<double>(values.begin(), values.end());
}

// X * coefficients^T + intercepts in f32, [N, targets].
absl::StatusOr<ValueId> Products(Expansion& e, int64_t targets) {
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0}));
  const std::vector<float> coefficients = e.attributes().Floats("coefficients");
  const std::vector<float> intercepts = e.attributes().Floats("intercepts");
  const auto count = static_cast<int64_t>(coefficients.size());
  if (targets < 1 || count == 0 || count % targets != 0) {
    return AOTC_REFUSAL(InvalidArgument,
                        StrCat(count, " coefficients do not divide into ", targets, " targets"));
  }
  if (!intercepts.empty() && intercepts.size() != static_cast<size_t>(targets)) {
    return AOTC_REFUSAL(InvalidArgument,
                        StrCat("has ", intercepts.size(), " intercepts for ", targets, " targets"));
  }
  const ValueId x = e.Emit("Cast", {e.Input(0)}, {{"to", static_cast<int64_t>(DType::kF32)}});
  std::vector<ValueId> operands = {
      x, e.Numbers("coefficients", DType::kF32, {targets, count / targets}, Wide(coefficients))};
  if (!intercepts.empty()) {
    operands.push_back(e.Numbers("intercepts", DType::kF32, {targets}, Wide(intercepts)));
  }
  return e.Emit("Gemm", operands, {{"transB", int64_t{1}}});
}

// post_transform; of a single score onnxruntime applies PROBIT only.
absl::StatusOr<ValueId> Transform(Expansion& e, ValueId scores, int64_t targets) {
  AOTC_ASSIGN_OR_RETURN(const PostTransform transform, PostTransformOf(e.attributes()));
  const bool kept =
      transform == PostTransform::kNone || (targets == 1 && transform != PostTransform::kProbit);
  if (kept) return scores;
  return e.Emit("ScoreTransform", {scores},
                {{"post_transform", e.attributes().String("post_transform")}});
}

absl::Status LinearRegressor(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  const int64_t targets = e.attributes().Int("targets", 1);
  AOTC_ASSIGN_OR_RETURN(const ValueId products, Products(e, targets));
  AOTC_ASSIGN_OR_RETURN(const ValueId result, Transform(e, products, targets));
  e.SetOutput(0, result);
  return absl::OkStatus();
}

// With one score for two classes the second one where it is above 0, and scores 1 - s and s.
absl::Status LinearClassifier(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_ASSIGN_OR_RETURN(ClassLabels labels, ClassLabels::Of(e.attributes(), "classlabels_ints"));
  const auto targets = static_cast<int64_t>(e.attributes().Floats("intercepts").size());
  if (targets == 0) return AOTC_REFUSAL(InvalidArgument, "needs the attribute 'intercepts'");
  AOTC_ASSIGN_OR_RETURN(const ValueId products, Products(e, targets));
  AOTC_ASSIGN_OR_RETURN(const PostTransform transform, PostTransformOf(e.attributes()));
  if (targets > 1) {
    if (labels.count() != targets) {
      return AOTC_REFUSAL(InvalidArgument,
                          StrCat("has ", labels.count(), " labels for ", targets, " scores"));
    }
    labels.Set(e, products);
    AOTC_ASSIGN_OR_RETURN(const ValueId result, Transform(e, products, targets));
    e.SetOutput(labels.scores_output(), result);
    return absl::OkStatus();
  }
  const bool two = labels.count() == 2;
  if (!two && labels.are_strings()) {
    return AOTC_REFUSAL(Unimplemented, "one score for strings that are not two labels");
  }
  if (!two) labels = ClassLabels::OfBits();
  if (two && transform == PostTransform::kProbit) {
    return AOTC_REFUSAL(Unimplemented,
                        "post_transform PROBIT of one score for two classes is not supported");
  }
  labels.Set(e, products, {}, {{"column", int64_t{0}}, {"threshold", 0.0F}});
  AOTC_ASSIGN_OR_RETURN(const ValueId one, Transform(e, products, targets));
  const int64_t logistic = transform == PostTransform::kLogistic ? 1 : 0;
  e.SetOutput(labels.scores_output(), two ? e.Emit("BinaryScores", {products},
                                                   {{"share", int64_t{1}}, {"logistic", logistic}})
                                          : one);
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "ai.onnx.ml.LinearClassifier",
     .expand = LinearClassifier,
     .summary = "the class with the greatest linear score, and the scores"},
    {.name = "ai.onnx.ml.LinearRegressor",
     .expand = LinearRegressor,
     .summary = "products with coefficients, plus intercepts"},
};

}  // namespace

std::span<const OpDef> LinearModelOps() { return kOps; }

}  // namespace aotc
