#include "compiler/ir/graph_text.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

using ::testing::HasSubstr;

TEST(GraphText, LongConstantsPrintAsHashesThatStandForThem) {
  Graph graph = *ParseGraph(R"air(graph @g() -> (%y) {
    const %w: f32[100] = random(seed=1)
    %y: f32[100] = Identity(%w)
  })air");
  std::string text = PrintGraph(graph);
  EXPECT_THAT(text, HasSubstr("const %w: f32[100] = #"));
  EXPECT_EQ(PrintGraph(*ParseGraph(text)), text);
  EXPECT_EQ(PrintGraph(*ParseGraph(PrintGraph(graph, 100)), 100), PrintGraph(graph, 100));
}

std::string ParseError(const std::string& body) {
  absl::StatusOr<Graph> graph = ParseGraph("graph @g(%x: f32[2]) -> (%y) {\n" + body + "\n}");
  return graph.ok() ? "parsed" : std::string(graph.status().message());
}

TEST(GraphText, ErrorsNameLineAndColumn) {
  EXPECT_THAT(ParseError("%y = Relu(%z)"), HasSubstr("2:"));
  EXPECT_THAT(ParseError("%y = Relu(%z)"), HasSubstr("'%z' is not defined"));
  EXPECT_THAT(ParseError("%x = Relu(%x)"), HasSubstr("defined twice"));
  EXPECT_THAT(ParseError("%y: f99[2] = Relu(%x)"), HasSubstr("expected a type"));
  EXPECT_THAT(ParseError("%y = Relu(%x) {a=1, a=2}"), HasSubstr("given twice"));
  EXPECT_THAT(ParseError("const %c: f32[4] = [1.0, 2.0]"), HasSubstr("expected"));
  EXPECT_THAT(ParseError("const %c: f32[9999999999, 9999999999] = splat(1.0)"),
              HasSubstr("impossible dims"));
  EXPECT_THAT(ParseError("symbol n in 5..4"), HasSubstr("has no values"));
  EXPECT_THAT(ParseError("%z = Relu(%x)"), HasSubstr("'%y' is not defined"));
}

TEST(GraphText, DeepNestingIsAnErrorNotAnOverflow) {
  std::string type;
  for (int i = 0; i < 100000; ++i) type += "optional(";
  EXPECT_THAT(ParseError("%y: " + type + " = Relu(%x)"), HasSubstr("nested too deeply"));
}

TEST(GraphVerify, ReportsEveryViolation) {
  Graph graph;
  ValueId x = graph.AddValue("x", TensorType(DType::kF32, {Var("n")}));
  ValueId y = graph.AddValue("y", UnknownType());
  ValueId z = graph.AddValue("z", TensorType(DType::kF32, {2}));
  graph.main_region().inputs = {x, x};
  graph.AddNode(graph.main, {.op = "Relu", .inputs = {z}, .outputs = {y}});
  graph.values[z].name = "y";
  graph.main_region().outputs = {y};
  std::string message(VerifyGraph(graph).message());
  EXPECT_THAT(message, HasSubstr("unknown symbol 'n'"));
  EXPECT_THAT(message, HasSubstr("value 'x' a second time"));
  EXPECT_THAT(message, HasSubstr("before its definition"));
  EXPECT_THAT(message, HasSubstr("its type is not known"));
  EXPECT_THAT(message, HasSubstr("two values are called 'y'"));
}

TEST(GraphVerify, ValuesOfARegionEndWithIt) {
  absl::StatusOr<Graph> graph = ParseGraph(R"air(graph @g(%c: bool[]) -> (%z) {
    %y: bool[] = If(%c)
      region then_branch() -> (%t) {
        %t: bool[] = Not(%c)
      }
    %z: bool[] = Not(%t)
  })air");
  ASSERT_TRUE(graph.ok());
  EXPECT_THAT(VerifyGraph(*graph).ToString(), HasSubstr("reads value 't' before"));
}

}  // namespace
}  // namespace aotc
