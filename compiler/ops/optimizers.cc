// Steps of training: Adagrad, Adam and Momentum of the domain ai.onnx.preview.training.
//
// Operands are the learning rate, the count of updates, then all tensors to optimise, all their
// gradients and all of each state; results are the new tensors, then all of each new state.
#include <functional>

#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr size_t kFirstTensor = 2;

// One element: the tensor, its gradient and its states; the new tensor and its new states.
using Update =
    std::function<std::vector<Expr>(const Expr& rate, const Expr& count, const std::vector<Expr>&)>;

struct Step {
  Tensor rate = {};   // [] or one element: R
  Tensor count = {};  // i64, likewise: T
  size_t tensors = 0;
  size_t states = 0;
};

absl::StatusOr<Tensor> ScalarInput(OpContext& op, size_t index) {
  AOTC_ASSIGN_OR_RETURN(const Tensor scalar, op.Input(index));
  for (const Expr& dim : scalar.shape()) {
    if (!dim.IsInt(1)) {
      return AOTC_REFUSAL(InvalidArgument,
                          "the learning rate and the update count need one element");
    }
  }
  return scalar;
}

Expr ElementOf(const Tensor& scalar) { return scalar(Indices(scalar.shape().size(), Expr(0))); }

absl::StatusOr<Step> ReadStep(OpContext& op, size_t states) {
  Step step = {.states = states};
  AOTC_ASSIGN_OR_RETURN(step.rate, ScalarInput(op, 0));
  AOTC_ASSIGN_OR_RETURN(step.count, ScalarInput(op, 1));
  AOTC_RETURN_IF_ERROR(RequireFloat(step.rate));
  if (!IsInteger(step.count.dtype())) {
    return AOTC_REFUSAL(InvalidArgument, "needs an integer update count");
  }
  const size_t each = states + 2;
  step.tensors = (op.InputCount() - kFirstTensor) / each;
  if (step.tensors >= 1 && op.InputCount() == kFirstTensor + step.tensors * each) return step;
  return AOTC_REFUSAL(InvalidArgument,
                      StrCat("needs ", each, " operands for each tensor to optimise"));
}

// The tensor number k with its gradient and its states.
absl::StatusOr<std::vector<Tensor>> OperandsOf(OpContext& op, const Step& step, size_t k) {
  std::vector<Tensor> operands;
  for (size_t part = 0; part < step.states + 2; ++part) {
    AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(kFirstTensor + part * step.tensors + k));
    operands.push_back(x);
    AOTC_RETURN_IF_ERROR(RequireFloat(x));
    AOTC_RETURN_IF_ERROR(RequireSameType({operands[0], x}));
    AOTC_RETURN_IF_ERROR(RequireRank(x, operands[0].rank(), operands[0].rank()));
    for (int d = 0; d < x.rank(); ++d) {
      AOTC_RETURN_IF_ERROR(op.RequireEqual(x.dim(d), operands[0].dim(d),
                                           "a tensor, its gradient and states differ in shape"));
    }
  }
  return operands;
}

// `rate` is an element of one type, and `update` computes in that of the tensors. An element of all
// results of a tensor is computed by stages of their own, as each result has its kernel's stage.
absl::Status Optimize(OpContext& op, const Step& step, const Tensor& rate, const Update& update) {
  for (size_t k = 0; k < step.tensors; ++k) {
    AOTC_ASSIGN_OR_RETURN(const std::vector<Tensor> operands, OperandsOf(op, step, k));
    const DType type = operands[0].dtype(), compute = ComputeType(type);
    const Shape shape = operands[0].shape();
    for (size_t result = 0; result <= step.states; ++result) {
      if (!op.WantsOutput(result * step.tensors + k)) continue;
      op.SetOutput(result * step.tensors + k, op.b().Compute(type, shape, [&](const Indices& i) {
        std::vector<Expr> elements;
        for (const Tensor& operand : operands) elements.push_back(operand(i));
        return update(Cast(compute, ElementOf(rate)), ElementOf(step.count), elements)[result];
      }));
    }
  }
  return absl::OkStatus();
}

// The gradient with that of norm_coefficient / 2 * |x|^2.
Expr Regularized(const OpContext& op, const std::vector<Expr>& v) {
  const double norm = op.attributes().Float("norm_coefficient");
  return norm == 0 ? v[1] : Number(norm, v[0]) * v[0] + v[1];
}

// A stage of one element in f64: powers of numbers near 1 lose most digits in f32.
Tensor AdjustedRate(OpContext& op, const Step& step,
                    const std::function<Expr(const Expr& rate, const Expr& count)>& adjust) {
  return op.b().Compute(DType::kF64, {}, [&](const Indices&) {
    return adjust(Cast(DType::kF64, ElementOf(step.rate)), ElementOf(step.count));
  });
}

// H + g * g; x - R / (1 + T * decay_factor) * g / (sqrt(H) + epsilon)
absl::Status Adagrad(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Step step, ReadStep(op, 1));
  const double decay = op.attributes().Float("decay_factor");
  const double epsilon = op.attributes().Float("epsilon", 1e-6F);
  const Tensor rate = AdjustedRate(op, step, [&](const Expr& r, const Expr& count) {
    return Div(r, Number(1, r) + Cast(DType::kF64, count) * Number(decay, r));
  });
  return Optimize(op, step, rate, [&](const Expr& r, const Expr&, const std::vector<Expr>& v) {
    const Expr gradient = Regularized(op, v), squares = v[2] + gradient * gradient;
    const Expr root = Sqrt(squares) + Number(epsilon, squares);
    return std::vector<Expr>{v[0] - Div(r * gradient, root), squares};
  });
}

// Averages of gradients and of their squares, whose start at 0 the rate makes up for.
absl::Status Adam(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Step step, ReadStep(op, 2));
  const double alpha = op.attributes().Float("alpha", 0.9F);
  const double beta = op.attributes().Float("beta", 0.999F);
  const double epsilon = op.attributes().Float("epsilon", 1e-6F);
  const double post = op.attributes().Float("norm_coefficient_post");
  const Tensor rate = AdjustedRate(op, step, [&](const Expr& r, const Expr& count) {
    const Expr one = Number(1, r), times = Cast(DType::kF64, count);
    const auto rest = [&](double base) {
      return one - Binary(ExprOp::kPow, Number(base, r), times);
    };
    return Select(Lt(IntConst(0, count.dtype()), count), Div(r * Sqrt(rest(beta)), rest(alpha)), r);
  });
  return Optimize(op, step, rate, [&](const Expr& r, const Expr&, const std::vector<Expr>& v) {
    const auto mean = [&](double keep, const Expr& before, const Expr& now) {
      return Number(keep, now) * before + Number(1 - keep, now) * now;
    };
    const Expr gradient = Regularized(op, v);
    const Expr first = mean(alpha, v[2], gradient);
    const Expr second = mean(beta, v[3], gradient * gradient);
    const Expr x = v[0] - r * Div(first, Sqrt(second) + Number(epsilon, second));
    return std::vector<Expr>{post == 0 ? x : Number(1 - post, x) * x, first, second};
  });
}

// V = alpha * V + beta * g, with beta 1 in the first step; x - R * V, or x - R * (g + alpha * V).
absl::Status Momentum(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Step step, ReadStep(op, 1));
  const std::string mode = op.attributes().String("mode");
  const bool nesterov = mode == "nesterov";
  if (!nesterov && mode != "standard") {
    return AOTC_REFUSAL(InvalidArgument, StrCat("unknown mode '", mode, "'"));
  }
  const double alpha = op.attributes().Float("alpha"), beta = op.attributes().Float("beta");
  const Update update = [&](const Expr& r, const Expr& count, const std::vector<Expr>& v) {
    const Expr gradient = Regularized(op, v);
    const Expr share =
        Select(Lt(IntConst(0, count.dtype()), count), Number(beta, gradient), Number(1, gradient));
    const Expr moved = Number(alpha, gradient) * v[2] + share * gradient;
    const Expr direction = nesterov ? gradient + Number(alpha, gradient) * moved : moved;
    return std::vector<Expr>{v[0] - r * direction, moved};
  };
  return Optimize(op, step, step.rate, update);
}

constexpr OpDef kOps[] = {
    {.name = "ai.onnx.preview.training.Adagrad",
     .compute = Adagrad,
     .summary = "a training step by sums of squared gradients"},
    {.name = "ai.onnx.preview.training.Adam",
     .compute = Adam,
     .summary = "a training step by averages of gradients and of their squares"},
    {.name = "ai.onnx.preview.training.Momentum",
     .compute = Momentum,
     .summary = "a training step by gradients and the direction so far"},
};

}  // namespace

std::span<const OpDef> OptimizerOps() { return kOps; }

}  // namespace aotc
