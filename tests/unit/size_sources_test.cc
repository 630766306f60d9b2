// What sizes are computed of: inputs, and values of the run where a node defines sizes of them.
#include "compiler/canonicalize/size_sources.h"

#include <algorithm>

#include "compiler/eval/evaluate.h"
#include "compiler/ir/control_flow.h"
#include "compiler/ir/symbol_text.h"
#include "compiler/support/strings.h"
#include "gmock/gmock.h"
#include "tests/unit/pass_case.h"

namespace aotc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kInfer = "expand-ops,infer-and-fold";

Graph Inferred(std::string_view text) {
  PassResult result = RunCase(ParseCase(text), kInfer);
  EXPECT_TRUE(result.graph.ok()) << result.graph.status() << result.diagnostics.Render();
  return result.graph.ok() ? *result.graph : Graph();
}

// Names of what DefineSizes takes.
std::vector<std::string> Sources(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) {
    if (DefinesSizes(node)) names.push_back(graph.values[node.inputs[0]].name);
  }
  return names;
}

std::vector<int64_t> DimsOf(const Graph& graph, const std::vector<Constant>& inputs) {
  auto outputs = EvaluateGraph(graph, inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return outputs.ok() ? (*outputs)[0].dims() : std::vector<int64_t>();
}

Constant Bools(const std::vector<uint8_t>& flags) {
  return Constant::Dense(DType::kBool, {static_cast<int64_t>(flags.size())}, flags);
}

TEST(SizeSources, ACountIsASizeFromItsNodeOn) {
  const Graph graph = Inferred(R"air(graph @main(%x: f32[3, 4], %f: bool[3]) -> (%y) {
      %y = Compress(%x, %f) {axis=0} })air");
  EXPECT_THAT(Sources(graph).size(), 1);
  EXPECT_TRUE(graph.symbols[0].computed);
  EXPECT_EQ(graph.symbols.back().max, 3);
  EXPECT_THAT(VerifyGraph(graph).message(), IsEmpty());
  const Constant x = Constant::Random(DType::kF32, {3, 4}, 1);
  EXPECT_THAT(DimsOf(graph, {x, Bools({1, 0, 1})}), ElementsAre(2, 4));
  EXPECT_THAT(DimsOf(graph, {x, Bools({0, 0, 0})}), ElementsAre(0, 4));
}

TEST(SizeSources, WhatDataDecidesIsFollowedAsFarAsItIsASize) {
  const Graph graph = Inferred(R"air(graph @main(%x: f32[9], %k: i64[1]) -> (%y) {
      const %zero: i64[1] = [0]
      %top = ArgMax(%x) {axis=0, keepdims=1}
      %end = Add(%top, %k)
      %y = Slice(%x, %zero, %end) })air");
  EXPECT_THAT(Sources(graph), ElementsAre("top"));
  const Constant x = Constant::Random(DType::kF32, {9}, 3);
  int64_t top = 0;
  for (int64_t i = 1; i < 9; ++i) top = x.FloatAt(i) > x.FloatAt(top) ? i : top;
  EXPECT_THAT(DimsOf(graph, {x, Constant::Ints({1})}), ElementsAre(top + 1));
}

TEST(SizeSources, IntegersThatAreManyAreNoSizes) {
  const Graph graph = Inferred(R"air(graph @main(%n: i64[100]) -> (%y) {
      const %zero: i64[] = [0]
      const %one: i64[] = [1]
      %most = ReduceMax(%n) {keepdims=0}
      %y limits(0: 8) = Range(%zero, %most, %one) })air");
  EXPECT_THAT(Sources(graph), ElementsAre("most"));
}

TEST(SizeSources, ABoundNamesWhatTheUserKnows) {
  const Graph graph = Inferred(R"air(graph @main(%f: bool[8]) -> (%y) {
      %y limits(1: 5) = NonZero(%f) })air");
  EXPECT_EQ(graph.symbols.back().name, "y:1");
  EXPECT_EQ(graph.symbols.back().max, 5);
  const Constant six = Bools({1, 1, 1, 1, 1, 1, 0, 0});
  EXPECT_THAT(std::string(EvaluateGraph(graph, {six}).status().message()),
              HasSubstr("'y:1' is not within 0 .. 5"));
}

TEST(SizeSources, AnIfHasTheSizesOfTheBranchThatIsTaken) {
  const Graph graph = Inferred(R"air(graph @main(%x: f32[4], %c: bool[]) -> (%z) {
      %y = If(%c)
        region then_branch() -> (%a) { %a = Concat(%x, %x) {axis=0} }
        region else_branch() -> (%b) { %b = Neg(%x) }
      %z = Relu(%y) })air");
  const Constant x = Constant::Random(DType::kF32, {4}, 1);
  const auto flag = [](uint8_t value) { return Constant::Dense(DType::kBool, {}, {value}); };
  EXPECT_THAT(DimsOf(graph, {x, flag(1)}), ElementsAre(8));
  EXPECT_THAT(DimsOf(graph, {x, flag(0)}), ElementsAre(4));
  EXPECT_EQ(
      MaxElements(graph.values[graph.main_region().outputs[0]].type.dims, BoundsOf(graph.symbols)),
      8);
}

TEST(SizeSources, ALoopStacksAsManyAsItHasRounds) {
  const Graph graph = Inferred(R"air(graph @main(%x: f32[3], %most: f32[]) -> (%s) {
      const %count: i64[] = [6]
      const %yes: bool[] = [true]
      %last, %s = Loop(%count, %yes, %x)
        region body(%i, %go, %v) -> (%more, %w, %row) {
          %sum = ReduceSum(%v) {keepdims=0}
          %more = Less(%sum, %most)
          %w = Add(%v, %v)
          %row = Neg(%v)
        } })air");
  const Constant x = Constant::Dense(DType::kF32, {3}, std::vector<uint8_t>(12, 0));
  EXPECT_THAT(DimsOf(graph, {x, Constant::Splat(DType::kF32, {}, 1)}), ElementsAre(6, 3));
  EXPECT_THAT(DimsOf(graph, {x, Constant::Splat(DType::kF32, {}, -1)}), ElementsAre(1, 3));
}

TEST(SizeSources, NothingIsKnownBeforeItIsDefined) {
  Graph graph = Inferred(R"air(graph @main(%f: bool[8]) -> (%y) { %y = NonZero(%f) })air");
  std::vector<NodeId>& nodes = graph.main_region().nodes;
  const auto sizes =
      std::ranges::find_if(nodes, [&](NodeId id) { return DefinesSizes(graph.nodes[id]); });
  ASSERT_NE(sizes, nodes.end());
  std::rotate(sizes, sizes + 1, nodes.end());
  EXPECT_THAT(std::string(VerifyGraph(graph).message()), HasSubstr("is not known yet"));
}

}  // namespace
}  // namespace aotc
