// Losses over classes: NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
//
// Scores are [N, C, d...], labels [N, d...]; an element's loss is minus the score of its label,
// times the weight of that class. Elements whose label is `ignore_index` count nothing.
#include <optional>

#include "compiler/ops/gradient.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

struct ClassLoss {
  Tensor scores = {};  // logarithms of probabilities
  Tensor labels = {};
  Tensor weights = {};  // [C], or none
  std::optional<int64_t> ignored = {};
  DType dtype = DType::kF32;  // of the result

  Expr Label(const Indices& i) const { return Cast(DType::kI64, labels(i)); }
  Expr Class(const Indices& i) const { return Clamp(Label(i), 0, scores.dim(1) - 1); }
  Expr Zero() const { return NumberConst(0, ComputeType(scores.dtype())); }

  Expr Weight(const Indices& i) const {
    const Expr weight =
        weights.valid() ? Cast(Zero().dtype(), weights({Class(i)})) : Number(1, Zero());
    return ignored ? Select(Eq(Label(i), *ignored), Zero(), weight) : weight;
  }

  Expr Loss(const Indices& i) const {
    Indices at = i;
    at.insert(at.begin() + 1, Class(i));
    const Expr score = scores(at);
    const Expr loss = weights.valid() ? -(score * Weight(i)) : -score;
    return ignored ? Select(Eq(Label(i), *ignored), Zero(), loss) : loss;
  }
};

absl::StatusOr<ClassLoss> ReadLoss(OpContext& op, const Tensor& x) {
  ClassLoss loss{.scores = x, .dtype = x.dtype()};
  AOTC_RETURN_IF_ERROR(RequireFloat(x));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 2));
  AOTC_ASSIGN_OR_RETURN(loss.labels, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireRank(loss.labels, x.rank() - 1, x.rank() - 1));
  if (!IsInteger(loss.labels.dtype())) return AOTC_REFUSAL(InvalidArgument, "needs integer labels");
  Shape expected = x.shape();
  expected.erase(expected.begin() + 1);
  for (size_t d = 0; d < expected.size(); ++d) {
    AOTC_RETURN_IF_ERROR(
        op.RequireEqual(loss.labels.shape()[d], expected[d],
                        "the labels need the shape of the scores without classes"));
  }
  if (op.HasInput(2)) {
    AOTC_ASSIGN_OR_RETURN(loss.weights, op.Input(2));
    AOTC_RETURN_IF_ERROR(RequireRank(loss.weights, 1, 1));
    AOTC_RETURN_IF_ERROR(
        op.RequireEqual(loss.weights.dim(0), x.dim(1), "needs one weight per class"));
  }
  if (op.attributes().Has("ignore_index")) loss.ignored = op.attributes().Int("ignore_index");
  return loss;
}

// The sum over all elements.
Tensor Total(TensorBuilder& b, const ClassLoss& loss, DType dtype, bool of_weights) {
  return b.Reduce("sum", dtype, {}, loss.labels.shape(), [&](const Indices&, const Indices& r) {
    return of_weights ? loss.Weight(r) : loss.Loss(r);
  });
}

absl::Status SetLoss(OpContext& op, const ClassLoss& loss) {
  TensorBuilder& b = op.b();
  const std::string reduction = op.attributes().String("reduction", "mean");
  if (reduction == "none") {
    auto body = [&](const Indices& i) { return loss.Loss(i); };
    op.SetOutput(0, b.Compute(loss.dtype, loss.labels.shape(), body));
  } else if (reduction == "sum") {
    op.SetOutput(0, Total(b, loss, loss.dtype, false));
  } else if (reduction == "mean") {
    const DType compute = loss.Zero().dtype();
    const Tensor sum = Total(b, loss, compute, false), weight = Total(b, loss, compute, true);
    op.SetOutput(
        0, b.Compute(loss.dtype, {}, [&](const Indices&) { return Div(sum({}), weight({})); }));
  } else {
    return AOTC_REFUSAL(InvalidArgument, StrCat("unknown reduction '", reduction, "'"));
  }
  return absl::OkStatus();
}

absl::Status NegativeLogLikelihoodLoss(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const ClassLoss loss, ReadLoss(op, x));
  return SetLoss(op, loss);
}

// The loss of the log-softmax along the classes, which is the second output.
absl::Status SoftmaxCrossEntropyLoss(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(ClassLoss loss, ReadLoss(op, x));
  TensorBuilder& b = op.b();
  const DType compute = ComputeType(x.dtype());
  Tensor top = b.ReduceAxes("max", x, {1}, /*keep_dims=*/true);
  Tensor shifted = b.Map({x, top}, [](const auto& v) { return v[0] - v[1]; }, compute);
  Tensor total = b.ReduceAxes("sum", shifted, {1}, /*keep_dims=*/true, Exp);
  auto body = [](const auto& v) { return v[0] - Unary(ExprOp::kLog, v[1]); };
  loss.scores = b.Map({shifted, total}, body, compute);
  if (op.WantsOutput(1)) op.SetOutput(1, b.Convert(loss.scores, x.dtype()));
  return SetLoss(op, loss);
}

// The gradient of the scores, of which the loss is a sum, by that of the loss, input 3: minus the
// weight at the label of an element, by the sum of weights for a mean. Ours.
absl::Status ClassLossGradient(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const ClassLoss loss, ReadLoss(op, x));
  AOTC_ASSIGN_OR_RETURN(const Tensor g, op.Input(3));
  AOTC_RETURN_IF_ERROR(RequireSameType({x, g}));
  const std::string reduction = op.attributes().String("reduction", "mean");
  const bool is_mean = reduction == "mean";
  const Tensor weight = is_mean ? Total(op.b(), loss, loss.Zero().dtype(), true) : Tensor();
  op.SetOutput(0, op.b().Compute(x.dtype(), x.shape(), [&](const Indices& i) {
    Indices element = i;
    element.erase(element.begin() + 1);
    const Expr of_loss = reduction == "none" ? g(element) : g({});
    const Expr share = is_mean ? Div(of_loss, weight({})) : of_loss;
    return Select(Eq(loss.Class(element), i[1]), -(loss.Weight(element) * share), loss.Zero());
  }));
  return absl::OkStatus();
}

Quantity OfScores(GradientContext& c) {
  return c.Operand().To("ClassLossGradient", {c.Operand(1), c.Operand(2), c.OfResult()},
                        c.AttributesAnd({}));
}

absl::Status GradientOfNegativeLogLikelihoodLoss(GradientContext& c) {
  if (c.Wants(0)) c.Give(0, OfScores(c));
  return absl::OkStatus();
}

// Of the scores that the log-softmax along the classes gives, and of that.
absl::Status GradientOfSoftmaxCrossEntropyLoss(GradientContext& c) {
  if (!c.Wants(0)) return absl::OkStatus();
  Quantity g = OfScores(c);
  if (c.ResultCount() > 1 && c.HasOfResult(1)) g = g + c.OfResult(1);
  const Quantity classes(&c, c.emit().Ints("axis", {1}));
  const Quantity total = g.To("ReduceSum", {classes}, {{"keepdims", int64_t{1}}});
  c.Give(0, g - c.Operand().To("Softmax", {}, {{"axis", int64_t{1}}}) * total);
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "ClassLossGradient",
     .compute = ClassLossGradient,
     .summary = "the gradient of scores by that of their loss",
     .traits = kOwn,
     .indices = IndexOperand{.fixed_axis = 1, .from_end = false}},
    {.name = "NegativeLogLikelihoodLoss",
     .compute = NegativeLogLikelihoodLoss,
     .summary = "minus the scores of labels, weighted",
     .indices = IndexOperand{.fixed_axis = 1, .from_end = false},
     .gradient = GradientOfNegativeLogLikelihoodLoss},
    {.name = "SoftmaxCrossEntropyLoss",
     .compute = SoftmaxCrossEntropyLoss,
     .summary = "the loss of a softmax for labels",
     .indices = IndexOperand{.fixed_axis = 1, .from_end = false},
     .gradient = GradientOfSoftmaxCrossEntropyLoss},
};

}  // namespace

std::span<const OpDef> LossOps() { return kOps; }

}  // namespace aotc
