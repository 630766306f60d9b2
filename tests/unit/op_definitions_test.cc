// Op definitions beyond the official node tests: sizes and errors that those do not reach.
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/eval/evaluate.h"
#include "compiler/ir/graph_text.h"
#include "compiler/ops/op.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

using testing::HasSubstr;

Graph Parse(const std::string& text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *graph : Graph();
}

std::vector<int64_t> RunningSums(const std::vector<int64_t>& x, bool exclusive, bool reverse) {
  const size_t n = x.size();
  std::vector<int64_t> sums(n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < n; ++k) {
      const bool before = reverse ? k > i : k < i;
      if (before || (k == i && !exclusive)) sums[i] += x[k];
    }
  }
  return sums;
}

// Long axes are summed by blocks.
TEST(CumSum, SumsAxesOfAnyLength) {
  for (int64_t length : {1, 2, 16, 17, 31, 32, 33, 64, 100, 257}) {
    const Constant x = Constant::Random(DType::kI64, {length}, 1);
    for (int mode = 0; mode < 4; ++mode) {
      for (const std::string& dim : {absl::StrCat(length), std::string("n")}) {
        const Graph graph =
            Parse(absl::StrCat(R"air(graph @main(%x: i64[)air", dim, R"air(]) -> (%y) {
            symbol n in 1..300
            const %axis: i64[] = splat(0)
            %y: i64[)air",
                               dim, R"air(] = CumSum(%x, %axis) {exclusive=)air", mode / 2,
                               ", reverse=", mode % 2, "}\n}"));
        const auto y = EvaluateGraph(graph, {x});
        ASSERT_TRUE(y.ok()) << y.status();
        EXPECT_EQ((*y)[0].AsInts(), RunningSums(x.AsInts(), mode / 2 != 0, mode % 2 != 0))
            << length << " mode " << mode;
      }
    }
  }
}

struct ErrorCase {
  const char* graph;
  const char* message;
};

// There is no part to read of.
TEST(ItemsOfSplit, OfAnAxisWithoutElementsHasNoItems) {
  const Graph graph = Parse(R"(graph @main(%x: f32[3, 0]) -> (%y) {
      %y: f32[0] = ItemsOfSplit(%x) {axis=1, keepdims=0} })");
  const Node& node = graph.nodes[graph.main_region().nodes[0]];
  EXPECT_TRUE(BuildNodeKernel(graph, node).ok());
}

TEST(OpErrors, SayWhatDoesNotFit) {
  const ErrorCase cases[] = {
      {R"(graph @main(%x: f32[2, n]) -> (%y) { symbol n in 2..3 const %k: i64[1] = [4]
          %y: f32[2, 4], %at: i64[2, 4] = TopK(%x, %k) })",
       "k = 4 is not within 0 .. n, the dim of the axis"},
      {R"(graph @main(%x: f32[2, 3], %z: f32[4, 5]) -> (%y) {
          %y: f32[2, 5] = Einsum(%x, %z) {equation="ij,jk->ik"} })",
       "the equation gives one letter to axes of different dims"},
      {R"(graph @main(%x: f32[1, 3, 4, 4], %w: f32[2, 3, 2, 2]) -> (%y) {
          %y: f32[1, 3, 5, 5] = ConvTranspose(%x, %w) })",
       "the input must have 2 channels, as the weight has"},
      {R"(graph @main(%x: f32[1, 6, 4], %s: f32[6]) -> (%y) {
          %y: f32[1, 6, 4] = GroupNormalization(%x, %s, %s) {num_groups=4} })",
       "6 channels do not divide into 4 groups"},
      {R"(graph @main(%x: f32[4, 2], %i: i64[3, 1], %u: f32[2, 2]) -> (%y) {
          %y: f32[4, 2] = ScatterND(%x, %i, %u) })",
       "the updates do not have the shape of the slices to replace"},
      {R"(graph @main(%x: f32[4, 3], %s: f32[2]) -> (%y) {
          %y: u8[4, 3] = QuantizeLinear(%x, %s) })",
       "the scale must have one element per position of its axis"},
      {R"(graph @main(%x: u8[4, 3], %w: u8[3, 2], %z: u8[3]) -> (%y) {
          %y: i32[4, 2] = MatMulInteger(%x, %w, %z) })",
       "input 2 must be one number, or one per position of its axis"},
      {R"(graph @main(%x: f64[6]) -> (%y) {
          %y: u8[6], %s: f64[], %z: u8[] = DynamicQuantizeLinear(%x) })",
       "takes f32, not f64"},
  };
  for (const ErrorCase& error : cases) {
    const Graph graph = Parse(error.graph);
    ASSERT_FALSE(graph.main_region().nodes.empty());
    const Node& node = graph.nodes[graph.main_region().nodes[0]];
    const absl::Status status = BuildNodeKernel(graph, node).status();
    EXPECT_THAT(std::string(status.message()), HasSubstr(error.message));
  }
}

}  // namespace
}  // namespace aotc
