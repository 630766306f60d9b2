// What models of ai.onnx.ml do with the scores of classes or targets: post_transform, and the class
// with the greatest score.
//
//   AOTC_ASSIGN_OR_RETURN(const PostTransform transform, PostTransformOf(op.attributes()));
//   op.SetOutput(1, Transformed(op.b(), scores, transform));   // rows of [N, classes]
#ifndef AOTC_COMPILER_OPS_SCORES_H_
#define AOTC_COMPILER_OPS_SCORES_H_

#include <string_view>

#include "compiler/ops/op.h"

namespace aotc {

enum class PostTransform { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };

absl::StatusOr<PostTransform> PostTransformNamed(std::string_view name);
// The attribute post_transform, a text.
absl::StatusOr<PostTransform> PostTransformOf(const Attributes& attributes);

// 1 / (1 + exp(-x)), and the normal quantile of x, as onnxruntime approximates it.
Expr Logistic(const Expr& x);
Expr Probit(const Expr& x);
// Each row of [N, classes], of f32 or f64. SOFTMAX_ZERO leaves scores of 0 at 0.
Tensor Transformed(TensorBuilder& b, const Tensor& scores, PostTransform transform);
// i64 [N]: the first place of the greatest score of each row of [N, classes], of those that count
// where `counts`, a bool tensor of that shape, is valid.
Tensor PlaceOfGreatest(TensorBuilder& b, const Tensor& scores, const Tensor& counts = {});

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_SCORES_H_
