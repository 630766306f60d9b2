// The evaluator folds and packs weights: it must stay within a few times a plain C loop.
#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include "compiler/eval/evaluate.h"
#include "compiler/ops/tensor_builder.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

constexpr DType kF32 = DType::kF32;
constexpr double kLargestRatio = 6;

double Seconds(const std::function<void()>& work) {
  auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Ratio of the fastest runs of both, which alternate so that a busy machine slows both down.
double RatioOfTimes(const std::function<void()>& work, const std::function<void()>& reference) {
  double best = 1e9, best_reference = 1e9;
  for (int i = 0; i < 5; ++i) {
    best = std::min(best, Seconds(work));
    best_reference = std::min(best_reference, Seconds(reference));
  }
  testing::Test::RecordProperty("seconds", std::to_string(best));
  return best / best_reference;
}

std::vector<float> FloatsOf(const Constant& constant) {
  std::vector<float> values;
  for (int64_t i = 0; i < constant.element_count(); ++i) {
    values.push_back(static_cast<float>(constant.FloatAt(i)));
  }
  return values;
}

void NaiveMatMul(const float* x, const float* w, float* y, int m, int n, int k) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int r = 0; r < k; ++r) sum += x[i * k + r] * w[r * n + j];
      y[i * n + j] = sum;
    }
  }
}

TEST(EvaluatorSpeed, MatMul) {
  constexpr int m = 64, n = 256, k = 256;
  TensorBuilder b("matmul");
  Tensor x = b.Input("x", kF32, {m, k}), w = b.Input("w", kF32, {k, n});
  b.SetOutput(0, b.Reduce("sum", kF32, {m, n}, {k}, [&](const Indices& i, const Indices& r) {
    return x({i[0], r[0]}) * w({r[0], i[1]});
  }));
  Kernel kernel = b.Finish({});
  std::vector<Constant> inputs = {Constant::Random(kF32, {m, k}, 1),
                                  Constant::Random(kF32, {k, n}, 2)};
  std::vector<float> xs = FloatsOf(inputs[0]), ws = FloatsOf(inputs[1]), ys(m * n);
  double ratio = RatioOfTimes([&] { ASSERT_TRUE(EvaluateKernel(kernel, inputs).ok()); },
                              [&] { NaiveMatMul(xs.data(), ws.data(), ys.data(), m, n, k); });
  RecordProperty("ratio", std::to_string(ratio));
  EXPECT_LE(ratio, kLargestRatio);
  EXPECT_NEAR((*EvaluateKernel(kernel, inputs))[0].FloatAt(m * n - 1), ys.back(), 1e-4);
}

// 3x3, stride 1, one pixel of padding, as many channels out as in.
void NaiveConv(const float* x, const float* w, float* y, int channels, int size) {
  for (int o = 0; o < channels; ++o) {
    for (int h = 0; h < size; ++h) {
      for (int v = 0; v < size; ++v) {
        float sum = 0;
        for (int c = 0; c < channels; ++c) {
          for (int a = 0; a < 3; ++a) {
            for (int b = 0; b < 3; ++b) {
              int i = h + a - 1, j = v + b - 1;
              bool inside = i >= 0 && i < size && j >= 0 && j < size;
              if (inside)
                sum += x[(c * size + i) * size + j] * w[((o * channels + c) * 3 + a) * 3 + b];
            }
          }
        }
        y[(o * size + h) * size + v] = sum;
      }
    }
  }
}

double ConvRatio(int channels, int size) {
  TensorBuilder b("conv");
  Tensor x = b.Input("x", kF32, {1, channels, size, size});
  Tensor w = b.Input("w", kF32, {channels, channels, 3, 3});
  auto body = [&](const Indices& i, const Indices& r) {
    Expr h = i[2] + r[1] - 1, v = i[3] + r[2] - 1;
    Expr inside = And(And(Le(0, h), Lt(h, size)), And(Le(0, v), Lt(v, size)));
    return Select(inside, x({i[0], r[0], h, v}), FloatConst(0)) * w({i[1], r[0], r[1], r[2]});
  };
  b.SetOutput(0, b.Reduce("sum", kF32, {1, channels, size, size}, {channels, 3, 3}, body));
  Kernel kernel = b.Finish({});
  std::vector<Constant> inputs = {Constant::Random(kF32, {1, channels, size, size}, 1),
                                  Constant::Random(kF32, {channels, channels, 3, 3}, 2)};
  std::vector<float> xs = FloatsOf(inputs[0]), ws = FloatsOf(inputs[1]);
  std::vector<float> ys(static_cast<size_t>(channels * size * size));
  double ratio = RatioOfTimes([&] { ASSERT_TRUE(EvaluateKernel(kernel, inputs).ok()); },
                              [&] { NaiveConv(xs.data(), ws.data(), ys.data(), channels, size); });
  EXPECT_NEAR((*EvaluateKernel(kernel, inputs))[0].FloatAt(0), ys[0], 1e-4);
  return ratio;
}

TEST(EvaluatorSpeed, PaddedConvolution) {
  double wide = ConvRatio(32, 40), deep = ConvRatio(96, 7);
  RecordProperty("wide", std::to_string(wide));
  RecordProperty("deep", std::to_string(deep));
  EXPECT_LE(wide, kLargestRatio);
  EXPECT_LE(deep, kLargestRatio);
}

}  // namespace
}  // namespace aotc
