// Values of op definitions where ONNX's own test data does not reach, against loops or by hand.
#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/eval/evaluate.h"
#include "gtest/gtest.h"
#include "tests/unit/op_case.h"

namespace aotc {
namespace {

constexpr DType kF32 = DType::kF32;

Constant Floats(std::vector<int64_t> dims, const std::vector<double>& values, DType dtype = kF32) {
  std::vector<uint8_t> bytes(values.size() * static_cast<size_t>(ByteWidth(dtype)));
  for (size_t i = 0; i < values.size(); ++i) {
    StoreElement(dtype, bytes.data(), static_cast<int64_t>(i), values[i]);
  }
  return Constant::Dense(dtype, std::move(dims), std::move(bytes));
}

std::vector<double> Evaluate(const OpCase& op, const std::vector<Constant>& inputs) {
  absl::StatusOr<NodeKernel> built = op.Build();
  EXPECT_TRUE(built.ok()) << built.status();
  if (!built.ok()) return {};
  auto result = EvaluateKernel(built->kernel, inputs);
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return {};
  std::vector<double> values;
  for (int64_t i = 0; i < (*result)[0].element_count(); ++i)
    values.push_back((*result)[0].FloatAt(i));
  return values;
}

using Doubles = std::vector<double>;

TEST(OpValues, ReductionsOverNothingAreTheIdentity) {
  constexpr double kNothing = -std::numeric_limits<double>::infinity();
  OpCase op("ReduceLogSumExp");
  op.Input(kF32, {2, 0, 3}).Known(Constant::Ints({1}));
  EXPECT_EQ(op.OutputType(), "f32[2, 1, 3]");
  EXPECT_EQ(op.Build()->kernel.params.size(), 1);  // nothing of x is read
  EXPECT_EQ(Evaluate(op, {}), Doubles(6, kNothing));
}

TEST(OpValues, AGroupedDilatedConvolution) {
  constexpr int64_t kGroups = 2, kIn = 4, kOut = 6, kH = 7, kW = 6, kTaps = 3;
  OpCase op("Conv");
  op.Input(kF32, {2, kIn, kH, kW}).Input(kF32, {kOut, kIn / kGroups, kTaps, kTaps});
  op.Set("group", kGroups).Set("pads", std::vector<int64_t>{2, 1, 0, 3});
  op.Set("strides", std::vector<int64_t>{2, 1}).Set("dilations", std::vector<int64_t>{1, 2});
  Constant x = Constant::Random(kF32, {2, kIn, kH, kW}, 1);
  Constant w = Constant::Random(kF32, {kOut, kIn / kGroups, kTaps, kTaps}, 2);
  constexpr int64_t kOutH = (kH + 2 - 3) / 2 + 1, kOutW = kW + 4 - 5 + 1;
  Doubles expected;
  for (int64_t o = 0; o < 2 * kOut * kOutH * kOutW; ++o) {
    int64_t ow = o % kOutW, oh = o / kOutW % kOutH, m = o / kOutW / kOutH % kOut;
    int64_t n = o / kOutW / kOutH / kOut;
    double sum = 0;
    for (int64_t r = 0; r < kIn / kGroups * kTaps * kTaps; ++r) {
      int64_t kw = r % kTaps, kh = r / kTaps % kTaps, c = r / kTaps / kTaps;
      int64_t ih = oh * 2 + kh - 2, iw = ow + kw * 2 - 1;
      if (ih < 0 || ih >= kH || iw < 0 || iw >= kW) continue;
      int64_t channel = m / (kOut / kGroups) * (kIn / kGroups) + c;
      sum += x.FloatAt(((n * kIn + channel) * kH + ih) * kW + iw) *
             w.FloatAt(((m * (kIn / kGroups) + c) * kTaps + kh) * kTaps + kw);
    }
    expected.push_back(sum);
  }
  Doubles actual = Evaluate(op, {x, w});
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-4);
}

// In f16 a running sum of ones would stay at 2048.
TEST(OpValues, SmallFloatsAccumulateInF32) {
  constexpr int64_t kCount = 4096;
  Constant ones = Constant::Splat(DType::kF16, {1, kCount}, 1);
  Constant column = Constant::Splat(DType::kF16, {kCount, 1}, 1);
  EXPECT_EQ(
      Evaluate(OpCase("MatMul").Input(DType::kF16, {1, kCount}).Input(DType::kF16, {kCount, 1}),
               {ones, column}),
      Doubles{kCount});
  EXPECT_EQ(Evaluate(OpCase("ReduceMean").Input(DType::kF16, {1, kCount}), {ones}), Doubles{1});
}

TEST(OpValues, SoftmaxOfLargeValuesIsFinite) {
  EXPECT_EQ(Evaluate(OpCase("Softmax").Input(kF32, {2}), {Floats({2}, {3e38, 3e38})}),
            (Doubles{0.5, 0.5}));
}

TEST(OpValues, LogSumExpOfInfinities) {
  double infinity = INFINITY;
  OpCase op("ReduceLogSumExp");
  op.Input(kF32, {2});
  EXPECT_EQ(Evaluate(op, {Floats({2}, {-infinity, -infinity})}), Doubles{-infinity});
  EXPECT_EQ(Evaluate(op, {Floats({2}, {infinity, 0})}), Doubles{infinity});
}

TEST(OpValues, IndicesOutOfRangeReadTheNearestElement) {
  Constant x = Floats({3}, {10, 20, 30});
  EXPECT_EQ(Evaluate(OpCase("Gather").Input(kF32, {3}).Input(DType::kI64, {5}),
                     {x, Constant::Ints({-3, -1, 7, -9, INT64_MAX})}),
            (Doubles{10, 30, 30, 10, 30}));
}

TEST(OpValues, AKnownIndexIsCheckedAtCompileTime) {
  OpCase op("Gather");
  op.Input(kF32, {3}).Known(Constant::SplatInt(DType::kI64, {}, 3));
  EXPECT_FALSE(op.Build().ok());
  OpCase last("Gather");
  last.Input(kF32, {3}).Known(Constant::SplatInt(DType::kI64, {}, -1));
  EXPECT_EQ(Evaluate(last, {Floats({3}, {10, 20, 30})}), Doubles{30});
}

TEST(OpValues, ReflectionRepeatsOverShortAxes) {
  OpCase op("Pad");
  op.Input(kF32, {3}).Known(Constant::Ints({5, 4})).Set("mode", "reflect");
  EXPECT_EQ(Evaluate(op, {Floats({3}, {0, 1, 2})}), (Doubles{1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2}));
}

TEST(OpValues, CastsAsUsersOfOnnxSeeThem) {
  Constant x = Floats({6}, {2.7, -2.7, 300, -1, 0, NAN});
  auto cast = [&](DType to) {
    Doubles values =
        Evaluate(OpCase("Cast").Input(kF32, {6}).Set("to", static_cast<int64_t>(to)), {x});
    values.resize(5);  // a NaN has no integer
    return values;
  };
  EXPECT_EQ(cast(DType::kI32), (Doubles{2, -2, 300, -1, 0}));
  EXPECT_EQ(cast(DType::kU8), (Doubles{2, 254, 44, 255, 0}));
  EXPECT_EQ(cast(DType::kI8), (Doubles{2, -2, 44, -1, 0}));
  EXPECT_EQ(cast(DType::kBool), (Doubles{1, 1, 1, 1, 0}));
}

TEST(OpValues, IntegerDivisionsByZeroGiveZero) {
  Constant x = Constant::Ints({7, -7, 7});
  Constant y = Constant::Ints({0, 0, -2});
  auto apply = [&](const char* name) {
    return Evaluate(OpCase(name).Input(DType::kI64, {3}).Input(DType::kI64, {3}), {x, y});
  };
  EXPECT_EQ(apply("Div"), (Doubles{0, 0, -3}));
  EXPECT_EQ(apply("Mod")[2], -1);
}

TEST(OpValues, NonFiniteNumbersPassThroughMinAndMax) {
  Constant x = Floats({3}, {NAN, 1, -INFINITY});
  Doubles clipped =
      Evaluate(OpCase("Clip").Input(kF32, {3}).Known(Constant::Splat(kF32, {}, 0.0)), {x});
  EXPECT_TRUE(std::isnan(clipped[0]));
  EXPECT_EQ(clipped[2], 0);
  EXPECT_TRUE(std::isnan(Evaluate(OpCase("ReduceMax").Input(kF32, {3}), {x})[0]));
}

// Linear samples against the formula in doubles.
// As what the kernels compute: ONNX's own data compares zeros as numbers, without their signs.
TEST(OpValues, ReluKeepsTheSignOfZero) {
  OpCase op("Relu");
  op.Input(kF32, {3});
  const Doubles result = Evaluate(op, {Floats({3}, {-0.0, 0.0, -1.0})});
  ASSERT_EQ(result, Doubles({0, 0, 0}));
  EXPECT_TRUE(std::signbit(result[0]));
  EXPECT_FALSE(std::signbit(result[1]));
  EXPECT_FALSE(std::signbit(result[2]));
}

TEST(OpValues, LinearResizeByAnOddFactor) {
  constexpr int64_t kIn = 5, kOut = 12;
  OpCase op("Resize");
  op.Input(kF32, {kIn}).Absent().Absent().Known(Constant::Ints({kOut})).Set("mode", "linear");
  Constant x = Constant::Random(kF32, {kIn}, 3);
  Doubles actual = Evaluate(op, {x});
  ASSERT_EQ(actual.size(), static_cast<size_t>(kOut));
  for (int64_t o = 0; o < kOut; ++o) {
    double place = (static_cast<double>(o) + 0.5) * kIn / kOut - 0.5;
    double floor = std::floor(place), weight = place - floor;
    auto at = [&](double i) {
      return x.FloatAt(std::clamp<int64_t>(static_cast<int64_t>(i), 0, kIn - 1));
    };
    EXPECT_NEAR(actual[static_cast<size_t>(o)], at(floor) * (1 - weight) + at(floor + 1) * weight,
                1e-5);
  }
}

// The example of onnx/onnx issue 2462: the last place is that of the length 2.4, where the result
// has no element. A scale that makes a whole length, and sizes, align the last element.
TEST(OpValues, AlignCornersKeepsTheFractionOfAScale) {
  const Constant x = Floats({4}, {1, 2, 3, 4});
  const auto resized = [&](float scale) {
    OpCase op("Resize");
    op.Input(kF32, {4}).Absent().Known(Floats({1}, {scale}));
    op.Set("mode", "linear").Set("coordinate_transformation_mode", "align_corners");
    return Evaluate(op, {x});
  };
  const Doubles fraction = resized(0.6F);
  ASSERT_EQ(fraction.size(), 2U);
  EXPECT_EQ(fraction[0], 1);
  EXPECT_NEAR(fraction[1], 1 + 3 / 1.4, 1e-6);
  EXPECT_EQ(resized(0.5F), (Doubles{1, 4}));
  EXPECT_EQ(resized(0.3F), (Doubles{1}));
  OpCase op("Resize");
  op.Input(kF32, {4}).Absent().Absent().Known(Constant::Ints({2})).Set("mode", "linear");
  op.Set("coordinate_transformation_mode", "align_corners");
  EXPECT_EQ(Evaluate(op, {x}), (Doubles{1, 4}));
}

// Samples of a ramp with antialias: means under triangles twice as wide, the border repeated.
TEST(OpValues, AntialiasWeighsAllThatAShorterAxisCovers) {
  OpCase op("Resize");
  op.Input(kF32, {8}).Absent().Absent().Known(Constant::Ints({4}));
  op.Set("mode", "linear").Set("antialias", int64_t{1});
  const Constant x = Floats({8}, {0, 8, 16, 24, 32, 40, 48, 56});
  // Weights 1, 3, 3, 1 eighths; the first and the last place read one element twice.
  EXPECT_EQ(Evaluate(op, {x}), (Doubles{5, 20, 36, 51}));
  op.Set("exclude_outside", int64_t{1});  // of 3, 3, 1 sevenths
  const Doubles excluded = Evaluate(op, {x});
  EXPECT_NEAR(excluded[0], 40.0 / 7, 1e-5);
  EXPECT_NEAR(excluded[3], 56 - 40.0 / 7, 1e-5);
}

// The cubic kernel overshoots at a step. As onnxruntime has it.
TEST(OpValues, AntialiasRoundsIntegersAndKeepsThemInRange) {
  OpCase op("Resize");
  op.Input(DType::kU8, {8}).Absent().Absent().Known(Constant::Ints({4}));
  op.Set("mode", "cubic").Set("antialias", int64_t{1});
  const Constant x = Floats({8}, {0, 0, 0, 0, 255, 255, 255, 255}, DType::kU8);
  EXPECT_EQ(Evaluate(op, {x}), (Doubles{0, 15, 240, 255}));
}

// A NaN stands before all scores, so that what is wanted need not be a beginning.
TEST(OpValues, RoundsOfSuppressionEndWithTheLastWantedBox) {
  OpCase op("LastWanted");
  op.Input(DType::kBool, {2, 1, 4});
  EXPECT_EQ(Evaluate(op, {Floats({2, 1, 4}, {1, 0, 0, 0, 0, 1, 1, 0}, DType::kBool)}),
            Doubles({3}));
  EXPECT_EQ(Evaluate(op, {Floats({2, 1, 4}, Doubles(8, 0), DType::kBool)}), Doubles({0}));
  OpCase none("LastWanted");
  none.Input(DType::kBool, {2, 1, 0});
  EXPECT_EQ(Evaluate(none, {}), Doubles({0}));  // nothing is read
}

// With align_corners the ends are at -1 and 1: of a single point, at 1 as in onnxruntime.
TEST(OpValues, AffineGridOfASinglePoint) {
  OpCase op("AffineGrid");
  op.Input(kF32, {1, 2, 3}).Known(Constant::Ints({1, 1, 1, 2})).Set("align_corners", int64_t{1});
  EXPECT_EQ(Evaluate(op, {Floats({1, 2, 3}, {1, 0, 0, 0, 1, 0})}), (Doubles{-1, 1, 1, 1}));
}

// Half an element beyond the border of a step, the cubic kernel still sees the step; as in PyTorch.
TEST(OpValues, CubicGridSampleBlendsAroundPlacesBeyondTheBorder) {
  OpCase op("GridSample");
  op.Input(kF32, {1, 1, 1, 4}).Input(kF32, {1, 1, 1, 2});
  op.Set("mode", "cubic").Set("padding_mode", "border").Set("align_corners", int64_t{1});
  const Doubles actual =
      Evaluate(op, {Floats({1, 1, 1, 4}, {0, 0, 0, 1}), Floats({1, 1, 1, 2}, {4.0 / 3, -1})});
  EXPECT_NEAR(actual[0], 1 + 0.09375, 1e-5);  // place 3.5: taps 2 to 5 weigh -3, 19, 19, -3 / 32
}

// On one row of input, only the middle row of taps reads anything but padding.
TEST(OpValues, AConvolutionLeavesOutTapsThatOnlyReadPadding) {
  OpCase op("Conv");
  op.Input(kF32, {1, 2, 1, 3}).Input(kF32, {1, 2, 3, 3});
  op.Set("pads", std::vector<int64_t>{1, 1, 1, 1});
  const absl::StatusOr<NodeKernel> built = op.Build();
  ASSERT_TRUE(built.ok()) << built.status();
  const std::vector<Axis>& taps = built->kernel.stages[0].reduce_axes;
  ASSERT_EQ(taps.size(), 3);
  EXPECT_TRUE(taps[1].extent.IsInt(1));
  EXPECT_TRUE(taps[2].extent.IsInt(3));
  const Constant x = Floats({1, 2, 1, 3}, {1, 2, 3, 4, 5, 6});
  const Constant w = Constant::Random(kF32, {1, 2, 3, 3}, 1);
  const Doubles values = Evaluate(op, {x, w});
  ASSERT_EQ(values.size(), 3);
  for (int64_t o = 0; o < 3; ++o) {
    double sum = 0;
    for (int64_t c = 0; c < 2; ++c) {
      for (int64_t k = 0; k < 3; ++k) {
        const int64_t column = o + k - 1;
        if (column < 0 || column > 2) continue;
        sum += x.FloatAt(c * 3 + column) * w.FloatAt(c * 9 + 3 + k);
      }
    }
    EXPECT_NEAR(values[static_cast<size_t>(o)], sum, 1e-5);
  }
}

}  // namespace
}  // namespace aotc
