#include "compiler/ops/pair_ops.h"

#include "compiler/ops/helpers.h"
#include "compiler/ops/scores.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {

absl::Status RbfKernel(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor vectors, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireRank(x, 2, 2));
  AOTC_RETURN_IF_ERROR(RequireRank(vectors, 2, 2));
  AOTC_RETURN_IF_ERROR(op.RequireEqual(x.dim(1), vectors.dim(1),
                                       "the support vectors have another number of features"));
  const Shape shape = {x.dim(0), vectors.dim(0)};
  const Tensor distances =
      op.b().Reduce("sum", DType::kF32, shape, {x.dim(1)}, [&](const Indices& i, const Indices& r) {
        const Expr apart = x({i[0], r[0]}) - vectors({i[1], r[0]});
        return apart * apart;
      });
  const double gamma = op.attributes().Float("gamma");
  op.SetOutput(
      0, op.b().Map({distances}, [&](const auto& v) { return Exp(Number(-gamma, v[0]) * v[0]); }));
  return absl::OkStatus();
}

namespace {

// The number of pair (i, j) of classes.
Expr PairOf(const Expr& i, const Expr& j, int64_t classes) {
  return i * classes - FloorDiv(i * (i + 1), 2) + (j - i - 1);
}

// Its place among pairs, which may be no pair.
Expr PairPlace(const Expr& i, const Expr& j, int64_t classes) {
  const int64_t last = classes * (classes - 1) / 2 - 1;
  return Clamp(PairOf(Min(i, j), Max(i, j), classes), 0, last);
}

}  // namespace

absl::Status PairVotes(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor scores, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireRank(scores, 2, 2));
  const int64_t classes = op.attributes().Int("classes");
  const Shape shape = {scores.dim(0), Expr(classes)};
  op.SetOutput(0, op.b().Reduce("sum", DType::kF32, shape, {Expr(classes)},
                                [&](const Indices& i, const Indices& r) {
                                  const Expr place = PairPlace(i[1], r[0], classes);
                                  const Expr score = scores({i[0], place});
                                  const Expr above = Lt(FloatConst(0), score);
                                  const Expr one = FloatConst(1), none = FloatConst(0);
                                  const Expr as_second = Select(above, none, one);
                                  return Select(Lt(i[1], r[0]), Select(above, one, none),
                                                Select(Lt(r[0], i[1]), as_second, none));
                                }));
  return absl::OkStatus();
}

absl::Status PairProbabilities(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const std::vector<Tensor> x, BroadcastInputs(op, 0, 3));
  constexpr double kLeast = 1e-7;
  op.SetOutput(0, op.b().Map(x, [](const auto& v) {
    const Expr p = Number(1, v[0]) - Logistic(v[0] * v[1] + v[2]);
    return Min(Max(p, Number(kLeast, p)), Number(1 - kLeast, p));
  }));
  return absl::OkStatus();
}

absl::Status PairStart(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor pairs, op.Input(0));
  AOTC_RETURN_IF_ERROR(RequireRank(pairs, 2, 2));
  const int64_t classes = op.attributes().Int("classes");
  const float share = 1.0F / static_cast<float>(classes);
  op.SetOutput(0, op.b().Compute(DType::kF32, {pairs.dim(0), Expr(classes)},
                                 [&](const Indices&) { return FloatConst(share); }));
  return absl::OkStatus();
}

namespace {

class Coupling {
 public:
  Coupling(TensorBuilder& b, const Tensor& p, const Tensor& pairs)
      : b_(b), p_(p), pairs_(pairs), classes_(*p.dim(1).AsInt()), rows_{p.dim(0)} {}

  Tensor Step() {
    MakeQ();
    const Tensor q = q_, p = p_;
    Tensor qp = b_.Reduce("sum", DType::kF32, p.shape(), {p.dim(1)},
                          [&](const Indices& i, const Indices& r) {
                            return q({i[0], i[1], r[0]}) * p({i[0], r[0]});
                          });
    Tensor pqp = b_.Reduce(
        "sum", DType::kF32, rows_, {p.dim(1)},
        [&](const Indices& i, const Indices& r) { return p({i[0], r[0]}) * qp({i[0], r[0]}); });
    const Tensor error =
        b_.Reduce("max", DType::kF32, rows_, {p.dim(1)}, [&](const Indices& i, const Indices& r) {
          return Unary(ExprOp::kAbs, qp({i[0], r[0]}) - pqp(i));
        });
    Tensor next = p;
    for (int64_t k = 0; k < classes_; ++k) Move(k, next, qp, pqp);
    const Expr enough = FloatConst(0.005F / static_cast<float>(classes_));
    return b_.Compute(DType::kF32, p.shape(), [&](const Indices& i) {
      return Select(Lt(error({i[0]}), enough), p(i), next(i));
    });
  }

 private:
  // Of class i against j.
  Expr R(const Indices& row, const Expr& i, const Expr& j) const {
    const Expr probability = pairs_({row[0], PairPlace(i, j, classes_)});
    return Select(Lt(i, j), probability, FloatConst(1) - probability);
  }

  void MakeQ() {
    const Expr classes = classes_;
    const Tensor squares = b_.Reduce("sum", DType::kF32, p_.shape(), {classes},
                                     [&](const Indices& i, const Indices& r) {
                                       const Expr other = R(i, r[0], i[1]);
                                       return Select(Eq(r[0], i[1]), FloatConst(0), other * other);
                                     });
    q_ = b_.Compute(DType::kF32, {p_.dim(0), classes, classes}, [&](const Indices& i) {
      return Select(Eq(i[1], i[2]), squares({i[0], i[1]}), -(R(i, i[2], i[1]) * R(i, i[1], i[2])));
    });
  }

  // Changes the probability of class k, and all so that they add up to 1 again.
  void Move(int64_t k, Tensor& p, Tensor& qp, Tensor& pqp) {
    const Tensor old_p = p, old_qp = qp, old_pqp = pqp, q = q_;
    const Expr one = FloatConst(1), at = k;
    const Tensor diff = b_.Compute(DType::kF32, rows_, [&](const Indices& i) {
      return Div(old_pqp(i) - old_qp({i[0], at}), q({i[0], at, at}));
    });
    pqp = b_.Compute(DType::kF32, rows_, [&](const Indices& i) {
      const Expr d = diff(i);
      const Expr grown =
          old_pqp(i) + d * (d * q({i[0], at, at}) + FloatConst(2) * old_qp({i[0], at}));
      return Div(Div(grown, one + d), one + d);
    });
    qp = b_.Compute(DType::kF32, old_qp.shape(), [&](const Indices& i) {
      const Expr d = diff({i[0]});
      return Div(old_qp(i) + d * q({i[0], at, i[1]}), one + d);
    });
    p = b_.Compute(DType::kF32, old_p.shape(), [&](const Indices& i) {
      const Expr d = diff({i[0]});
      return Div(Select(Eq(i[1], at), old_p(i) + d, old_p(i)), one + d);
    });
  }

  TensorBuilder& b_;
  const Tensor p_, pairs_;
  const int64_t classes_;
  const Shape rows_;
  Tensor q_;
};

}  // namespace

absl::Status PairCoupling(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor p, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor pairs, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireRank(p, 2, 2));
  AOTC_RETURN_IF_ERROR(RequireRank(pairs, 2, 2));
  if (!p.dim(1).AsInt()) return absl::InternalError("needs a known number of classes");
  op.SetOutput(0, Coupling(op.b(), p, pairs).Step());
  return absl::OkStatus();
}

}  // namespace aotc
