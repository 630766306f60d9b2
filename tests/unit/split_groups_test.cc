#include "compiler/layout/split_groups.h"

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
