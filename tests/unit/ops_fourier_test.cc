// DFT, STFT and MelWeightMatrix against the sums that define them.
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <numbers>

#include "compiler/eval/evaluate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/op_case.h"

namespace aotc {
namespace {

using Complex = std::complex<double>;
using testing::HasSubstr;
constexpr DType kF32 = DType::kF32;

Constant Scalar(int64_t value) { return Constant::SplatInt(DType::kI64, {}, value); }

Constant Evaluate(const OpCase& op, const std::vector<Constant>& inputs) {
  absl::StatusOr<NodeKernel> built = op.Build();
  EXPECT_TRUE(built.ok()) << built.status();
  if (!built.ok()) return {};
  auto result = EvaluateKernel(built->kernel, inputs);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? (*result)[0] : Constant();
}

// Element n of a signal [n, 1 or 2]; 0 behind its end.
Complex At(const Constant& x, int64_t n) {
  const int64_t parts = x.dims().back();
  if (n >= x.dims()[0]) return 0;
  return {x.FloatAt(n * parts), parts == 2 ? x.FloatAt(n * parts + 1) : 0};
}

Complex Bin(const Constant& x, int64_t length, int64_t k, double sign) {
  Complex sum = 0;
  for (int64_t n = 0; n < length; ++n) {
    const double angle = sign * 2 * std::numbers::pi * static_cast<double>(k * n % length) /
                         static_cast<double>(length);
    sum += At(x, n) * std::polar(1.0, angle);
  }
  return sum;
}

void ExpectDefinition(int64_t dim, int64_t length, int64_t parts) {
  const Constant x = Constant::Random(kF32, {dim, parts}, 3);
  OpCase op("DFT");
  op.Input(kF32, {dim, parts}).Known(Scalar(length)).Known(Scalar(0));
  const Constant y = Evaluate(op, {x});
  ASSERT_EQ(y.dims(), (std::vector<int64_t>{length, 2}));
  for (int64_t k = 0; k < length; ++k) {
    EXPECT_NEAR(std::abs(At(y, k) - Bin(x, length, k, -1)), 0, 1e-5) << dim << " " << length;
  }
}

TEST(Dft, IsTheSumThatDefinesIt) {
  for (int64_t dim : {1, 2, 7, 16}) {
    for (int64_t length : {int64_t{1}, dim, dim + 3}) {
      ExpectDefinition(dim, length, 1);
      ExpectDefinition(dim, length, 2);
    }
  }
}

// In whole numbers below 2^24 nothing is rounded where no sine is.
TEST(Dft, QuartersOfATurnAreExact) {
  constexpr int64_t kLength = 8;
  constexpr Complex kQuarters[] = {{1, 0}, {0, -1}, {-1, 0}, {0, 1}};
  const std::vector<float> signal = {0, 9173, 20, 41, 777, 60001, 3, 12};
  std::vector<uint8_t> bytes(sizeof(float) * kLength);
  std::memcpy(bytes.data(), signal.data(), bytes.size());
  OpCase op("DFT");
  op.Input(kF32, {kLength, 1});
  const Constant y = Evaluate(op, {Constant::Dense(kF32, {kLength, 1}, bytes)});
  for (int64_t k = 0; k < kLength; k += 2) {
    Complex sum = 0;
    for (size_t n = 0; n < signal.size(); ++n) {
      sum += static_cast<double>(signal[n]) * kQuarters[static_cast<size_t>(k) / 2 * n % 4];
    }
    EXPECT_EQ(At(y, k), sum) << k;
  }
}

TEST(Dft, AOneSidedInverseGivesTheRealSignalBack) {
  for (int64_t length : {1, 2, 5, 8}) {
    const Constant x = Constant::Random(kF32, {length, 1}, 4);
    OpCase forward("DFT"), back("DFT");
    forward.Input(kF32, {length, 1}).Set("onesided", int64_t{1});
    const Constant bins = Evaluate(forward, {x});
    ASSERT_EQ(bins.dims(), (std::vector<int64_t>{length / 2 + 1, 2}));
    back.Input(kF32, {length / 2 + 1, 2}).Known(Scalar(length));
    back.Set("onesided", int64_t{1}).Set("inverse", int64_t{1});
    EXPECT_LE(RelativeError(Evaluate(back, {bins}), x), 1e-5) << length;
  }
}

TEST(Dft, LongTransformsKeepTheirDigits) {
  constexpr int64_t kLength = 2000;
  const Constant x = Constant::Random(kF32, {kLength, 1}, 5);
  OpCase op("DFT");
  op.Input(kF32, {kLength, 1});
  const Constant y = Evaluate(op, {x});
  for (int64_t k : {int64_t{0}, int64_t{1}, int64_t{777}, kLength - 1}) {
    EXPECT_NEAR(std::abs(At(y, k) - Bin(x, kLength, k, -1)), 0, 2e-3) << k;
  }
}

TEST(Dft, TheSignalMayHaveASymbolicLength) {
  OpCase op("DFT");
  op.Symbol("n", 2, 9).Input(kF32, {3, Var("n"), 1}).Set("onesided", int64_t{1});
  EXPECT_EQ(op.OutputType(), "f32[3, floor_div(n, 2) + 1, 2]");
}

// A tensor that had the length along an axis of its own would be as large as any length may be,
// where the result has its bounds from the user.
TEST(Dft, AlongAnAxisOfTheRunEachStageHasTheDimsOfTheResult) {
  OpCase op("DFT");
  op.Symbol("n", 1, INT32_MAX).Symbol("a", -3, -2).Input(kF32, {7, 4, 1});
  op.Elements({Var("n")}).Elements({Var("a")});
  const absl::StatusOr<NodeKernel> built = op.BuildWithChecks();
  ASSERT_TRUE(built.ok()) << built.status();
  const Shape& dims = built->kernel.tensors[built->kernel.params.back()].shape;
  for (const Stage& stage : built->kernel.stages) {
    ASSERT_EQ(stage.axes.size(), dims.size());
    for (size_t d = 0; d < dims.size(); ++d) EXPECT_TRUE(Same(stage.axes[d].extent, dims[d])) << d;
  }
}

TEST(Dft, RefusesWhatIsNoComplexNumber) {
  OpCase three("DFT"), last("DFT"), one_sided("DFT");
  three.Input(kF32, {4, 3});
  EXPECT_THAT(three.OutputType(), HasSubstr("the last axis needs one element"));
  last.Input(kF32, {4, 2}).Absent().Known(Scalar(1));
  EXPECT_THAT(last.OutputType(), HasSubstr("cannot be transformed"));
  one_sided.Input(kF32, {4, 2}).Set("onesided", int64_t{1});
  EXPECT_THAT(one_sided.OutputType(), HasSubstr("needs real numbers"));
}

TEST(Stft, IsADftOfEachWindow) {
  constexpr int64_t kSignal = 23, kStep = 3, kFrame = 8, kFrames = (kSignal - kFrame) / kStep + 1;
  const Constant x = Constant::Random(kF32, {1, kSignal, 1}, 6);
  const Constant window = Constant::Random(kF32, {kFrame}, 7);
  OpCase op("STFT");
  op.Input(kF32, {1, kSignal, 1}).Known(Scalar(kStep)).Input(kF32, {kFrame});
  const Constant y = Evaluate(op, {x, window});
  ASSERT_EQ(y.dims(), (std::vector<int64_t>{1, kFrames, kFrame / 2 + 1, 2}));
  for (int64_t frame = 0; frame < kFrames; ++frame) {
    for (int64_t k = 0; k <= kFrame / 2; ++k) {
      Complex sum = 0;
      for (int64_t n = 0; n < kFrame; ++n) {
        sum += x.FloatAt(frame * kStep + n) * window.FloatAt(n) *
               std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k * n) / kFrame);
      }
      const int64_t at = (frame * (kFrame / 2 + 1) + k) * 2;
      EXPECT_NEAR(std::abs(Complex(y.FloatAt(at), y.FloatAt(at + 1)) - sum), 0, 1e-5);
    }
  }
}

TEST(Stft, RefusesFramesLongerThanTheSignal) {
  OpCase op("STFT");
  op.Input(kF32, {1, 7, 1}).Known(Scalar(1)).Absent().Known(Scalar(8));
  EXPECT_THAT(op.OutputType(), HasSubstr("frame_length"));
}

// Each triangle rises to 1 at its middle, where the next one begins.
TEST(MelWeightMatrix, TrianglesPeakAtOne) {
  OpCase op("MelWeightMatrix");
  op.Known(Scalar(8)).Known(Scalar(256)).Known(Scalar(16000));
  op.Known(Constant::Splat(kF32, {}, 0)).Known(Constant::Splat(kF32, {}, 8000));
  const Constant y = Evaluate(op, {});
  ASSERT_EQ(y.dims(), (std::vector<int64_t>{129, 8}));
  for (int64_t band = 0; band < 8; ++band) {
    double most = 0;
    for (int64_t bin = 0; bin < 129; ++bin) most = std::max(most, y.FloatAt(bin * 8 + band));
    EXPECT_EQ(most, 1) << band;
  }
}

}  // namespace
}  // namespace aotc
