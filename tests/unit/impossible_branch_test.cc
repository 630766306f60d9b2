#include "compiler/canonicalize/impossible_branch.h"

#include "gmock/gmock.h"
#include "tests/unit/pass_case.h"

namespace aotc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kInfer = "expand-ops,infer-and-fold";

absl::StatusOr<std::vector<int64_t>> DimsOf(const Graph& graph, bool taken) {
  const absl::StatusOr<std::vector<Constant>> results = EvaluateGraph(
      graph, {Constant::SplatInt(DType::kF32, {4}, 1), Constant::SplatInt(DType::kF32, {3}, 1),
              Constant::SplatInt(DType::kBool, {}, taken ? 1 : 0)});
  if (!results.ok()) return results.status();
  return (*results)[0].dims();
}

TEST(ImpossibleBranch, ARunThatTakesItEndsWithAStatus) {
  PassResult result = RunCase(ParseCase(R"air(graph @main(%x: f32[4], %w: f32[3], %c: bool[])
      -> (%y) {
  %y = If(%c) loc("either (If, opset 17)")
    region then_branch() -> (%a) { %a = Add(%x, %w) loc("sum (Add, opset 17)") }
    region else_branch() -> (%b) { %b = Neg(%x) } })air"),
                              kInfer);
  ASSERT_TRUE(result.graph.ok()) << result.graph.status();
  EXPECT_THAT(result.diagnostics.Render(),
              HasSubstr("note: node 'either' (If, opset 17): ends a run with a status where its "
                        "then_branch is taken: node 'sum' (Add, opset 17): "));
  EXPECT_THAT(*DimsOf(*result.graph, false), ElementsAre(4));
  EXPECT_THAT(std::string(DimsOf(*result.graph, true).status().message()),
              HasSubstr("node 'sum' (Add, opset 17)"));
}

TEST(ImpossibleBranch, WhereBothAreItIsAnError) {
  PassResult result = RunCase(ParseCase(R"air(graph @main(%x: f32[4], %w: f32[3], %c: bool[])
      -> (%y) {
  %y = If(%c)
    region then_branch() -> (%a) { %a = Add(%x, %w) }
    region else_branch() -> (%b) { %b = Sub(%x, %w) } })air"),
                              kInfer);
  EXPECT_FALSE(result.graph.ok());
}

TEST(ImpossibleBranch, WhatIsNotSupportedIsAnError) {
  PassResult result = RunCase(ParseCase(R"air(graph @main(%x: f32[4], %c: bool[]) -> (%y) {
  %y = If(%c)
    region then_branch() -> (%a) { %a = Mystery(%x) }
    region else_branch() -> (%b) { %b = Neg(%x) } })air"),
                              kInfer);
  EXPECT_FALSE(result.graph.ok());
}

}  // namespace
}  // namespace aotc
