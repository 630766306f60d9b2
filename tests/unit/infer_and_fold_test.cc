#include "compiler/canonicalize/infer_and_fold.h"

#include "compiler/support/strings.h"
#include "gmock/gmock.h"
#include "tests/unit/pass_case.h"

namespace aotc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const Value& ValueNamed(const Graph& graph, std::string_view name) {
  for (const Value& value : graph.values) {
    if (value.name == name) return value;
  }
  ADD_FAILURE() << "no value " << name;
  return *graph.values.begin();
}

TEST(InferAndFold, GivesTypesWhereThereWereNone) {
  Graph graph = CheckCase(R"air(
    graph @main(%x: f32[n, 3, 8, 8]) -> (%z) {
      symbol n in 1..4
      const %w: f32[4, 3, 3, 3] = random(seed=1)
      %y = Conv(%x, %w) {strides=[2, 2], pads=[1, 1, 1, 1]}
      %z = Relu(%y)
    })air",
                          "expand-ops,infer-and-fold");
  EXPECT_EQ(PrintType(ValueNamed(graph, "z").type), "f32[n, 4, 4, 4]");
}

TEST(InferAndFold, FoldsChainsOfConstants) {
  Graph graph = CheckCase(R"air(
    graph @main(%x: f32[2, 4]) -> (%y) {
      %c = Constant() {value=f32[4, 2] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]}
      %w = Transpose(%c) {perm=[1, 0]}
      %v = Mul(%w, %w)
      %y = Add(%x, %v)
    })air",
                          "expand-ops,infer-and-fold");
  EXPECT_EQ(OpsOf(graph), "Add");
  EXPECT_EQ(ValueNamed(graph, "v").constant->FloatAt(7), 64);
}

TEST(InferAndFold, StaticShapesBecomeConstants) {
  Graph graph = CheckCase(R"air(
    graph @main(%x: f32[2, 3, 4]) -> (%y) {
      const %zero: i64[] = splat(0)
      const %minus: i64[1] = [-1]
      const %axes: i64[1] = [0]
      %shape = Shape(%x)
      %first = Gather(%shape, %zero) {axis=0}
      %batch = Unsqueeze(%first, %axes)
      %target = Concat(%batch, %minus) {axis=0}
      %y = Reshape(%x, %target)
    })air",
                          "expand-ops,infer-and-fold");
  EXPECT_EQ(OpsOf(graph), "Reshape");
  EXPECT_EQ(PrintType(ValueNamed(graph, "y").type), "f32[2, 12]");
}

TEST(InferAndFold, SymbolicShapesBecomeElements) {
  Graph graph = CheckCase(R"air(
    graph @main(%x: f32[n, 3, 4]) -> (%y) {
      symbol n in 1..8
      const %zero: i64[] = splat(0)
      const %minus: i64[1] = [-1]
      const %axes: i64[1] = [0]
      %shape = Shape(%x)
      %first = Gather(%shape, %zero) {axis=0}
      %batch = Unsqueeze(%first, %axes)
      %target = Concat(%batch, %minus) {axis=0}
      %y = Reshape(%x, %target)
    })air",
                          "expand-ops,infer-and-fold");
  EXPECT_EQ(OpsOf(graph), "Elements Reshape");
  EXPECT_EQ(PrintType(ValueNamed(graph, "y").type), "f32[n, 12]");
}

// Upsampling by a factor as exporters write it: the shape takes the way of floats.
TEST(InferAndFold, ShapesByWayOfFloats) {
  Graph graph = CheckCase(R"air(
    graph @main(%x: f32[1, 2, h, 4]) -> (%y) {
      symbol h in 2..8
      const %factor: f32[4] = [1.0, 1.0, 2.5, 2.0]
      %shape = Shape(%x)
      %f = Cast(%shape) {to=1}
      %scaled = Mul(%f, %factor)
      %whole = Floor(%scaled)
      %sizes = Cast(%whole) {to=7}
      %y = Resize(%x, _, _, %sizes) {mode="nearest"}
    })air",
                          "expand-ops,infer-and-fold");
  EXPECT_EQ(OpsOf(graph), "Elements Resize");
  EXPECT_EQ(PrintType(ValueNamed(graph, "y").type), "f32[1, 2, h*2 + floor_div(h, 2), 8]");
}

TEST(InferAndFold, ConstantOutputsKeepTheirNames) {
  Graph graph = CheckCase(R"air(
    graph @main(%x: f32[2]) -> (%s, %y) {
      %s = Shape(%x)
      %y = Neg(%x)
    })air",
                          "expand-ops,infer-and-fold");
  EXPECT_EQ(ValueNamed(graph, "s").type.dims.size(), 1u);
  EXPECT_EQ(graph.values[graph.main_region().outputs[0]].name, "s");
}

constexpr std::string_view kLarge = R"air(
  graph @main(%x: f32[1000, 100]) -> (%y, %z) {
    const %row: f32[100] = random(seed=1)
    const %dims: i64[2] = [1000, 100]
    const %one: f32[] = splat(1.0)
    const %rows: i64[2] = [100, 100]
    %table = Expand(%row, %dims)
    %same = Expand(%one, %dims)
    %t = Add(%x, %table)
    %y = Add(%t, %same)
    %weight = Expand(%row, %rows)
    %z = MatMul(%x, %weight)
  })air";

TEST(InferAndFold, TheCapSparesWhatGrowsButNeverAWeight) {
  PassResult result = RunCase(ParseCase(kLarge), "expand-ops,infer-and-fold", 0,
                              {.config = {{"fold.cap-bytes", 1000}}});
  ASSERT_TRUE(result.graph.ok()) << result.graph.status();
  EXPECT_EQ(OpsOf(*result.graph), "Expand Add Add MatMul");
  EXPECT_TRUE(ValueNamed(*result.graph, "same").constant->is_splat());
  PassResult free = RunCase(ParseCase(kLarge), "expand-ops,infer-and-fold");
  ASSERT_TRUE(free.graph.ok()) << free.graph.status();
  EXPECT_EQ(OpsOf(*free.graph), "Add Add MatMul");
}

TEST(InferAndFold, AllComplaintsInOneRun) {
  PassResult result = RunCase(ParseCase(R"air(
    graph @main(%x: f32[2, 3], %n: f32[2]) -> (%a, %b, %c) {
      %a = Frobnicate(%x) loc("first (Frobnicate, opset 13)")
      %mid = MatMul(%x, %x) loc("second (MatMul, opset 13)")
      %b = Relu(%mid) loc("third (Relu, opset 13)")
      %c = Resize(%x, _, %n) loc("fourth (Resize, opset 13)")
    })air"),
                              "expand-ops,infer-and-fold");
  ASSERT_FALSE(result.graph.ok());
  std::string text = result.diagnostics.Render();
  EXPECT_EQ(result.diagnostics.error_count(), 3) << text;
  EXPECT_THAT(text, HasSubstr("node 'first' (Frobnicate, opset 13): op Frobnicate is not "
                              "supported; hint: docs/operators.md"));
  EXPECT_THAT(text, HasSubstr("node 'second' (MatMul, opset 13)"));
  EXPECT_THAT(text, HasSubstr("node 'fourth' (Resize, opset 13)"));
  EXPECT_THAT(text, HasSubstr("only a run knows the size of axis 0"));
}

TEST(InferAndFold, InputsNeedTypes) {
  PassResult result = RunCase(ParseCase(R"air(
    graph @main(%x: f32[*]) -> (%y) {
      %y = Relu(%x)
    })air"),
                              "expand-ops,infer-and-fold");
  EXPECT_THAT(result.diagnostics.Render(), HasSubstr("--shape x="));
}

TEST(InferAndFold, ContradictionsAreWarnings) {
  PassResult result = RunCase(ParseCase(R"air(
    graph @main(%x: f32[2, 3]) -> (%y) {
      %y: f32[2, 4] = Relu(%x)
    })air"),
                              "expand-ops,infer-and-fold");
  ASSERT_TRUE(result.graph.ok());
  EXPECT_THAT(result.diagnostics.Render(),
              HasSubstr("warning: 'y' is declared as f32[2, 4] but is f32[2, 3]"));
}

// Results that nothing reads are absent: those behind them keep their own types and numbers.
TEST(InferAndFold, AbsentOutputsAreSkipped) {
  Graph graph = CheckCase(R"air(
    graph @main(%x: f32[2, 5]) -> (%y, %z) {
      const %sizes: i64[3] = [1, 2, 2]
      const %numbers: f32[5] = [1.0, 2.0, 3.0, 4.0, 5.0]
      _, %y, _ = Split(%x, %sizes) {axis=1}
      _, _, %c = Split(%numbers, %sizes) {axis=0}
      %z = Add(%y, %c)
    })air",
                          "expand-ops,infer-and-fold");
  EXPECT_EQ(OpsOf(graph), "Split Add");
  EXPECT_EQ(PrintType(ValueNamed(graph, "y").type), "f32[2, 2]");
  EXPECT_EQ(ValueNamed(graph, "c").constant->FloatAt(0), 4);
}

TEST(InferAndFold, ConstantsOutOfRangeAreTheUsersError) {
  PassResult result = RunCase(ParseCase(R"air(
    graph @main(%x: f32[2]) -> (%y) {
      const %d: f32[2] = [1.0, 2.0]
      const %i: i64[1] = [5]
      %g = Gather(%d, %i) loc("pick (Gather, opset 13)")
      %y = Add(%x, %g)
    })air"),
                              "expand-ops,infer-and-fold");
  EXPECT_FALSE(result.graph.ok());
  EXPECT_THAT(result.diagnostics.Render(), HasSubstr("node 'pick' (Gather, opset 13)"));
}

// ONNX drops the dims that are 1 when the model runs: no one program has both ranks.
TEST(InferAndFold, ASqueezeDropsTheSameDimsInAllRuns) {
  const auto note = [](std::string_view squeeze, std::string_view range) {
    const std::string text = StrCat("graph @main(%x: f32[n, 1, 4]) -> (%y) { symbol n in ", range,
                                    " const %first: i64[1] = [0] %y = ", squeeze, " }");
    return RunCase(ParseCase(text), "expand-ops,infer-and-fold").diagnostics.Render();
  };
  EXPECT_THAT(note("Squeeze(%x, %first)", "1..3"),
              HasSubstr("ends a run with a status where axis 0 cannot be dropped: its dim is "));
  EXPECT_THAT(note("Squeeze(%x)", "1..3"),
              HasSubstr("ends a run with a status where the result has another rank: axis 0 has "));
  EXPECT_THAT(note("Squeeze(%x, %first)", "2..3"),
              AllOf(HasSubstr("error: "), HasSubstr("axis 0 cannot be dropped: its dim is not 1")));
  EXPECT_EQ(note("Squeeze(%x)", "2..3"), "");
  EXPECT_EQ(note("Squeeze(%x)", "1..1"), "");
  EXPECT_EQ(note("Squeeze(%x, %first)", "1..1"), "");
}

// Only where the dim is 1 may such a branch run: it looks itself.
TEST(InferAndFold, ASqueezeInABranchLooksWhereTheBranchRuns) {
  const PassResult result = RunCase(ParseCase(R"(graph @main(%x: f32[n, 4], %c: bool[]) -> (%y) {
    symbol n in 1..3
    const %first: i64[1] = [0]
    %y = If(%c)
      region else_branch() -> (%a) { %z = Squeeze(%x, %first) %a = Exp(%z) }
      region then_branch() -> (%b) { %s = ReduceMax(%x, %first) {keepdims=0} %b = Neg(%s) }
  })"),
                                    "expand-ops,infer-and-fold");
  EXPECT_THAT(result.diagnostics.Render(), HasSubstr("ends a run with a status where axis 0 "));
  ASSERT_TRUE(result.graph.ok()) << result.graph.status();
  EXPECT_TRUE(result.graph->symbols[0].checks.empty());
  const std::string text = PrintGraph(*result.graph);
  const std::string inside = text.substr(text.find("region else_branch"));
  EXPECT_THAT(inside.substr(0, inside.find("region then_branch")), HasSubstr("DefineSizes"));
}

}  // namespace
}  // namespace aotc
