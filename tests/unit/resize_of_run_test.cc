// How a Resize lies by floats of the run, against how it lies by the same constants.
#include "compiler/ops/resize_of_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "compiler/eval/evaluate.h"
#include "compiler/ops/resize_geometry.h"
#include "gtest/gtest.h"
#include "tests/unit/op_case.h"

namespace aotc {
namespace {

using Ints = std::vector<int64_t>;

Constant Floats(const std::vector<float>& values) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  return Constant::Dense(DType::kF32, {static_cast<int64_t>(values.size())},
                         {bytes, bytes + values.size() * sizeof(float)});
}

Ints Evaluate(const OpCase& op, const std::vector<Constant>& inputs) {
  const absl::StatusOr<NodeKernel> built = op.Build();
  EXPECT_TRUE(built.ok()) << built.status();
  if (!built.ok()) return {};
  const auto result = EvaluateKernel(built->kernel, inputs);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? (*result)[0].AsInts() : Ints();
}

// Numerator, denominator and length for a scale of an axis.
Ints Scaled(int64_t dim, float scale) {
  OpCase op("ResizeScales");
  op.Input(DType::kI64, {1}).Input(DType::kF32, {1});
  return Evaluate(op, {Constant::Ints({dim}), Floats({scale})});
}

TEST(ResizeScales, AreTheFractionsOfConstants) {
  for (float scale : {1.0F, 2.0F, 0.6F, 1.0F / 3, 2.5F, 800.0F / 640, 0.21F, 1.3F, 0.001F, 1e6F}) {
    const Fraction same = SimplestFraction(scale);
    const Ints given = Scaled(90, scale);
    EXPECT_TRUE(same.numerator.IsInt(given[0])) << scale;
    EXPECT_TRUE(same.denominator.IsInt(given[1])) << scale;
  }
  EXPECT_EQ(Scaled(90, 1.3F), (Ints{13, 10, 116}));  // floats: 117 exactly
}

TEST(ResizeScales, AreAsCloseAsFloatsWhateverTheyAre) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> exponent(-29, 29);
  std::vector<float> scales = {1.0000001F, 0.99999994F, 0x1p30F, 0x1p-30F, 16777215.0F};
  for (int i = 0; i < 60; ++i) scales.push_back(std::exp2(exponent(random)));
  for (float scale : scales) {
    const Ints given = Scaled(3, scale);
    const double ratio = static_cast<double>(given[0]) / static_cast<double>(given[1]);
    EXPECT_NEAR(ratio / scale, 1, 0x1p-24) << scale;
    EXPECT_LE(std::max(given[0], given[1]), int64_t{1} << 30) << scale;
    EXPECT_EQ(given[2], static_cast<int64_t>(3.0F * scale)) << scale;
  }
}

TEST(ResizeScales, OfNoneTheNumeratorIsNone) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (float scale : {0.0F, -1.0F, std::nanf(""), kInfinity, -kInfinity, 1e-30F, 1e30F}) {
    EXPECT_EQ(Scaled(5, scale)[0], 0) << scale;
  }
}

// Of 4 by 5 for 8 by 5, and what is wrong.
TEST(ResizeSizes, AllAxesHaveTheScaleOfOne) {
  OpCase op("ResizeSizes");
  op.Input(DType::kI64, {2}).Input(DType::kI64, {2}).Set("policy", "not_larger");
  const Constant dims = Constant::Ints({4, 5});
  EXPECT_EQ(Evaluate(op, {dims, Constant::Ints({8, 5})}), (Ints{5, 5, 5, 5, 4, 5}));
  op.Set("policy", "not_smaller");
  EXPECT_EQ(Evaluate(op, {dims, Constant::Ints({8, 5})}), (Ints{8, 8, 4, 4, 8, 10}));
  EXPECT_EQ(Evaluate(op, {dims, Constant::Ints({8, -5})})[0], 0);
  EXPECT_EQ(Evaluate(op, {Constant::Ints({4, 0}), Constant::Ints({8, 5})})[0], 0);
}

TEST(ResizeRegions, AreInPartsThatBothEndsShare) {
  OpCase op("ResizeRegions");
  op.Input(DType::kF32, {4});
  EXPECT_EQ(Evaluate(op, {Floats({0.2F, -0.25F, 0.7F, 1})}), (Ints{10, -1, 25, 5, 50, 4}));
  const Ints fine = Evaluate(op, {Floats({0x1p-20F, std::nanf(""), 1, 65})});
  EXPECT_EQ(fine[0], 1 << 4);
  EXPECT_EQ(fine[2], (1 << 24) - (1 << 4));
  EXPECT_EQ(fine[4], 1 << 24);
  EXPECT_EQ(fine[5], 0);
}

}  // namespace
}  // namespace aotc
