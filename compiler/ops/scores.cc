#include "compiler/ops/scores.h"

#include <algorithm>
#include <string>

#include "compiler/ops/helpers.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Of rows, as [N, 1].
Tensor Greatest(TensorBuilder& b, const Tensor& scores) {
  return b.ReduceAxes("max", scores, {1}, /*keep_dims=*/true);
}

Tensor Shares(TensorBuilder& b, const Tensor& power) {
  Tensor total = b.ReduceAxes("sum", power, {1}, /*keep_dims=*/true);
  return b.Map({power, total}, [](const auto& v) { return Div(v[0], v[1]); });
}

}  // namespace

absl::StatusOr<PostTransform> PostTransformNamed(std::string_view name) {
  if (name.empty() || name == "NONE") return PostTransform::kNone;
  if (name == "SOFTMAX") return PostTransform::kSoftmax;
  if (name == "LOGISTIC") return PostTransform::kLogistic;
  if (name == "SOFTMAX_ZERO") return PostTransform::kSoftmaxZero;
  if (name == "PROBIT") return PostTransform::kProbit;
  return AOTC_REFUSAL(InvalidArgument, StrCat("unknown post_transform '", name, "'"));
}

absl::StatusOr<PostTransform> PostTransformOf(const Attributes& attributes) {
  return PostTransformNamed(attributes.String("post_transform", "NONE"));
}

Expr Logistic(const Expr& x) { return Unary(ExprOp::kSigmoid, x); }

// sqrt(2) * the inverse of erf at 2 * x - 1, by the approximation of Winitzki with a = 0.147.
Expr Probit(const Expr& x) {
  constexpr double kA = 0.147;
  const Expr at = Number(2, x) * x - Number(1, x);
  const Expr rest = (Number(1, x) - at) * (Number(1, x) + at);
  const Expr log = Unary(ExprOp::kLog, rest);
  const Expr half = Number(2 / (3.14159 * kA), x) + Number(0.5, x) * log;
  const Expr root = Sqrt(Sqrt(half * half - Number(1 / kA, x) * log) - half);
  const Expr sign = Select(Lt(at, Number(0, x)), Number(-1, x), Number(1, x));
  return Number(1.41421356, x) * sign * root;
}

Tensor Transformed(TensorBuilder& b, const Tensor& scores, PostTransform transform) {
  switch (transform) {
    case PostTransform::kNone: return scores;
    case PostTransform::kLogistic:
      return b.Map({scores}, [](const auto& v) { return Logistic(v[0]); });
    case PostTransform::kProbit: return b.Map({scores}, [](const auto& v) { return Probit(v[0]); });
    case PostTransform::kSoftmax:
      return Shares(
          b, b.Map({scores, Greatest(b, scores)}, [](const auto& v) { return Exp(v[0] - v[1]); }));
    case PostTransform::kSoftmaxZero: break;
  }
  constexpr double kLeast = 1e-7;  // less counts as 0
  return Shares(b, b.Map({scores, Greatest(b, scores)}, [&](const auto& v) {
    const Expr counts = Lt(Number(kLeast, v[0]), Unary(ExprOp::kAbs, v[0]));
    return Select(counts, Exp(v[0] - v[1]), v[0] * Exp(-v[1]));
  }));
}

Tensor PlaceOfGreatest(TensorBuilder& b, const Tensor& scores, const Tensor& counts) {
  const Combiner combiner = ArgCombiner(scores.dtype(), /*maximum=*/true, /*prefer_last=*/false);
  auto body = [&](const Indices& i, const Indices& r) {
    const Expr score = scores({i[0], r[0]});
    if (!counts.valid()) return std::vector<Expr>{score, r[0]};
    const Expr in = counts({i[0], r[0]});
    return std::vector<Expr>{Select(in, score, LowestOf(scores.dtype())),
                             Select(in, r[0], combiner.identity[1])};
  };
  return b.ReduceTuple(combiner, {scores.dim(0)}, {scores.dim(1)}, body)[1];
}

}  // namespace aotc
