#include "compiler/optimize/fold_scale.h"

#include "gtest/gtest.h"
#include "tests/unit/pass_case.h"

namespace aotc {
namespace {

// The ops that are left of the body after the pass; checks numbers and a second run.
std::string Fold(const std::string& signature, const std::string& body) {
  std::string text = "graph @main" + signature + " {\n" + body + "\n}\n";
  return OpsOf(CheckCase(text, "expand-ops,infer-and-fold,fold-scale,eliminate-dead"));
}

const std::string kImage = "(%x: f32[2, 4, 5, 5]) -> (%y)";
const std::string kNorm = R"air(
  const %s: f32[6] = random(seed=2)
  const %o: f32[6] = random(seed=3)
  const %m: f32[6] = random(seed=4)
  const %v: f32[6] = [0.5, 1.0, 2.0, 0.25, 3.0, 0.125]
)air";
const std::string kFilter = "const %w: f32[6, 4, 3, 3] = random(seed=1)\n";

TEST(FoldScale, BatchNormalizationAfterConvolution) {
  EXPECT_EQ(Fold(kImage, kNorm + kFilter + R"air(
    %c = Conv(%x, %w) {pads=[1, 1, 1, 1]}
    %y = BatchNormalization(%c, %s, %o, %m, %v) {epsilon=0.01}
  )air"),
            "Conv");
}

TEST(FoldScale, ChainsAndBias) {
  EXPECT_EQ(Fold(kImage, kNorm + kFilter + R"air(
    const %b: f32[6] = random(seed=9)
    const %k: f32[6, 1, 1] = random(seed=10)
    const %t: f32[1, 6, 1, 1] = random(seed=11)
    const %two: f32[] = splat(2.0)
    %c = Conv(%x, %w, %b) {group=1, strides=[2, 2]}
    %d = Mul(%k, %c)
    %e = Add(%d, %t)
    %f = BatchNormalization(%e, %s, %o, %m, %v)
    %g = Sub(%t, %f)
    %h = Div(%g, %two)
    %y = Relu(%h)
  )air"),
            "Conv Relu");
}

// (x - mean) * W is precise where x is far from zero; x * W - mean * W is not.
TEST(FoldScale, AScalePassesBackwardsAndAShiftStays) {
  EXPECT_EQ(Fold("(%x: f32[2, 6, 5, 5]) -> (%y)", kNorm + R"air(
    const %w: f32[4, 3, 3, 3] = random(seed=1)
    %n = BatchNormalization(%x, %s, %o, %m, %v)
    %y = Conv(%n, %w) {group=2}
  )air"),
            "Mul Add Conv");
  EXPECT_EQ(Fold("(%x: f32[4, 6]) -> (%y)", kNorm + R"air(
    const %w: f32[6, 3] = random(seed=1)
    const %year: f32[] = splat(2010.0)
    const %spread: f32[] = splat(5.0)
    %d = Sub(%x, %year)
    %n = Div(%d, %spread)
    %y = MatMul(%n, %w)
  )air"),
            "Sub MatMul");
}

// The border would have to hold the shift: only a scale passes it.
TEST(FoldScale, PaddingStopsAShift) {
  const std::string signature = "(%x: f32[2, 6, 5, 5]) -> (%y)";
  const std::string filter = "const %w: f32[4, 6, 3, 3] = random(seed=1)\n";
  EXPECT_EQ(Fold(signature, kNorm + filter + R"air(
    %n = BatchNormalization(%x, %s, %o, %m, %v)
    %y = Conv(%n, %w) {pads=[0, 0, 0, 1]}
  )air"),
            "Mul Add Conv");
  EXPECT_EQ(Fold(signature, filter + R"air(
    const %k: f32[6, 1, 1] = random(seed=10)
    %n = Mul(%x, %k)
    %y = Conv(%n, %w) {auto_pad="SAME_UPPER"}
  )air"),
            "Conv");
}

TEST(FoldScale, OtherReadersKeepTheValue) {
  EXPECT_EQ(Fold("(%x: f32[2, 4, 5, 5]) -> (%y, %z)", kNorm + kFilter + R"air(
    %c = Conv(%x, %w)
    %y = BatchNormalization(%c, %s, %o, %m, %v)
    %z = Relu(%c)
  )air"),
            "Conv Mul Add Relu");
  EXPECT_EQ(Fold("(%x: f32[2, 4, 5, 5]) -> (%y, %c)", kFilter + R"air(
    const %two: f32[] = splat(2.0)
    %c = Conv(%x, %w)
    %y = Mul(%c, %two)
  )air"),
            "Conv Mul");
}

TEST(FoldScale, MatMulTakesScalesAndGemmAShiftBehindItToo) {
  const std::string signature = "(%x: f32[5, 4]) -> (%y)";
  const std::string weight = "const %w: f32[4, 6] = random(seed=1)\n";
  EXPECT_EQ(Fold(signature, kNorm + weight + R"air(
    %c = MatMul(%x, %w)
    %y = BatchNormalization(%c, %s, %o, %m, %v)
  )air"),
            "MatMul Add");
  EXPECT_EQ(Fold(signature, weight + R"air(
    const %b: f32[6] = random(seed=2)
    %c = MatMul(%x, %w)
    %y = Add(%c, %b)
  )air"),
            "MatMul Add");
  EXPECT_EQ(Fold(signature, kNorm + R"air(
    const %w: f32[6, 4] = random(seed=1)
    const %b: f32[1, 6] = random(seed=2)
    const %k: f32[4] = random(seed=5)
    %n = Div(%x, %k)
    %c = Gemm(%n, %w, %b) {transB=1, alpha=0.5, beta=3.0}
    %y = BatchNormalization(%c, %s, %o, %m, %v)
  )air"),
            "Gemm");
}

TEST(FoldScale, ConditionsAreExact) {
  // Per pixel, not per channel.
  EXPECT_EQ(Fold(kImage, kFilter + R"air(
    const %k: f32[3, 3] = random(seed=10)
    %c = Conv(%x, %w)
    %y = Mul(%c, %k)
  )air"),
            "Conv Mul");
  // Broadcasts to more elements.
  EXPECT_EQ(Fold("(%x: f32[1, 4, 5, 5]) -> (%y)", kFilter + R"air(
    const %k: f32[2, 6, 1, 1] = random(seed=10)
    %c = Conv(%x, %w)
    %y = Mul(%c, %k)
  )air"),
            "Conv Mul");
  // Divides by zero: infinity times zero is not zero.
  EXPECT_EQ(Fold(kImage, kFilter + R"air(
    const %k: f32[] = splat(0.0)
    %c = Conv(%x, %w)
    %y = Div(%c, %k)
  )air"),
            "Conv Div");
  // Weights that f16 cannot hold once folded, though their products with small inputs can be.
  EXPECT_EQ(Fold("(%x: f16[1, 1, 4]) -> (%y)", R"air(
    const %w: f16[1, 1, 2] = [300.0, -300.0]
    const %k: f16[] = splat(300.0)
    %c = Conv(%x, %w)
    %y = Mul(%c, %k)
  )air"),
            "Conv Mul");
  // Weights that are not known.
  EXPECT_EQ(Fold("(%x: f32[2, 4, 5, 5], %w: f32[6, 4, 3, 3]) -> (%y)", R"air(
    const %k: f32[] = splat(2.0)
    %c = Conv(%x, %w)
    %y = Mul(%c, %k)
  )air"),
            "Conv Mul");
}

}  // namespace
}  // namespace aotc
