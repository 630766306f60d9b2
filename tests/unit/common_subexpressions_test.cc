#include "gtest/gtest.h"
#include "tests/unit/pass_case.h"

namespace aotc {
namespace {

std::string Merged(std::string_view text) {
  PassResult result = RunCase(ParseCase(text), "common-subexpressions", kTyped | kExpanded);
  EXPECT_TRUE(result.graph.ok()) << result.graph.status();
  return result.graph.ok() ? PrintGraph(*result.graph) : "";
}

TEST(CommonSubexpressions, RegionsReadOuterValuesButNotEachOthers) {
  EXPECT_EQ(Merged(R"air(graph @main(%c: bool[], %x: f32[2]) -> (%s, %o) {
  %a: f32[2] = Neg(%x)
  %s: f32[2] = If(%c)
    region else_branch() -> (%p) {
      %b: f32[2] = Neg(%x)
      %d: f32[2] = Exp(%x)
      %p: f32[2] = Add(%b, %d)
    }
    region then_branch() -> (%q) {
      %e: f32[2] = Exp(%x)
      %f: f32[2] = Exp(%x)
      %q: f32[2] = Mul(%e, %f)
    }
  %g: f32[2] = Exp(%x)
  %o: f32[2] = Sub(%a, %g)
})air"),
            R"air(graph @main(%c: bool[], %x: f32[2]) -> (%s, %o) {
  %a: f32[2] = Neg(%x)
  %s: f32[2] = If(%c)
    region else_branch() -> (%p) {
      %d: f32[2] = Exp(%x)
      %p: f32[2] = Add(%a, %d)
    }
    region then_branch() -> (%q) {
      %e: f32[2] = Exp(%x)
      %q: f32[2] = Mul(%e, %e)
    }
  %g: f32[2] = Exp(%x)
  %o: f32[2] = Sub(%a, %g)
}
)air");
}

TEST(CommonSubexpressions, LeavesNodesWithRegionsAlone) {
  constexpr std::string_view kText = R"air(graph @main(%c: bool[], %x: f32[2]) -> (%s, %t) {
  %s: f32[2] = If(%c)
    region else_branch() -> (%e1) {
      %e1: f32[2] = Abs(%x)
    }
    region then_branch() -> (%p) {
      %p: f32[2] = Neg(%x)
    }
  %t: f32[2] = If(%c)
    region else_branch() -> (%e2) {
      %e2: f32[2] = Abs(%x)
    }
    region then_branch() -> (%q) {
      %q: f32[2] = Exp(%x)
    }
}
)air";
  EXPECT_EQ(Merged(kText), kText);
}

// Import gives each node a stream of its own.
TEST(CommonSubexpressions, NodesDrawTheirOwnRandomNumbers) {
  constexpr std::string_view kText = R"air(graph @main(%x: f32[2]) -> (%y) {
  %a: f32[2] = RandomNormalLike(%x) {stream=1}
  %b: f32[2] = RandomNormalLike(%x) {stream=2}
  %y: f32[2] = Sub(%a, %b)
}
)air";
  EXPECT_EQ(Merged(kText), kText);
}

// A node whose results are partly unused is not the one that gives them all.
TEST(CommonSubexpressions, UnusedResultsAreNotInvented) {
  constexpr std::string_view kText = R"air(graph @main(%x: f32[4]) -> (%y) {
  %a: f32[2], _ = Split(%x) {num_outputs=2}
  %b: f32[2], %c: f32[2] = Split(%x) {num_outputs=2}
  %d: f32[2] = Sub(%b, %c)
  %y: f32[2] = Mul(%a, %d)
}
)air";
  EXPECT_EQ(Merged(kText), kText);
}

}  // namespace
}  // namespace aotc
