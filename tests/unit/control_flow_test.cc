#include "compiler/ir/control_flow.h"

#include "compiler/ir/graph_text.h"
#include "gmock/gmock.h"

namespace aotc {
namespace {

using ::testing::HasSubstr;

std::string ProblemsOf(std::string_view text) {
  const absl::StatusOr<Graph> graph = ParseGraph(std::string(text));
  EXPECT_TRUE(graph.ok()) << graph.status();
  const absl::Status structure = VerifyStructure(*graph);
  EXPECT_TRUE(structure.ok()) << structure;
  return VerifyGraph(*graph).ToString();
}

TEST(ControlFlow, OutputsOfBranchesAreTheirOwn) {
  EXPECT_THAT(ProblemsOf(R"air(graph @g(%c: bool[], %x: f32[2]) -> (%y, %z) {
  %y: f32[2], %z: f32[2] = If(%c)
    region else_branch() -> (%x, %m) {
      %m: f32[2] = Neg(%x)
    }
    region then_branch() -> (%n, %n) {
      %n: f32[2] = Relu(%x)
    }
})air"),
              AllOf(HasSubstr("a region's output: value 'x'"), HasSubstr("value 'n'")));
}

TEST(ControlFlow, BranchesAndConditionHaveTheTypesOfTheNode) {
  EXPECT_THAT(ProblemsOf(R"air(graph @g(%c: bool[1], %x: f32[2]) -> (%y) {
  %y: f32[2] = If(%c) loc("choose (If, opset 17)")
    region else_branch() -> (%m) {
      %m: f32[3] = Neg(%x)
    }
    region then_branch() -> (%n) {
      %n: f32[2] = Relu(%x)
    }
})air"),
              AllOf(HasSubstr("node 'choose' (If, opset 17): its condition is bool[1], not bool[]"),
                    HasSubstr("else_branch 'm' is f32[3], not f32[2]")));
}

TEST(ControlFlow, WhatARepeatCarriesKeepsItsType) {
  EXPECT_THAT(ProblemsOf(R"air(graph @g(%t: i64[], %c: bool[], %x: f32[2]) -> (%y, %s) {
  %y: f32[2], %s: f32[4, 2] = Repeat(_, %c, %x)
    region body(%v: f32[2]) -> (%d, %n, %s0) {
      %d: bool[] = Identity(%c)
      %n: f32[3] = Relu(%v)
      %s0: f32[3] = Neg(%v)
    }
})air"),
              AllOf(HasSubstr("stacks values without a count"),
                    HasSubstr("the next 'n' is f32[3], not f32[2]"),
                    HasSubstr("what it stacks, 's0' is f32[3], not f32[2]")));
}

constexpr std::string_view kRepeat = R"air(graph @g(%t: i64[], %x: f32[2], %u: f32[2]) -> (%z, %s) {
  _, %z: f32[2], %s: f32[t, 2], _ = Repeat(%t, _, %u, %x)
    region body(%p: f32[2], %q: f32[2]) -> (%p1, %q1, %s0, %s1) {
      %p1: f32[2] = Neg(%p)
      %q1: f32[2] = Relu(%q)
      %s0: f32[2] = Exp(%q)
      %s1: f32[2] = Sin(%p)
    }
})air";

TEST(ControlFlow, FindsWhatIsReadOfARepeat) {
  std::string text(kRepeat);
  text.insert(text.find("  _,"), "  symbol t in 0..4\n");
  const absl::StatusOr<Graph> graph = ParseGraph(text);
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_TRUE(VerifyGraph(*graph).ok()) << VerifyGraph(*graph);
  const Node& repeat = graph->nodes[graph->main_region().nodes[0]];
  const RepeatForm form = FormOf(*graph, repeat);
  EXPECT_EQ(form.carried, 2);
  EXPECT_EQ(form.stacked, 2);
  EXPECT_EQ(form.first_next, 0);
  IdVector<ValueId, char> needed(graph->values.size(), 0);
  for (ValueId output : graph->main_region().outputs) needed[output] = 1;
  const LivePorts live = LivePortsOf(*graph, repeat, needed);
  EXPECT_EQ(live.node_inputs, (std::vector<char>{1, 1, 0, 1}));
  EXPECT_EQ(live.node_outputs, (std::vector<char>{0, 1, 1, 0}));
  EXPECT_EQ(live.region_inputs, (std::vector<char>{0, 1}));
  EXPECT_EQ(live.region_outputs, (std::vector<char>{0, 1, 1, 0}));
}

}  // namespace
}  // namespace aotc
