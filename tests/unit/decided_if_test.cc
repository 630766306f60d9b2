// If nodes whose condition inference finds out.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/pass_case.h"

namespace aotc {
namespace {

using ::testing::HasSubstr;

std::string Inferred(std::string_view text) {
  PassResult result = RunCase(ParseCase(text), "expand-ops,infer-and-fold,eliminate-dead");
  EXPECT_TRUE(result.graph.ok()) << result.graph.status();
  return result.graph.ok() ? PrintGraph(*result.graph) : "";
}

// What PyTorch makes of a squeeze: a question about a size.
TEST(DecidedIf, TheBranchTakenReplacesTheNode) {
  EXPECT_EQ(Inferred(R"air(graph @main(%x: f32[n, 1, 3]) -> (%z) {
  symbol n in 2..8
  const %one: i64[] = [1]
  const %axis: i64[1] = [1]
  %shape = Shape(%x)
  %dim = Gather(%shape, %one)
  %is_one = Equal(%dim, %one)
  %y = If(%is_one)
    region else_branch() -> (%same) {
      %same = Identity(%x)
    }
    region then_branch() -> (%squeezed) {
      %squeezed = Squeeze(%x, %axis)
    }
  %z = Relu(%y)
})air"),
            R"air(graph @main(%x: f32[n, 1, 3]) -> (%z) {
  symbol n in 2..8
  const %axis: i64[1] = [1]
  %squeezed: f32[n, 3] = Squeeze(%x, %axis)
  %z: f32[n, 3] = Relu(%squeezed)
}
)air");
}

TEST(DecidedIf, ForAllSizesOfTheRunAndInBranches) {
  EXPECT_EQ(Inferred(R"air(graph @main(%x: f32[n, 3]) -> (%y, %k) {
  symbol n in 2..8
  const %zero: i64[] = [0]
  const %one: i64[] = [1]
  const %yes: bool[] = [true]
  %shape = Shape(%x)
  %dim = Gather(%shape, %zero)
  %is_one = Equal(%dim, %one)
  %y, %k = If(%is_one)
    region else_branch() -> (%b, %one) {
      %a = Exp(%x)
      %b = If(%yes)
        region else_branch() -> (%x) {
        }
        region then_branch() -> (%c) {
          %c = Neg(%a)
        }
    }
    region then_branch() -> (%x, %zero) {
    }
})air"),
            R"air(graph @main(%x: f32[n, 3]) -> (%y, %k) {
  symbol n in 2..8
  const %k_value: i64[] = [1]
  %a: f32[n, 3] = Exp(%x)
  %y: f32[n, 3] = Neg(%a)
  %k: i64[] = Identity(%k_value) loc("k (Identity)")
}
)air");
}

// n may be 1 and may be more.
TEST(DecidedIf, AConditionThatDependsOnTheRunIsNotDecided) {
  const Graph graph = CheckCase(R"air(graph @main(%x: f32[n, 3], %c: bool[]) -> (%y, %z) {
  symbol n in 1..8
  const %zero: i64[] = [0]
  const %one: i64[] = [1]
  %shape = Shape(%x)
  %dim = Gather(%shape, %zero)
  %is_one = Equal(%dim, %one)
  %y = If(%is_one) loc("by size (If, opset 17)")
    region else_branch() -> (%x) {
    }
    region then_branch() -> (%a) {
      %a = Neg(%x)
    }
  %z = If(%c) loc("by value (If, opset 17)")
    region else_branch() -> (%x) {
    }
    region then_branch() -> (%b) {
      %b = Neg(%x)
    }
})air",
                                "expand-ops,infer-and-fold");
  EXPECT_THAT(OpsOf(graph), HasSubstr("If If"));
}

// What is wrong with a branch is said of the If, with a way out.
TEST(UndecidedIf, BranchesOfOtherTypesAreRefused) {
  PassResult result =
      RunCase(ParseCase(R"air(graph @main(%x: f32[4], %c: bool[], %d: f32[]) -> (%y, %z) {
  const %zero: i64[1] = [0]
  %y = If(%c) loc("ranks (If, opset 17)")
    region else_branch() -> (%x) {
    }
    region then_branch() -> (%a) {
      %a = Unsqueeze(%x, %zero)
    }
  %z = If(%d) loc("number (If, opset 17)")
    region else_branch() -> (%x) {
    }
    region then_branch() -> (%b) {
      %b = Neg(%x)
    }
})air"),
              "expand-ops,infer-and-fold");
  ASSERT_FALSE(result.graph.ok());
  const std::string text = result.diagnostics.Render();
  EXPECT_THAT(text,
              HasSubstr("node 'ranks' (If, opset 17): output 'y' is f32[1, 4] where the condition "
                        "holds and f32[4] where it does not; hint: give both branches results of "
                        "one rank"));
  EXPECT_THAT(text, HasSubstr("node 'number' (If, opset 17): the condition has to be one bool and "
                              "is f32[]"));
}

}  // namespace
}  // namespace aotc
