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

// In stages, where the names of axes stand for other axes from one stage to the next.
constexpr std::string_view kRenamed = R"(
kernel @renamed(in %q: f32[3, m, 8], in %k: f32[3, 50, 8], in %v: f32[3, 50, 20],
                out %y: f32[3, m, 20]) {
  symbol m in 1..200
  temp %score: f32[3, m, 50]
  temp %top: f32[3, m, 1]
  temp %power: f32[3, m, 50]
  temp %total: f32[3, m, 1]
  temp %weight: f32[3, m, 50]
  %score[a<3, b<m, c<50] = reduce sum(d<8) %q[a, b, d] * %k[a, c, d]
  %top[a<3, b<m, c<1] = reduce max(d<50) %score[a, b, d]
  %power[a<3, b<m, c<50] = exp(%score[a, b, c] - %top[a, b, 0])
  %total[c<3, a<m, b<1] = reduce sum(d<50) %power[c, a, d]
  %weight[c<3, a<m, b<50] = %power[c, a, b] / %total[c, a, 0]
  %y[b<3, c<m, a<20] = reduce sum(d<50) %weight[b, c, d] * %v[b, d, a]
})";

class AttentionInStages : public testing::TestWithParam<std::string> {};

TEST_P(AttentionInStages, NamesOfAxesBelongToTheirStage) {
  const absl::StatusOr<Kernel> kernel = ParseKernel(kRenamed);
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const SliceOptions options{.kernel = *kernel, .target = GetParam()};
  const absl::StatusOr<SliceModel> model = SliceModel::Build(options);
  ASSERT_TRUE(model.ok()) << model.status().message();
  for (const int64_t rows : {1, 16, 33, 200}) {
    const std::vector<Constant> inputs = DenseInputs(*kernel, rows);
    const auto expected = EvaluateKernel(*kernel, inputs, {{"m", rows}});
    const absl::StatusOr<std::vector<Bytes>> outputs = model->Run({.inputs = inputs});
    ASSERT_TRUE(outputs.ok() && expected.ok()) << outputs.status().message();
    double error = 0;
    for (int64_t i = 0; i < rows * 3 * 20; ++i) {
      const double is = LoadElement(DType::kF32, (*outputs)[0].data(), i);
      error = std::max(error, std::abs(is - (*expected)[0].FloatAt(i)));
    }
    EXPECT_LE(error, kTolerance) << rows << " rows";
  }
}

INSTANTIATE_TEST_SUITE_P(Slice, AttentionInStages, testing::Values("cpu", "cuda"),
                         [](const auto& info) { return info.param; });

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
