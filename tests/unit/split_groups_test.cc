#include "compiler/optimize/split_groups.h"

#include <algorithm>

#include "compiler/eval/evaluate.h"
#include "compiler/ir/graph_text.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

Graph Parse(std::string_view text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *graph : Graph();
}

int64_t CountOf(const Graph& graph, std::string_view op) {
  const std::vector<NodeId>& nodes = graph.main_region().nodes;
  return std::count_if(nodes.begin(), nodes.end(),
                       [&](NodeId id) { return graph.nodes[id].op == op; });
}

TEST(SplitGroups, WritesAConvolutionPerGroupWithTheSameNumbers) {
  const Graph graph = Parse(R"air(
    graph @main(%x: f32[n, 6, 5, 4]) -> (%y) {
      symbol n in 1..3
      const %w: f32[9, 2, 3, 3] = random(seed=1)
      const %b: f32[9] = random(seed=2)
      %y: f32[n, 9, 5, 4] = Conv(%x, %w, %b) {group=3, pads=[1, 1, 1, 1]}
    })air");
  const absl::StatusOr<Graph> split = SplitGroups(graph);
  ASSERT_TRUE(split.ok()) << split.status();
  EXPECT_EQ(CountOf(*split, "Conv"), 3);
  EXPECT_EQ(CountOf(*split, "Slice"), 3);
  EXPECT_EQ(CountOf(*split, "Concat"), 1);
  const std::vector<Constant> inputs = {Constant::Random(DType::kF32, {2, 6, 5, 4}, 3)};
  const auto expected = EvaluateGraph(graph, inputs), actual = EvaluateGraph(*split, inputs);
  ASSERT_TRUE(expected.ok() && actual.ok()) << expected.status() << actual.status();
  EXPECT_EQ(RelativeError((*actual)[0], (*expected)[0]), 0);
}

// What follows a convolution of bytes: sums of two of them, constants per channel, rounding.
TEST(SplitGroups, JoinsGroupsOfBytesAndTakesWhatIsComputedOfThemAlong) {
  const Graph graph = Parse(R"air(
    graph @main(%x: u8[2, 64, 5, 4]) -> (%y, %s) {
      const %w: i8[40, 8, 3, 3] = random(seed=1)
      const %v: i8[40, 8, 3, 3] = random(seed=2)
      const %b: i32[40, 1, 1] = random(seed=3)
      const %f: f32[1, 40, 1, 1] = random(seed=4)
      const %one: f32[] = [0.25]
      const %zero: u8[] = [128]
      %p: i32[2, 40, 5, 4] = ConvInteger(%x, %w) {group=8, pad_value=7, pads=[1, 1, 1, 1]}
      %q: i32[2, 40, 5, 4] = ConvInteger(%x, %v) {group=8, pad_value=7, pads=[1, 1, 1, 1]}
      %s: i32[2, 40, 5, 4] = Sub(%p, %q)
      %t: i32[2, 40, 5, 4] = Add(%s, %b)
      %c: f32[2, 40, 5, 4] = Cast(%t) {to=1}
      %m: f32[2, 40, 5, 4] = Mul(%c, %f)
      %y: u8[2, 40, 5, 4] = QuantizeLinear(%m, %one, %zero)
    })air");
  const absl::StatusOr<Graph> split = SplitGroups(graph);
  ASSERT_TRUE(split.ok()) << split.status();
  EXPECT_EQ(CountOf(*split, "ConvInteger"), 8);
  EXPECT_EQ(CountOf(*split, "QuantizeLinear"), 4);
  EXPECT_EQ(CountOf(*split, "Concat"), 2);  // of the sums, which are an output
  const std::vector<Constant> inputs = {Constant::Random(DType::kU8, {2, 64, 5, 4}, 3)};
  const auto expected = EvaluateGraph(graph, inputs), actual = EvaluateGraph(*split, inputs);
  ASSERT_TRUE(expected.ok() && actual.ok()) << expected.status() << actual.status();
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(RelativeError((*actual)[i], (*expected)[i]), 0);
}

TEST(SplitGroups, MakesFewGroupsOfBytesOneConvolution) {
  const Graph graph = Parse(R"air(
    graph @main(%x: u8[1, 6, 5, 4], %u: u8[1, 24, 5, 4]) -> (%y, %z, %d) {
      const %w: i8[15, 2, 3, 3] = random(seed=1)
      const %v: i8[24, 1, 3, 1] = random(seed=2)
      const %k: i8[24, 1, 1, 3] = random(seed=3)
      %y: i32[1, 15, 3, 2] = ConvInteger(%x, %w) {group=3}
      %z: i32[1, 24, 3, 4] = ConvInteger(%u, %v) {group=24}
      %d: i32[1, 24, 5, 2] = ConvInteger(%u, %k) {group=24}
    })air");
  const absl::StatusOr<Graph> split = SplitGroups(graph);
  ASSERT_TRUE(split.ok()) << split.status();
  EXPECT_EQ(CountOf(*split, "ConvInteger"), 4);  // of 15 outputs, of 12 and 12, and by depthwise
  EXPECT_EQ(CountOf(*split, "Slice"), 2);
  const std::vector<Constant> inputs = {Constant::Random(DType::kU8, {1, 6, 5, 4}, 3),
                                        Constant::Random(DType::kU8, {1, 24, 5, 4}, 4)};
  const auto expected = EvaluateGraph(graph, inputs), actual = EvaluateGraph(*split, inputs);
  ASSERT_TRUE(expected.ok() && actual.ok()) << expected.status() << actual.status();
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(RelativeError((*actual)[i], (*expected)[i]), 0);
}

TEST(SplitGroups, KeepsDepthwiseAndUngroupedConvolutions) {
  const Graph graph = Parse(R"air(
    graph @main(%x: f32[1, 4, 5, 5]) -> (%z) {
      const %w: f32[4, 1, 3, 3] = random(seed=1)
      const %v: f32[2, 4, 1, 1] = random(seed=2)
      %y: f32[1, 4, 3, 3] = Conv(%x, %w) {group=4}
      %z: f32[1, 2, 3, 3] = Conv(%y, %v)
    })air");
  const absl::StatusOr<Graph> split = SplitGroups(graph);
  ASSERT_TRUE(split.ok()) << split.status();
  EXPECT_EQ(CountOf(*split, "Conv"), 2);
  EXPECT_EQ(CountOf(*split, "Slice"), 0);
}

TEST(SplitGroups, DividesTheGroupsOfResNeXtAndNotHundreds) {
  const Graph graph = Parse(R"air(
    graph @main(%x: f32[1, 128, 5, 5], %u: f32[1, 130, 5, 5]) -> (%y, %z) {
      const %w: f32[128, 2, 1, 1] = random(seed=1)
      const %v: f32[130, 2, 1, 1] = random(seed=2)
      %y: f32[1, 128, 5, 5] = Conv(%x, %w) {group=64}
      %z: f32[1, 130, 5, 5] = Conv(%u, %v) {group=65}
    })air");
  const absl::StatusOr<Graph> split = SplitGroups(graph);
  ASSERT_TRUE(split.ok()) << split.status();
  EXPECT_EQ(CountOf(*split, "Conv"), 65);
}

}  // namespace
}  // namespace aotc
