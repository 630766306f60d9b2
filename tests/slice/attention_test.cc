// softmax(a * b) * c as one reduction over a tuple, on both targets.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/eval/evaluate.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/support/files.h"
#include "tests/slice/slice_data.h"

namespace aotc {
namespace {

constexpr double kTolerance = 1e-5;

// The plain definition: weights after the maximum is known.
std::vector<double> Softmaxed(const std::vector<double>& scores) {
  double top = -INFINITY, total = 0;
  for (const double score : scores) top = std::max(top, score);
  std::vector<double> weights;
  for (const double score : scores) weights.push_back(std::exp(score - top));
  for (const double weight : weights) total += weight;
  for (double& weight : weights) weight /= total;
  return weights;
}

double Dot(const Constant& a, int64_t row, const Constant& b, int64_t column) {
  const int64_t depth = a.dims()[1], columns = b.dims()[1];
  double sum = 0;
  for (int64_t k = 0; k < depth; ++k) {
    sum += a.FloatAt(row * depth + k) * b.FloatAt(k * columns + column);
  }
  return sum;
}

// The largest difference of `y` from the plain definition.
double ErrorOf(const Constant& y, const Constant& a, const SliceOptions& options) {
  const Constant &b = options.constants[0], &c = options.constants[1];
  const int64_t keys = c.dims()[0], columns = c.dims()[1];
  double error = 0;
  for (int64_t row = 0; row < a.dims()[0]; ++row) {
    std::vector<double> scores;
    for (int64_t t = 0; t < keys; ++t) scores.push_back(Dot(a, row, b, t));
    const std::vector<double> weights = Softmaxed(scores);
    for (int64_t d = 0; d < columns; ++d) {
      double sum = 0;
      for (int64_t t = 0; t < keys; ++t) {
        sum += weights[static_cast<size_t>(t)] * c.FloatAt(t * columns + d);
      }
      error = std::max(error, std::abs(sum - y.FloatAt(row * columns + d)));
    }
  }
  return error;
}

SliceOptions AttentionOptions() {
  const absl::StatusOr<std::string> text = ReadFile("tests/slice/attention.air");
  EXPECT_TRUE(text.ok());
  const absl::StatusOr<Kernel> kernel = ParseKernel(*text);
  EXPECT_TRUE(kernel.ok() && VerifyKernel(*kernel).ok()) << kernel.status().message();
  SliceOptions options = DenseOptions(*kernel);
  options.destinations.clear();
  return options;
}

TEST(Attention, EvaluatorFollowsTheDefinition) {
  const SliceOptions options = AttentionOptions();
  const Constant a = DenseInputs(options.kernel, 7)[0];
  const absl::StatusOr<std::vector<Constant>> y =
      EvaluateKernel(options.kernel, {a, options.constants[0], options.constants[1]}, {{"m", 7}});
  ASSERT_TRUE(y.ok()) << y.status().message();
  EXPECT_LE(ErrorOf((*y)[0], a, options), kTolerance);
}

class AttentionRun : public testing::TestWithParam<std::string> {};

TEST_P(AttentionRun, AllRows) {
  SliceOptions options = AttentionOptions();
  options.target = GetParam();
  const absl::StatusOr<SliceModel> model = SliceModel::Build(options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  for (const int64_t rows : {1, 2, 7, 16, 33, 200}) {
    const Constant a = DenseInputs(options.kernel, rows)[0];
    const int workers = options.target == "cpu" ? 2 : 1;
    const absl::StatusOr<std::vector<Bytes>> outputs =
        model->Run({.inputs = {a}, .workers = workers});
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    Bytes bytes = (*outputs)[0];
    bytes.resize(static_cast<size_t>(rows) * 40 * sizeof(float));
    const Constant y = Constant::Dense(DType::kF32, {rows, 40}, std::move(bytes));
    EXPECT_LE(ErrorOf(y, a, options), kTolerance) << rows << " rows";
  }
}

INSTANTIATE_TEST_SUITE_P(Slice, AttentionRun, testing::Values("cpu", "cuda"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace aotc
