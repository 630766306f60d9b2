// Support vector machines of ai.onnx.ml (opset 1): SVMRegressor and SVMClassifier, as onnxruntime
// computes them. Kernels of samples with support vectors are a matrix [N, vectors]; what each pair
// of classes makes of them is a product with a matrix [vectors, pairs] of coefficients.
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "compiler/ops/class_labels.h"
#include "compiler/ops/expansion.h"
#include "compiler/ops/pair_ops.h"
#include "compiler/ops/registry.h"
#include "compiler/ops/scores.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

ValueId Matrix(Expansion& e, std::string_view name, int64_t rows, const std::vector<double>& all) {
  return e.Numbers(name, DType::kF32, {rows, static_cast<int64_t>(all.size()) / rows}, all);
}

std::vector<double> Numbers(const Expansion& e, std::string_view name) {
  const std::vector<float> values = e.attributes().Floats(name);
  return std::vector<double>(values.begin(), values.end());
}

ValueId InF32(Expansion& e) {
  return e.Emit("Cast", {e.Input(0)}, {{"to", static_cast<int64_t>(DType::kF32)}});
}

// x * rows^T + a number: what a kernel without support vectors is.
ValueId LinearScores(Expansion& e, ValueId x, ValueId rows, double rho) {
  return e.Emit("Gemm", {x, rows, e.Numbers("rho", DType::kF32, {1}, {rho})},
                {{"transB", int64_t{1}}});
}

// kernel(x, vector) for each of `count` support vectors: attributes kernel_type and kernel_params
// (gamma, coef0, degree).
absl::StatusOr<ValueId> Kernels(Expansion& e, ValueId x, int64_t count) {
  const std::vector<double> all = Numbers(e, "support_vectors");
  if (all.empty() || static_cast<int64_t>(all.size()) % count != 0) {
    return AOTC_REFUSAL(InvalidArgument, StrCat(all.size(), " elements do not divide into ", count,
                                                " support vectors"));
  }
  const ValueId vectors = Matrix(e, "vectors", count, all);
  std::vector<double> params = Numbers(e, "kernel_params");
  params.resize(3, 0);
  const auto gamma = static_cast<float>(params[0]);
  const std::string type = e.attributes().String("kernel_type", "LINEAR");
  if (type == "LINEAR") return e.Emit("Gemm", {x, vectors}, {{"transB", int64_t{1}}});
  if (type == "RBF") return e.Emit("RbfKernel", {x, vectors}, {{"gamma", gamma}});
  const ValueId inner =
      e.Emit("Gemm", {x, vectors, e.Numbers("coef0", DType::kF32, {1}, {params[1]})},
             {{"alpha", gamma}, {"transB", int64_t{1}}});
  if (type == "SIGMOID") return e.Emit("Tanh", {inner});
  if (type == "POLY") return e.Emit("Pow", {inner, e.Number("degree", DType::kF32, params[2])});
  return AOTC_REFUSAL(InvalidArgument, StrCat("unknown kernel_type '", type, "'"));
}

// [N, 1]; post_transform does nothing, as in onnxruntime.
absl::Status SvmRegressor(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0}));
  const std::vector<double> coefficients = Numbers(e, "coefficients"), rho = Numbers(e, "rho");
  const int64_t count = e.attributes().Int("n_supports");
  if (coefficients.empty() || rho.empty()) {
    return AOTC_REFUSAL(InvalidArgument, "needs the attributes 'coefficients' and 'rho'");
  }
  ValueId x = InF32(e);
  if (count > 0) {
    if (coefficients.size() != static_cast<size_t>(count)) {
      return AOTC_REFUSAL(InvalidArgument, StrCat("has ", coefficients.size(), " coefficients for ",
                                                  count, " support vectors"));
    }
    AOTC_ASSIGN_OR_RETURN(x, Kernels(e, x, count));
  }
  ValueId result = LinearScores(e, x, Matrix(e, "coefficients", 1, coefficients), rho[0]);
  if (e.attributes().Int("one_class") != 0) {
    const ValueId zero = e.Number("zero", DType::kF32, 0);
    result = e.Emit("Where", {e.Emit("Greater", {result, zero}), e.Number("in", DType::kF32, 1),
                              e.Number("out", DType::kF32, -1)});
  }
  e.SetOutput(0, result);
  return absl::OkStatus();
}

class SvmClassifierExpansion {
 public:
  explicit SvmClassifierExpansion(Expansion& e) : e_(e) {}

  absl::Status Run() {
    AOTC_RETURN_IF_ERROR(e_.RequireInputs({0}));
    AOTC_ASSIGN_OR_RETURN(labels_, ClassLabels::Of(e_.attributes(), "classlabels_ints"));
    classes_ = labels_.count();
    if (classes_ < 2) {
      return AOTC_REFUSAL(Unimplemented, "a classifier of one class is not supported");
    }
    transform_ = e_.attributes().String("post_transform", "NONE");
    AOTC_RETURN_IF_ERROR(PostTransformNamed(transform_).status());
    coefficients_ = Numbers(e_, "coefficients");
    rho_ = Numbers(e_, "rho");
    counts_ = e_.attributes().Ints("vectors_per_class");
    vectors_ = std::accumulate(counts_.begin(), counts_.end(), int64_t{0});
    return vectors_ > 0 ? BySupportVectors() : Linear();
  }

 private:
  absl::Status Linear() {
    if (classes_ == 2) {
      return AOTC_REFUSAL(
          Unimplemented,
          "two classes without support vectors: onnxruntime does not give the label of the greater "
          "score; hint: LinearClassifier does");
    }
    if (coefficients_.empty() || static_cast<int64_t>(coefficients_.size()) % classes_ != 0 ||
        rho_.empty()) {
      return AOTC_REFUSAL(InvalidArgument, "the coefficients do not divide into the classes");
    }
    const ValueId scores =
        LinearScores(e_, InF32(e_), Matrix(e_, "coefficients", classes_, coefficients_), rho_[0]);
    labels_.Set(e_, scores);
    SetScores(Transformed(scores));
    return absl::OkStatus();
  }

  absl::Status BySupportVectors() {
    const auto pairs = static_cast<size_t>(classes_ * (classes_ - 1) / 2);
    const bool has_counts = static_cast<int64_t>(counts_.size()) == classes_ &&
                            std::ranges::all_of(counts_, [](int64_t count) { return count >= 0; });
    if (!has_counts || rho_.size() < pairs ||
        coefficients_.size() != static_cast<size_t>((classes_ - 1) * vectors_)) {
      return AOTC_REFUSAL(
          InvalidArgument,
          "coefficients, rho and vectors_per_class do not fit the number of classes");
    }
    AOTC_ASSIGN_OR_RETURN(const ValueId kernels, Kernels(e_, InF32(e_), vectors_));
    rho_.resize(pairs);
    const auto width = static_cast<int64_t>(pairs);
    const ValueId scores =
        e_.Emit("Gemm", {kernels, Matrix(e_, "pairs", vectors_, PairCoefficients()),
                         e_.Numbers("rho", DType::kF32, {width}, rho_)});
    labels_.Set(e_, e_.Emit("PairVotes", {scores}, {{"classes", classes_}}));
    const std::vector<double> a = Numbers(e_, "prob_a"), b = Numbers(e_, "prob_b");
    if (a.size() != b.size() || (!a.empty() && a.size() < pairs)) {
      return AOTC_REFUSAL(InvalidArgument,
                          "prob_a and prob_b do not have one number a pair of classes");
    }
    if (!a.empty()) return SetProbabilities(scores, a, b);
    if (classes_ > 2) {
      SetScores(Transformed(scores));
      return absl::OkStatus();
    }
    if (transform_ == "PROBIT") {
      return AOTC_REFUSAL(Unimplemented,
                          "post_transform PROBIT of one score for two classes is not supported");
    }
    SetScores(e_.Emit("BinaryScores", {scores},
                      {{"logistic", int64_t{transform_ == "LOGISTIC"}},
                       {"share", int64_t{transform_ != "NONE"}}}));
    return absl::OkStatus();
  }

  // [vectors, pairs]: class i against j takes row j - 1 of the coefficients for the vectors of i,
  // and row i for those of j.
  std::vector<double> PairCoefficients() const {
    const int64_t pairs = classes_ * (classes_ - 1) / 2;
    std::vector<double> matrix(static_cast<size_t>(vectors_ * pairs), 0);
    std::vector<int64_t> first = {0};
    for (int64_t count : counts_) first.push_back(first.back() + count);
    auto fill = [&](int64_t of, int64_t row, int64_t pair) {
      for (int64_t m = first[static_cast<size_t>(of)]; m < first[static_cast<size_t>(of) + 1];
           ++m) {
        matrix[static_cast<size_t>(m * pairs + pair)] =
            coefficients_[static_cast<size_t>(row * vectors_ + m)];
      }
    };
    int64_t pair = 0;
    for (int64_t i = 0; i < classes_; ++i) {
      for (int64_t j = i + 1; j < classes_; ++j, ++pair) {
        fill(i, j - 1, pair);
        fill(j, i, pair);
      }
    }
    return matrix;
  }

  // Platt's probabilities of the pairs, coupled to those of the classes by a hundred steps at most.
  absl::Status SetProbabilities(ValueId scores, std::vector<double> a, std::vector<double> b) {
    constexpr int64_t kMostClasses = 32;
    if (classes_ > kMostClasses) {
      return AOTC_REFUSAL(Unimplemented, StrCat("probabilities of more than ", kMostClasses,
                                                " classes are not supported"));
    }
    const int64_t pairs = classes_ * (classes_ - 1) / 2;
    a.resize(static_cast<size_t>(pairs));
    b.resize(static_cast<size_t>(pairs));
    const ValueId of_pairs =
        e_.Emit("PairProbabilities", {scores, e_.Numbers("prob_a", DType::kF32, {pairs}, a),
                                      e_.Numbers("prob_b", DType::kF32, {pairs}, b)});
    const ValueId start = e_.Emit("PairStart", {of_pairs}, {{"classes", classes_}});
    AOTC_ASSIGN_OR_RETURN(const ValueId coupled,
                          e_.EmitLoop(e_.Number("times", DType::kI64, kCouplingSteps), start,
                                      [&](ValueId, ValueId state) {
                                        return e_.Emit("PairCoupling", {state, of_pairs});
                                      }));
    SetScores(Transformed(coupled));
    return absl::OkStatus();
  }

  void SetScores(ValueId scores) { e_.SetOutput(labels_.scores_output(), scores); }
  ValueId Transformed(ValueId scores) {
    if (transform_ == "NONE") return scores;
    return e_.Emit("ScoreTransform", {scores}, {{"post_transform", transform_}});
  }

  static constexpr int64_t kCouplingSteps = 100;
  Expansion& e_;
  ClassLabels labels_;
  std::vector<int64_t> counts_;
  std::vector<double> coefficients_, rho_;
  std::string transform_;
  int64_t classes_ = 0, vectors_ = 0;
};

absl::Status SvmClassifier(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  return SvmClassifierExpansion(e).Run();
}

constexpr OpDef kOps[] = {
    {.name = "PairCoupling",
     .compute = PairCoupling,
     .summary = "a step from probabilities of pairs to those of classes",
     .traits = kOwn},
    {.name = "PairProbabilities",
     .compute = PairProbabilities,
     .summary = "probabilities from scores of pairs",
     .traits = kOwn | kElementwise | kBroadcasts},
    {.name = "PairStart",
     .compute = PairStart,
     .summary = "equal probabilities of classes",
     .traits = kOwn},
    {.name = "PairVotes",
     .compute = PairVotes,
     .summary = "how many pairs decide for a class",
     .traits = kOwn},
    {.name = "RbfKernel",
     .compute = RbfKernel,
     .summary = "exp(-gamma * squared distance)",
     .traits = kOwn},
    {.name = "ai.onnx.ml.SVMClassifier",
     .expand = SvmClassifier,
     .summary = "the class that most pairs of classes vote for, and scores"},
    {.name = "ai.onnx.ml.SVMRegressor",
     .expand = SvmRegressor,
     .summary = "a sum over kernels with support vectors"},
};

}  // namespace

std::span<const OpDef> SupportVectorOps() { return kOps; }

}  // namespace aotc
