// Sizes that only a run knows: the symbols, bounds and checks that inference gives a graph.
#include "compiler/canonicalize/run_sizes.h"

#include <algorithm>

#include "compiler/ir/expr_text.h"
#include "compiler/ir/symbol_text.h"
#include "compiler/ops/op.h"
#include "compiler/support/strings.h"
#include "gmock/gmock.h"
#include "tests/unit/pass_case.h"

namespace aotc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kInfer = "expand-ops,infer-and-fold";

std::vector<std::string> SymbolsOf(const Graph& graph) {
  std::vector<std::string> texts;
  for (const Symbol& symbol : graph.symbols) texts.push_back(PrintSymbol(symbol));
  return texts;
}

Graph Inferred(std::string_view text) {
  PassResult result = RunCase(ParseCase(text), kInfer);
  EXPECT_TRUE(result.graph.ok()) << result.graph.status();
  return result.graph.ok() ? *result.graph : Graph();
}

std::string ErrorOf(std::string_view text) {
  PassResult result = RunCase(ParseCase(text), kInfer);
  EXPECT_FALSE(result.graph.ok());
  return result.diagnostics.Render();
}

std::string OutputType(const Graph& graph, size_t index = 0) {
  return PrintType(graph.values[graph.main_region().outputs[index]].type);
}

TEST(RunSizes, PositionsOfASliceMayBeAny) {
  const Graph graph = Inferred(R"air(graph @main(%x: f32[8], %s: i64[1], %e: i64[1]) -> (%y) {
      %y = Slice(%x, %s, %e) })air");
  EXPECT_THAT(SymbolsOf(graph),
              ElementsAre(R"(symbol "s[0]" as s_0 in -70368744177664..70368744177664 clamped)",
                          R"(symbol "e[0]" as e_0 in -70368744177664..70368744177664 clamped)"));
  EXPECT_EQ(
      MaxElements(graph.values[graph.main_region().outputs[0]].type.dims, BoundsOf(graph.symbols)),
      8);
}

TEST(RunSizes, PositionsThatAreDataTooHaveARange) {
  const Graph graph = Inferred(R"air(graph @main(%x: f32[8], %s: i64[1], %e: i64[1]) -> (%y, %z) {
      %y = Slice(%x, %s, %e)
      %z = Add(%e, %e) })air");
  EXPECT_THAT(SymbolsOf(graph)[1], HasSubstr("e_0 in -2147483647..2147483647"));
}

TEST(RunSizes, DimsOfAReshapeAreBoundedByItsElements) {
  const Graph graph = Inferred(R"air(graph @main(%x: f32[4, 6], %s: i64[2]) -> (%y) {
      %y = Reshape(%x, %s) loc("re (Reshape, opset 21)") })air");
  EXPECT_EQ(OutputType(graph), "f32[y_0, y_1]");
  const Symbol &first = *FindSymbol(graph.symbols, "y_0"), &last = graph.symbols.back();
  EXPECT_EQ(first.max, 24);
  ASSERT_EQ(last.checks.size(), 1U);
  EXPECT_EQ(last.checks[0].text,
            "node 're' (Reshape, opset 21): the shape has another number of elements than the "
            "input, of 'x' f32[4, 6] and 's' i64[2]");
  EXPECT_EQ(MaxElements({Var("y_0"), Var("y_1")}, BoundsOf(graph.symbols)), 24);
}

TEST(RunSizes, WhatAnOpRequiresOfOneElementIsItsRange) {
  const Graph graph = Inferred(R"air(graph @main(%x: f32[5, 9], %k: i64[1]) -> (%y) {
      %y, %at = TopK(%x, %k) })air");
  EXPECT_THAT(SymbolsOf(graph), ElementsAre(R"(symbol "k[0]" as k_0 in 0..9)"));
  EXPECT_EQ(OutputType(graph), "f32[5, k_0]");
}

TEST(RunSizes, OneSizeHasOneSymbol) {
  const Graph graph = Inferred(R"air(graph @main(%x: f32[1, 3], %s: i64[2]) -> (%y) {
      %a limits(0: 8) = Expand(%x, %s)
      %b = Expand(%x, %s)
      %y = Add(%a, %b) })air");
  EXPECT_EQ(OutputType(graph), "f32[s_0, 3]");
}

TEST(RunSizes, ABoundIsGivenOrDeclaredWhereNoneIsDerived) {
  const auto expand = [](std::string_view limits) {
    return StrCat("graph @main(%x: f32[1], %s: i64[1]) -> (%y) { %y", limits,
                  " = Expand(%x, %s) loc(\"grow (Expand, opset 13)\") }");
  };
  EXPECT_THAT(ErrorOf(expand("")),
              HasSubstr("node 'grow' (Expand, opset 13): only a run knows the size of axis 0 of "
                        "'y'"));
  EXPECT_THAT(ErrorOf(expand("")), HasSubstr("hint: give the most that it may be, such as --bound "
                                             "y:0=64"));
  EXPECT_EQ(Inferred(expand(" limits(0: 5)")).symbols.back().max, 5);
  const PassResult declared = RunCase(ParseCase(expand(" limits(0: 7 declared)")), kInfer);
  ASSERT_TRUE(declared.graph.ok()) << declared.graph.status();
  EXPECT_EQ(declared.graph->symbols.back().max, 7);
  EXPECT_THAT(declared.diagnostics.Render(), HasSubstr("7 elements that the model declares"));
  EXPECT_TRUE(declared.graph->values[declared.graph->main_region().outputs[0]].limits.empty());
}

TEST(RunSizes, ABoundOfAResultBoundsWhatItIsMadeOf) {
  const Graph graph = Inferred(R"air(graph @main(%x: f32[1], %s: i64[1]) -> (%y) {
      %wide = Expand(%x, %s)
      %y limits(0: 5) = Relu(%wide) })air");
  EXPECT_EQ(FindSymbol(graph.symbols, "s_0")->max, 5);
}

TEST(RunSizes, ABoundMayBeLessThanTheDerivedOne) {
  const Graph graph = Inferred(R"air(graph @main(%x: f32[4, 6], %s: i64[2]) -> (%y) {
      %y limits(0: 6) = Reshape(%x, %s) })air");
  EXPECT_EQ(FindSymbol(graph.symbols, "y_0")->max, 6);
  EXPECT_EQ(FindSymbol(graph.symbols, "y_1")->max, 24);
}

TEST(RunSizes, OthersAreComputedOfThem) {
  const Graph graph = Inferred(R"air(graph @main(%x: f32[4, 6], %s: i64[2]) -> (%z) {
      const %two: i64[1] = [2]
      %y = Reshape(%x, %s)
      %shape = Shape(%y)
      %double = Mul(%shape, %two)
      %z limits(0: 12) = ConstantOfShape(%double) })air");
  EXPECT_EQ(OutputType(graph), "f32[z_0, y_1*2]");
  const auto dims_of = [&](int64_t rows, int64_t columns) -> absl::StatusOr<std::vector<int64_t>> {
    auto outputs = EvaluateGraph(
        graph, {Constant::Random(DType::kF32, {4, 6}, 1), Constant::Ints({rows, columns})});
    if (!outputs.ok()) return outputs.status();
    return (*outputs)[0].dims();
  };
  EXPECT_THAT(*dims_of(6, 4), ElementsAre(12, 8));
  EXPECT_THAT(*dims_of(3, -1), ElementsAre(6, 16));
  EXPECT_EQ(dims_of(8, 3).status().message(), "'z:0' is not within 0 .. 12");
  EXPECT_THAT(std::string(dims_of(5, 4).status().message()),
              HasSubstr("another number of elements"));
}

TEST(RunSizes, ABranchHasItsOwn) {
  const Graph graph = Inferred(R"air(graph @main(%x: f32[4, 6], %s: i64[2], %c: bool[]) -> (%y) {
      %y = If(%c)
        region then_branch() -> (%a) { %a = Reshape(%x, %s) }
        region else_branch() -> (%b) { %b = Relu(%x) } })air");
  EXPECT_EQ(OutputType(graph), "f32[y_0, y_1]");
  const auto dims_of = [&](bool taken, int64_t rows) -> absl::StatusOr<std::vector<int64_t>> {
    const absl::StatusOr<std::vector<Constant>> results = EvaluateGraph(
        graph, {Constant::SplatInt(DType::kF32, {4, 6}, 1), Constant::Ints({rows, -1}),
                Constant::SplatInt(DType::kBool, {}, taken ? 1 : 0)});
    if (!results.ok()) return results.status();
    return (*results)[0].dims();
  };
  EXPECT_THAT(*dims_of(true, 8), ElementsAre(8, 3));
  EXPECT_FALSE(dims_of(true, 5).ok());
  // What is wrong with the other branch is not looked at.
  EXPECT_THAT(*dims_of(false, 5), ElementsAre(4, 6));
}

// It may be joined with a kernel that reads the same operand and knows nothing of that.
TEST(RunSizes, AKernelKeepsWhatItsBranchRequires) {
  const Graph graph = Inferred(R"air(graph @main(%c: bool[], %s: f32[2, 6], %x: f32[n, 6]) -> (%y) {
      symbol n in 1..3
      %y = If(%c)
        region else_branch() -> (%b) {
          %b = Relu(%s)
        }
        region then_branch() -> (%a) {
          %a = Sub(%s, %x)
        }
    })air");
  const auto sub = std::ranges::find(graph.nodes, "Sub", &Node::op);
  ASSERT_NE(sub, graph.nodes.end());
  const absl::StatusOr<NodeKernel> built = BuildNodeKernel(graph, *sub);
  ASSERT_TRUE(built.ok()) << built.status();
  ASSERT_EQ(built->kernel.symbols.size(), 1U);
  ASSERT_EQ(built->kernel.symbols[0].checks.size(), 1U);
  EXPECT_EQ(PrintExpr(built->kernel.symbols[0].checks[0].holds), "n == 2");
}

TEST(RunSizes, AreWorkedOutInTheirOrder) {
  const std::vector<Symbol> symbols = {
      {.name = "e", .var = "e", .min = -4, .max = 4, .clamps = true},
      {.name = "k", .var = "k", .min = 0, .max = 9, .checks = {{Ne(Var("k"), 3), "k is 3"}}},
      {.name = "y:0", .var = "y_0", .min = 0, .max = 10, .value = Var("k") * 2 + Var("e")}};
  const auto work_out = [&](int64_t e, int64_t k) -> absl::StatusOr<int64_t> {
    SymbolValues values = {{"e", e}, {"k", k}};
    absl::Status status = WorkOutSizes(symbols, values);
    if (!status.ok()) return status;
    return values["y_0"];
  };
  EXPECT_EQ(*work_out(100, 2), 8);
  EXPECT_EQ(work_out(0, 3).status().message(), "k is 3");
  EXPECT_EQ(work_out(0, 6).status().message(), "'y:0' is not within 0 .. 10");
  EXPECT_EQ(work_out(-4, 1).status().message(), "'y:0' is not within 0 .. 10");
}

}  // namespace
}  // namespace aotc
