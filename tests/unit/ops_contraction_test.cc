// The form of contractions, on which later phases rely: see compiler/ops/contraction.h.
#include "gtest/gtest.h"
#include "tests/unit/op_case.h"

namespace aotc {
namespace {

constexpr DType kF32 = DType::kF32;

// Below casts: the load, or null.
Expr LoadUnder(Expr e) {
  while (e.op() == ExprOp::kCast) e = e.arg(0);
  return e.op() == ExprOp::kLoad ? e : Expr();
}

Kernel KernelOf(const OpCase& op) {
  absl::StatusOr<NodeKernel> built = op.Build();
  EXPECT_TRUE(built.ok()) << built.status();
  return built.ok() ? built->kernel : Kernel();
}

// Expects stage 0 to be a sum of products of two loads, the left one under a select where `padded`.
void ExpectContraction(const Kernel& kernel, size_t stages, bool padded, DType accumulator) {
  ASSERT_EQ(kernel.stages.size(), stages);
  const Stage& sums = kernel.stages[0];
  EXPECT_EQ(sums.combiner.name, "sum");
  ASSERT_EQ(sums.body[0].op(), ExprOp::kMul);
  EXPECT_EQ(sums.body[0].dtype(), accumulator);
  Expr left = sums.body[0].arg(0);
  EXPECT_EQ(left.op() == ExprOp::kSelect, padded);
  EXPECT_TRUE(LoadUnder(padded ? left.arg(1) : left).valid());
  EXPECT_TRUE(LoadUnder(sums.body[0].arg(1)).valid());
}

TEST(Contractions, AMatMulIsOneStage) {
  ExpectContraction(KernelOf(OpCase("MatMul").Input(kF32, {4, 8}).Input(kF32, {8, 5})), 1, false,
                    kF32);
}

TEST(Contractions, SmallFloatsAccumulateInF32AndRoundInAFollowingStage) {
  Kernel kernel = KernelOf(OpCase("MatMul").Input(DType::kF16, {4, 8}).Input(DType::kF16, {8, 5}));
  ExpectContraction(kernel, 2, false, kF32);
}

TEST(Contractions, GemmAddsItsBiasInAFollowingStage) {
  OpCase gemm("Gemm");
  gemm.Input(kF32, {8, 4}).Input(kF32, {8, 5}).Input(kF32, {5}).Set("transA", int64_t{1});
  ExpectContraction(KernelOf(gemm), 2, false, kF32);
}

TEST(Contractions, OnlyPaddingNeedsASelect) {
  OpCase conv("Conv");
  conv.Input(kF32, {1, 3, 8, 8}).Input(kF32, {16, 3, 3, 3});
  ExpectContraction(KernelOf(conv), 1, false, kF32);
  conv.Set("pads", std::vector<int64_t>{1, 1, 1, 1});
  ExpectContraction(KernelOf(conv), 1, true, kF32);
}

TEST(Contractions, ADepthwiseConvolutionReadsItsOwnChannel) {
  OpCase conv("Conv");
  conv.Input(kF32, {1, 16, 8, 8}).Input(kF32, {16, 1, 3, 3}).Set("group", int64_t{16});
  Kernel kernel = KernelOf(conv);
  ExpectContraction(kernel, 1, false, kF32);
  Expr load = LoadUnder(kernel.stages[0].body[0].arg(0));
  EXPECT_TRUE(Same(load.arg(1), Var(kernel.stages[0].axes[1].name)));
}

TEST(Contractions, SymbolicDimsNeedNoSelectWherePaddingIsAbsent) {
  OpCase conv("Conv");
  conv.Symbol("h", 8, 64).Input(kF32, {1, 3, Var("h"), 8}).Input(kF32, {16, 3, 3, 3});
  ExpectContraction(KernelOf(conv), 1, false, kF32);
}

}  // namespace
}  // namespace aotc
