// What loops are refused for, and that it is said of them.
#include "compiler/support/strings.h"
#include "gmock/gmock.h"
#include "tests/unit/pass_case.h"

namespace aotc {
namespace {

using ::testing::HasSubstr;

std::string FindingsOf(std::string_view text) {
  PassResult result = RunCase(ParseCase(text), "expand-ops,infer-and-fold");
  EXPECT_FALSE(result.graph.ok());
  return result.diagnostics.Render();
}

TEST(InferLoop, CarriedValuesThatGrowHaveABound) {
  const std::string text = FindingsOf(R"air(graph @main(%x: f32[3], %m: i64[]) -> (%y) {
  %y = Loop(%m, _, %x) loc("grows (Loop, opset 17)")
    region body(%i, %go, %v) -> (%go, %w) {
      %w = Concat(%v, %x) {axis=0}
    }
})air");
  EXPECT_THAT(text, HasSubstr("node 'grows' (Loop, opset 17): only a run knows how large 'y:0' "
                              "becomes, which is y_0 + 3 after an iteration; hint: give the most "
                              "that it may be, such as --bound y:0=64"));
}

// Only a dim that data decide is held to what the body declares.
TEST(InferLoop, WhatABodyDeclaresOfAStateThatGrowsIsStale) {
  PassResult result = RunCase(ParseCase(R"air(graph @main(%x: f32[3]) -> (%y) {
  const %trip: i64[] = [3]
  %y = Loop(%trip, _, %x)
    region body(%i: i64[], %go: bool[], %v: f32[3]) -> (%go, %w) {
      %w = Concat(%v, %x) {axis=0}
    }
})air"),
                              "expand-ops,infer-and-fold");
  ASSERT_TRUE(result.graph.ok()) << result.graph.status();
  for (const Symbol& symbol : result.graph->symbols) {
    EXPECT_EQ(symbol.min, 0) << symbol.var;
    EXPECT_EQ(symbol.max, 12) << symbol.var;
  }
  const auto outputs = EvaluateGraph(*result.graph, {Constant::SplatInt(DType::kF32, {3}, 1)});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ((*outputs)[0].dims(), std::vector<int64_t>({12}));
}

TEST(InferLoop, CarriedValuesKeepTheirRanks) {
  const std::string text = FindingsOf(R"air(graph @main(%x: f32[3], %m: i64[]) -> (%y) {
  const %zero: i64[1] = [0]
  %y = Loop(%m, _, %x) loc("rises (Loop, opset 17)")
    region body(%i, %go, %v) -> (%go, %w) {
      %w = Unsqueeze(%v, %zero)
    }
})air");
  EXPECT_THAT(text, HasSubstr("node 'rises' (Loop, opset 17): what it carries from 'w' to 'v' is "
                              "f32[1, 3] after an iteration and f32[3] before; hint: "));
}

TEST(InferLoop, WhatIsStackedHasABound) {
  constexpr std::string_view kBody = R"air( loc("stacks (Loop, opset 17)")
    region body(%i, %go) -> (%go, %w) {
      %w = Neg(%x)
    }
})air";
  const std::string count =
      FindingsOf(StrCat("graph @main(%x: f32[3], %m: i64[]) -> (%s) { %s = Loop(%m, _)", kBody));
  EXPECT_THAT(count,
              HasSubstr("node 'stacks' (Loop, opset 17): only a run knows the size of axis 0 "
                        "of 's', which is max(m, 0); hint: "));
  const std::string condition =
      FindingsOf(StrCat("graph @main(%x: f32[3], %c: bool[]) -> (%s) { %s = Loop(_, %c)", kBody));
  EXPECT_THAT(condition, HasSubstr("node 'stacks' (Loop, opset 17): stacks values of its "
                                   "iterations, whose number only the run knows; hint: "));
}

TEST(InferLoop, ALoopEnds) {
  const std::string text = FindingsOf(R"air(graph @main(%x: f32[3]) -> (%y) {
  const %yes: bool[] = splat(true)
  %y = Loop(_, %yes, %x) loc("for ever (Loop, opset 17)")
    region body(%i, %go, %v) -> (%again, %w) {
      %again = Identity(%go)
      %w = Neg(%v)
    }
})air");
  EXPECT_THAT(text, HasSubstr("node 'for ever' (Loop, opset 17): its condition always holds"));
}

TEST(InferLoop, CountAndConditionAreScalars) {
  const std::string text =
      FindingsOf(R"air(graph @main(%x: f32[3], %m: f32[], %n: i64[], %c: bool[2]) -> (%y, %z) {
  %y = Loop(%m, _, %x) loc("one (Loop, opset 17)")
    region body(%i, %go, %v) -> (%go, %w) {
      %w = Neg(%v)
    }
  %z = Loop(%n, %c, %x) loc("two (Loop, opset 17)")
    region body(%i2, %go2, %v2) -> (%go2, %w2) {
      %w2 = Neg(%v2)
    }
})air");
  EXPECT_THAT(text, HasSubstr("'one' (Loop, opset 17): the count has to be one i64 and is f32[]"));
  EXPECT_THAT(text, HasSubstr("'two' (Loop, opset 17): the condition has to be one bool and is "
                              "bool[2]"));
}

constexpr std::string_view kScan = R"air(graph @main(%x: f32[3, 2], %u: f32[N, 2]) -> (%y) {
  %y = Scan(%x, %u) {num_scan_inputs=2ATTRIBUTES} loc("rows (Scan, opset 17)")
    region body(%a, %b) -> (%s) {
      %s = Add(%a, %b)
    }
})air";

std::string ScanText(std::string_view rows, std::string_view attributes) {
  std::string text(kScan);
  text.replace(text.find('N'), 1, rows);
  text.replace(text.find("ATTRIBUTES"), 10, attributes);
  return text;
}

TEST(InferLoop, AllThatAScanReadsIsOfOneLength) {
  EXPECT_THAT(
      FindingsOf(ScanText("4", "")),
      HasSubstr("node 'rows' (Scan, opset 17): scans inputs of different lengths, 3 and 4"));
}

TEST(InferLoop, AxesOfAScanAreInRange) {
  EXPECT_THAT(FindingsOf(ScanText("3", ", scan_input_axes=[0, 2]")),
              HasSubstr("node 'rows' (Scan, opset 17): axis 2 is out of range for rank 2"));
  EXPECT_THAT(FindingsOf(ScanText("3", ", scan_output_axes=[2]")),
              HasSubstr("axis 2 of what it stacks is out of range for rank 2"));
  EXPECT_THAT(FindingsOf(ScanText("3", ", scan_output_directions=[2]")),
              HasSubstr("'scan_output_directions' holds other numbers than 0 and 1"));
  EXPECT_THAT(FindingsOf(ScanText("3", ", scan_input_directions=[0]")),
              HasSubstr("'scan_input_directions' has 1 elements, not 2"));
}

}  // namespace
}  // namespace aotc
