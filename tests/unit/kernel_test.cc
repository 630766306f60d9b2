// Kernels: text form, verifier, cost; shapes and layouts.
#include "compiler/ir/kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "compiler/ir/expr_text.h"
#include "compiler/ir/kernel_bounds.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/support/scanner.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Kernel Parse(std::string_view text) {
  absl::StatusOr<Kernel> kernel = ParseKernel(text);
  EXPECT_TRUE(kernel.ok()) << text << ": " << kernel.status();
  return kernel.ok() ? *std::move(kernel) : Kernel{};
}

std::vector<std::string> Texts(const std::vector<Expr>& exprs) {
  std::vector<std::string> texts;
  for (const Expr& e : exprs) texts.push_back(PrintExpr(e));
  return texts;
}

constexpr char kDense[] = R"(
kernel @dense(in %x: f32[m, 512], const %w: f32[512, 40], out %y: f32[m, 40]) {
  symbol m in 1..200
  temp %acc: f32[m, 40]
  %acc[i<m, j<40] = reduce sum(k<512) %x[i, k] * %w[k, j]
  %y[i<m, j<40] = max(%acc[i, j], 0.0)
})";

TEST(Kernel, CountsFlopsAndBytes) {
  Kernel dense = Parse(kDense);
  EXPECT_EQ(KernelFlops(dense), 200.0 * 40 * 512 * 2 + 200 * 40);
  EXPECT_EQ(KernelBytes(dense), 4.0 * (200 * 512 + 512 * 40 + 200 * 40));
  EXPECT_EQ(DefiningStage(dense, TensorId(3)), &dense.stages[0]);
  EXPECT_EQ(DefiningStage(dense, TensorId(0)), nullptr);
}

// What tensors, nodes and the kernel are called plays no part; the digits are those of any machine.
TEST(Kernel, HashIsStableAndWithoutNames) {
  const Kernel dense = Parse(kDense);
  EXPECT_EQ(KernelHash(dense), "3b33cc373bc50ce5");
  std::string renamed = kDense;
  for (const char* name : {"x", "w", "y", "acc"}) {
    absl::StrReplaceAll({{StrCat("%", name, ":"), StrCat("%", name, "_other:")},
                         {StrCat("%", name, "["), StrCat("%", name, "_other[")}},
                        &renamed);
  }
  absl::StrReplaceAll({{"@dense", "@matrix"}}, &renamed);
  EXPECT_EQ(KernelHash(Parse(renamed)), KernelHash(dense));
  absl::StrReplaceAll({{"0.0)", "1.0)"}}, &renamed);
  EXPECT_NE(KernelHash(Parse(renamed)), KernelHash(dense));
}

// Integer contractions count their arithmetic, index arithmetic and copies do not.
TEST(Kernel, CountsIntegerContractions) {
  Kernel product = Parse(R"(
kernel @q(in %x: u8[4, 64], const %w: i8[64, 16], out %y: i32[4, 16]) {
  %y[i<4, j<16] = reduce sum(k<64) (i32(%x[i, 63 - k]) - i32:128) * i32(%w[63 - k, j])
})");
  EXPECT_EQ(KernelFlops(product), 4.0 * 16 * 64 * 3);
  Kernel copy = Parse("kernel @c(in %x: i64[8], out %y: i64[8]) { %y[i<8] = %x[7 - i] + 1 }");
  EXPECT_EQ(KernelFlops(copy), 0);
  EXPECT_EQ(KernelBytes(copy), 128);
}

TEST(Kernel, StockCombinersHaveTheirIdentities) {
  EXPECT_EQ(StockCombiner("max", DType::kF32).identity[0]->float_value,
            -std::numeric_limits<double>::infinity());
  EXPECT_EQ(StockCombiner("max", DType::kI8).identity[0].AsInt(), -128);
  EXPECT_EQ(StockCombiner("min", DType::kU8).identity[0].AsInt(), 255);
  EXPECT_EQ(StockCombiner("min", DType::kI64).identity[0].AsInt(), INT64_MAX);
  EXPECT_EQ(StockCombiner("min", DType::kU64).identity[0].AsInt(), -1);
  EXPECT_EQ(StockCombiner("prod", DType::kI32).identity[0].AsInt(), 1);
  EXPECT_EQ(PrintExpr(StockCombiner("sum", DType::kF32).combine[0]), "a0 + b0");
  EXPECT_EQ(PrintExpr(StockCombiner("max", DType::kF32).combine[0]), "max(a0, b0)");
  EXPECT_EQ(PrintExpr(StockCombiner("max", DType::kBool).combine[0]), "a0 || b0");
  EXPECT_EQ(PrintExpr(StockCombiner("and", DType::kBool).identity[0]), "true");
  EXPECT_FALSE(IsStockCombiner("argmax"));
}

TEST(KernelText, PrintsStagesAlone) {
  EXPECT_EQ(PrintStages(Parse(kDense)),
            "%acc[i<m, j<40] = reduce sum(k<512) %x[i, k] * %w[k, j]\n"
            "%y[i<m, j<40] = max(%acc[i, j], 0.0)");
}

TEST(KernelText, RefusesWhatMeansNothing) {
  for (const char* text :
       {"kernel @k(in %x: f99[1]) {}", "kernel @k(in %x: f32[1], in %x: f32[1]) {}",
        "kernel @k() { symbol m in 5..1 }", "kernel @k() { %y[i<1] = 0.0 }",
        "kernel @k(out %y: f32[2]) { %y[i<2] = reduce sum() 1.0 }",
        "kernel @k(out %y: f32[2]) { %y[i<2] = reduce huh(k<2) 1.0 }",
        "kernel @k(out %y: f32[2], out %z: f32[3]) { %y[i<2], %z[i<3] = (1.0, 2.0) }",
        "kernel @k(out %y: f32[2], out %z: f32[2]) { %y[i<2], %z[i<2] = (1.0) }",
        "kernel @k(out %y: f32[2]) { %y[i<2] = 1.0", "kernel @k(in %x: f32[2](0, 1 halo)) {}"}) {
    EXPECT_FALSE(ParseKernel(text).ok()) << text;
  }
}

std::string Complaint(std::string_view stages, std::string_view temps = "") {
  std::string text = StrCat("kernel @k(in %x: f32[m, 8], in %p: i64[m], out %y: f32[m, 8]) {\n",
                            "symbol m in 2..9\n", temps, "\n", stages, "\n}");
  return std::string(VerifyKernel(Parse(text)).message());
}

TEST(KernelVerify, AcceptsGuardedLoads) {
  EXPECT_EQ(Complaint("%y[i<m, j<8] = select(1 <= j && j < 7, %x[i, j - 1] + %x[i, j + 1], 0.0)"),
            "");
  EXPECT_EQ(Complaint("%y[i<m, j<8] = select(j < 1, 0.0, %x[i, j - 1])"), "");
  EXPECT_EQ(Complaint("%y[i<m, j<8] = select(i + 1 < m && 0.0 < %x[i + 1, j], 1.0, 0.0)"), "");
  EXPECT_EQ(Complaint("%y[i<m, j<8] = %x[%p[i], j]"), "");
  EXPECT_EQ(Complaint("%y[i<m, j<8] = %x[m - 1 - i, mod(j*3, 8)]"), "");
}

TEST(KernelVerify, FindsLoadsOutOfBounds) {
  EXPECT_THAT(Complaint("%y[i<m, j<8] = %x[i, j + 1]"),
              HasSubstr("%x[i, j + 1] leaves its tensor at"));
  EXPECT_THAT(Complaint("%y[i<m, j<8] = %x[i + 1, j]"), HasSubstr("leaves its tensor"));
  EXPECT_THAT(Complaint("%y[i<m, j<8] = select(j < 1, %x[i, j - 1], 0.0)"),
              HasSubstr("leaves its tensor"));
}

// As a tree the body has 2^40 loads.
TEST(KernelVerify, LooksOnceAtALoadThatStandsInManyPlaces) {
  const Kernel kernel = Parse(kDense);
  Expr body = kernel.stages[0].body[0];
  for (int i = 0; i < 40; ++i) body = body + body;
  EXPECT_EQ(FindLoadOutOfBounds(kernel, kernel.stages[0], body), "");
}

TEST(KernelVerify, FindsBrokenStructure) {
  EXPECT_THAT(Complaint(""), HasSubstr("%y is never defined"));
  EXPECT_THAT(Complaint("%y[i<m, j<8] = %y[i, j]"), HasSubstr("before it is defined"));
  EXPECT_THAT(Complaint("%y[i<m, j<8] = 1.0\n%y[i<m, j<8] = 1.0"), HasSubstr("defined twice"));
  EXPECT_THAT(Complaint("%x[i<m, j<8] = 1.0\n%y[i<m, j<8] = 1.0"), HasSubstr("is no result"));
  EXPECT_THAT(Complaint("%y[i<m, j<9] = 1.0"), HasSubstr("are not its shape"));
  EXPECT_THAT(Complaint("%y[i<m, i<8] = 1.0"), HasSubstr("axis i is declared twice"));
  EXPECT_THAT(Complaint("%y[m<m, j<8] = 1.0"), HasSubstr("axis m is declared twice"));
  EXPECT_THAT(Complaint("%y[i<m, j<8] = f32(q)"), HasSubstr("unknown variable q"));
  EXPECT_THAT(Complaint("%y[i<m, j<8] = f64:1.0"), HasSubstr("is f32 but its body is f64"));
  EXPECT_THAT(Complaint("%y[i<m, j<8] = %x[i]"), HasSubstr("with 1 indices"));
  EXPECT_THAT(Complaint("%y[i<m, j<8] = reduce (k<2) (1.0) identity (0.0) combine (f32(c0))"),
              HasSubstr("unknown variable c0"));
  EXPECT_THAT(Complaint("%y[i<m, j<8] = reduce (k<2) (1.0) identity (f64:0.0) combine (a0)"),
              HasSubstr("the combiner of %y is not f32"));
}

TEST(Shape, CountsAndStrides) {
  Shape shape = {Var("b"), 3, Var("h"), 4};
  Bounds bounds =
      BoundsOf({{.name = "b", .var = "b", .max = 8}, {.name = "h", .var = "h", .max = 10}});
  EXPECT_EQ(PrintExpr(ElementCount(shape)), "b*h*12");
  EXPECT_EQ(MaxElements(shape, bounds), 8 * 3 * 10 * 4);
  EXPECT_EQ(MaxElements(shape, {}), std::nullopt);
  EXPECT_EQ(MaxElements({INT64_MAX, 16}, {}), std::nullopt);
  EXPECT_EQ(MaxElements({0, INT64_MAX}, {}), 0);
  EXPECT_THAT(Texts(RowMajorStrides(shape)), ElementsAre("h*12", "h*4", "4", "1"));
  EXPECT_EQ(PrintExpr(LinearIndex({Var("i"), Var("j")}, {Var("h"), 1})), "h*i + j");
  EXPECT_EQ(StaticDims(shape), std::nullopt);
  EXPECT_EQ(StaticDims(MakeShape({2, 3})), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(PrintExpr(ElementCount({})), "1");
  EXPECT_TRUE(SameShape({Var("h") * 2 + 2}, {(Var("h") + 1) * 2}));
  EXPECT_FALSE(SameShape({1, 1}, {1}));
}

TEST(Layout, MapsBlocksHaloAndOrder) {
  Layout layout = BlockedLayout(4, /*axis=*/1, /*block=*/16);
  layout.halo = {{}, {}, {1, 1}, {1, 1}};
  EXPECT_THAT(Texts(StorageShape(layout, {1, 24, 8, 8})), ElementsAre("1", "2", "10", "10", "16"));
  EXPECT_THAT(Texts(StorageIndices(layout, {Var("n"), Var("c"), Var("h"), Var("w")})),
              ElementsAre("n", "floor_div(c, 16)", "h + 1", "w + 1", "mod(c, 16)"));
  EXPECT_EQ(StorageElements(layout, {1, 24, 8, 8}).AsInt(), 2 * 10 * 10 * 16);
  EXPECT_EQ(PrintLayout(layout), "(0, 1/16, 2, 3, 1%16; halo 2:1+1 3:1+1 fill 0)");
  EXPECT_FALSE(layout.IsRowMajor());
  EXPECT_TRUE(PermutedLayout({0, 1, 2}).IsPlain());
  EXPECT_EQ(PrintLayout(PermutedLayout({0, 2, 3, 1})), "(0, 2, 3, 1)");
  EXPECT_EQ(PrintLayout({}), "");
}

TEST(Layout, RoundTripsText) {
  for (const char* text : {"(0, 1/16, 2, 3, 1%16; halo 2:1+1 3:1+1 fill 0)", "(1, 0)",
                           "(0, 1; halo 0:2+0 fill -1.5)", "(0/64, 0/16%4, 0%16; align 16)"}) {
    Scanner scanner(text);
    absl::StatusOr<Layout> layout = ParseLayout(scanner);
    ASSERT_TRUE(layout.ok()) << layout.status();
    EXPECT_TRUE(scanner.AtEnd());
    EXPECT_EQ(PrintLayout(*layout), text);
  }
  for (const char* text : {"(0", "(0/0)", "(-1)", "(0; halo 1:1+1 fill 0)", "(0; huh)", "(0 %x)"}) {
    Scanner scanner(text);
    EXPECT_FALSE(ParseLayout(scanner).ok()) << text;
  }
}

}  // namespace
}  // namespace aotc
