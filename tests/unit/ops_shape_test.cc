// Shapes and element types that follow from op definitions, with static and symbolic dims, and the
// errors that wrong nodes give.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/op_case.h"

namespace aotc {
namespace {

using testing::HasSubstr;

constexpr DType kF32 = DType::kF32;

OpCase Symbolic(std::string op, int outputs = 1) {
  OpCase result(std::move(op), outputs);
  result.Symbol("n", 1, 8).Symbol("h", 8, 64);
  return result;
}

std::vector<int64_t> List(std::initializer_list<int64_t> values) { return values; }

TEST(OpShapes, ElementwiseOpsBroadcastSymbolicDims) {
  EXPECT_EQ(Symbolic("Add").Input(kF32, {Var("n"), 1, 4}).Input(kF32, {3, 4}).OutputType(),
            "f32[n, 3, 4]");
  EXPECT_EQ(
      Symbolic("Less").Input(DType::kF16, {Var("n")}).Input(DType::kF16, {Var("n")}).OutputType(),
      "bool[n]");
  EXPECT_THAT(Symbolic("Add").Input(kF32, {Var("n")}).Input(kF32, {3}).OutputType(),
              HasSubstr("a run requires: dims of the operands that have to be equal are not: n and "
                        "3"));
  EXPECT_THAT(Symbolic("Add").Input(kF32, {Var("h")}).Input(kF32, {3}).OutputType(),
              HasSubstr("do not broadcast"));
  EXPECT_THAT(Symbolic("Add").Input(kF32, {3}).Input(DType::kI32, {3}).OutputType(),
              HasSubstr("different element types: f32 and i32"));
}

TEST(OpShapes, SmallFloatsKeepTheirType) {
  EXPECT_EQ(OpCase("Relu").Input(DType::kF16, {4}).OutputType(), "f16[4]");
  EXPECT_EQ(OpCase("Softmax").Input(DType::kBF16, {4}).OutputType(), "bf16[4]");
  EXPECT_EQ(OpCase("MatMul").Input(DType::kF16, {2, 3}).Input(DType::kF16, {3, 4}).OutputType(),
            "f16[2, 4]");
  EXPECT_EQ(OpCase("Pow").Input(DType::kI32, {4}).Input(kF32, {4}).OutputType(), "i32[4]");
}

TEST(OpShapes, ConvolutionsOfSymbolicImages) {
  EXPECT_EQ(Symbolic("Conv")
                .Input(kF32, {Var("n"), 3, Var("h"), 32})
                .Input(kF32, {8, 3, 3, 3})
                .Set("pads", List({1, 1, 1, 1}))
                .Set("strides", List({1, 2}))
                .OutputType(),
            "f32[n, 8, h, 16]");
  EXPECT_THAT(OpCase("Conv").Input(kF32, {1, 4, 8, 8}).Input(kF32, {8, 3, 3, 3}).OutputType(),
              HasSubstr("must have 3 channels"));
  EXPECT_THAT(OpCase("Conv").Input(kF32, {1, 3, 2, 2}).Input(kF32, {8, 3, 3, 3}).OutputType(),
              HasSubstr("window is larger"));
  EXPECT_THAT(OpCase("Conv")
                  .Input(kF32, {1, 3, 8, 8})
                  .Input(kF32, {8, 3, 3, 3})
                  .Set("strides", List({0, 1}))
                  .OutputType(),
              HasSubstr("attribute strides holds 0"));
}

TEST(OpShapes, ReshapeSolvesForTheUnknownDim) {
  auto reshape = [](Constant shape) {
    return Symbolic("Reshape").Input(kF32, {Var("n"), 6, 4}).Known(std::move(shape)).OutputType();
  };
  EXPECT_EQ(reshape(Constant::Ints({0, -1})), "f32[n, 24]");
  EXPECT_EQ(reshape(Constant::Ints({-1, 8})), "f32[n*3, 8]");
  EXPECT_THAT(reshape(Constant::Ints({-1, -1})), HasSubstr("more than one dim is -1"));
  EXPECT_EQ(Symbolic("Reshape")
                .Input(kF32, {Var("n"), Var("h"), 4})
                .Elements({Var("n") * Var("h"), Expr(-1)})
                .OutputType(),
            "f32[h*n, 4]");
  EXPECT_THAT(OpCase("Reshape").Input(kF32, {6}).Known(Constant::Ints({4})).OutputType(),
              HasSubstr("another number of elements"));
  EXPECT_THAT(OpCase("Reshape").Input(kF32, {6}).Known(Constant::Ints({4, -1})).OutputType(),
              HasSubstr("no multiple"));
}

TEST(OpShapes, AShapeThatIsComputedAtRunTimeNamesItsInput) {
  EXPECT_THAT(OpCase("Reshape").Input(kF32, {6}).Input(DType::kI64, {1}).OutputType(),
              HasSubstr("needs input 1 ('x_2') at compile time, which is an input of the graph"));
}

TEST(OpShapes, SlicesOfSymbolicAxes) {
  auto slice = [](int64_t start, int64_t end, int64_t step, const Expr& dim = Var("h")) {
    return Symbolic("Slice")
        .Input(kF32, {dim})
        .Known(Constant::Ints({start}))
        .Known(Constant::Ints({end}))
        .Known(Constant::Ints({0}))
        .Known(Constant::Ints({step}))
        .OutputType();
  };
  EXPECT_EQ(slice(1, 5, 1), "f32[4]");
  EXPECT_EQ(slice(2, INT64_MAX, 1), "f32[h - 2]");
  EXPECT_EQ(slice(0, -1, 1), "f32[h - 1]");
  EXPECT_EQ(slice(-4, INT64_MAX, 2), "f32[2]");
  EXPECT_EQ(slice(-1, INT64_MIN, -1), "f32[h]");
  EXPECT_EQ(slice(5, 2, 1), "f32[0]");
  EXPECT_EQ(slice(-1, INT64_MIN, -1, Var("h") - 8), "f32[h - 8]");  // none where h is 8
  EXPECT_THAT(slice(0, 1, 0), HasSubstr("a step of 0"));
}

TEST(OpShapes, ConcatAndSplitAddUp) {
  EXPECT_EQ(Symbolic("Concat")
                .Input(kF32, {2, Var("h")})
                .Input(kF32, {2, 3})
                .Set("axis", int64_t{-1})
                .OutputType(),
            "f32[2, h + 3]");
  OpCase split = OpCase("Split", 3);
  split.Input(kF32, {7}).Set("num_outputs", int64_t{3});
  EXPECT_EQ(split.OutputType(0), "f32[3]");
  EXPECT_EQ(split.OutputType(2), "f32[1]");
  EXPECT_THAT(
      OpCase("Concat").Input(kF32, {2, 3}).Input(kF32, {3, 3}).Set("axis", int64_t{1}).OutputType(),
      HasSubstr("operand 1 has another dim along axis 0"));
}

TEST(OpShapes, ResizeScalesSymbolicImages) {
  Constant scales = Constant::Splat(kF32, {2}, 2.0);
  EXPECT_EQ(Symbolic("Resize")
                .Input(kF32, {1, 3, Var("h"), 10})
                .Absent()
                .Known(scales)
                .Set("axes", List({2, 3}))
                .OutputType(),
            "f32[1, 3, h*2, 20]");
  EXPECT_EQ(Symbolic("Resize")
                .Input(kF32, {1, 3, Var("h"), 10})
                .Absent()
                .Absent()
                .Elements({Expr(1), Expr(3), Var("h") + 1, Expr(5)})
                .Set("mode", "linear")
                .OutputType(),
            "f32[1, 3, h + 1, 5]");
}

TEST(OpShapes, PoolsRoundUpInCeilMode) {
  auto pool = [](int64_t width, int64_t ceil_mode) {
    return OpCase("MaxPool")
        .Input(kF32, {1, 1, width})
        .Set("kernel_shape", List({3}))
        .Set("strides", List({2}))
        .Set("ceil_mode", ceil_mode)
        .OutputType();
  };
  EXPECT_EQ(pool(8, 0), "f32[1, 1, 3]");
  EXPECT_EQ(pool(8, 1), "f32[1, 1, 4]");
  OpCase with_indices("MaxPool", 2);
  with_indices.Input(kF32, {1, 1, 8}).Set("kernel_shape", List({3}));
  EXPECT_EQ(with_indices.OutputType(1), "i64[1, 1, 6]");
}

TEST(OpShapes, UnknownAndIllTypedNodes) {
  EXPECT_THAT(OpCase("NoSuchOp").OutputType(), HasSubstr("op NoSuchOp is not supported"));
  EXPECT_THAT(OpCase("Exp").Input(DType::kI32, {2}).OutputType(), HasSubstr("floating-point"));
  EXPECT_THAT(OpCase("Exp").OutputType(), HasSubstr("needs input 0"));
  EXPECT_THAT(OpCase("Relu").Input(DType::kString, {2}).OutputType(),
              HasSubstr("element type string"));
  EXPECT_THAT(OpCase("Softmax").Input(kF32, {2}).Set("axis", int64_t{1}).OutputType(),
              HasSubstr("axis 1 is out of range for rank 1"));
}

TEST(OpKernels, ReadOneValueOnceAndDropWhatTheyDoNotRead) {
  absl::StatusOr<NodeKernel> square = OpCase("Mul").Input(kF32, {4}).SameAsFirst().Build();
  ASSERT_TRUE(square.ok()) << square.status();
  EXPECT_EQ(square->inputs.size(), 1u);
  absl::StatusOr<NodeKernel> power =
      OpCase("Pow").Input(kF32, {4}).Known(Constant::Splat(kF32, {}, 2.0)).Build();
  ASSERT_TRUE(power.ok()) << power.status();
  EXPECT_EQ(power->inputs.size(), 1u);
  EXPECT_EQ(power->kernel.params.size(), 2u);
}

// A stride of 3 with a kernel of 2 leaves a gap after each element but the last.
TEST(OpShapes, ConvTransposeWithSamePadsReachesAsFarAsItsKernel) {
  OpCase op("ConvTranspose");
  op.Input(DType::kF32, {1, 1, 6, 5}).Input(DType::kF32, {1, 1, 3, 2});
  op.Set("strides", std::vector<int64_t>{2, 3}).Set("auto_pad", "SAME_UPPER");
  EXPECT_EQ(op.OutputType(), "f32[1, 1, 12, 14]");
}

// The lengths that onnxruntime 1.31 gives, of which 117, 63 and 7 are the exact ones.
TEST(OpShapes, ResizeRoundsLengthsAsFloats) {
  auto resized = [](const Expr& length, float scale) {
    OpCase op("Resize");
    op.Symbol("n", 1, 89).Symbol("m", 1, 90).Symbol("far", 90'000, INT64_MAX);
    op.Input(kF32, {length}).Absent();
    return op.Known(Constant::Splat(kF32, {1}, scale)).OutputType();
  };
  EXPECT_EQ(resized(90, 1.3F), "f32[116]");
  EXPECT_EQ(resized(30, 2.1F), "f32[62]");
  EXPECT_EQ(resized(10, 0.7F), "f32[7]");
  EXPECT_EQ(resized(Var("n"), 1.3F), "f32[n + floor_div(n*3, 10)]");
  EXPECT_THAT(resized(Var("m"), 1.3F),
              HasSubstr("90 elements give 116 as floats are rounded, 117"));
  EXPECT_THAT(resized(Var("far"), 1.3F), HasSubstr("needs a known length (90"));
}

TEST(OpShapes, ResizeOfARegionScalesTheWholeInput) {
  OpCase op("Resize");
  op.Input(DType::kF32, {10}).Known(Constant::Splat(DType::kF32, {2}, 0.5));
  op.Known(Constant::Splat(DType::kF32, {1}, 2.0));
  op.Set("coordinate_transformation_mode", "tf_crop_and_resize");
  EXPECT_EQ(op.OutputType(), "f32[20]");
}

// What holds for some values of a symbol only is checked in a run: no access beyond the end.
TEST(OpShapes, SplitNeedsPartsThatFitEveryLength) {
  for (const auto& [least, parts] : {std::pair(1, 3), std::pair(1, 6), std::pair(5, 4)}) {
    OpCase op("Split", parts);
    op.Symbol("n", least, 12).Input(DType::kF32, {Var("n")});
    EXPECT_EQ(op.OutputType(),
              "error: a run requires: the axis is too short for that many parts, of 'x' f32[n]");
  }
  OpCase halves("Split", 2);
  halves.Symbol("n", 1, 12).Input(DType::kF32, {Var("n")});
  EXPECT_EQ(halves.OutputType(1), "f32[n - floor_div(n + 1, 2)]");
  OpCase sizes("Split", 2);
  sizes.Symbol("n", 1, 12).Input(DType::kF32, {Var("n")}).Known(Constant::Ints({1, 6}));
  EXPECT_EQ(sizes.OutputType(),
            "error: a run requires: the sizes do not add up to the dim of the axis, of 'x' f32[n] "
            "and 'c' i64[2]");
}

}  // namespace
}  // namespace aotc
