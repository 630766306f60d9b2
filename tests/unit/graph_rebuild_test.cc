#include "compiler/ir/graph_rebuild.h"

#include "compiler/ir/graph_text.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

absl::StatusOr<bool> DropIdentities(Rebuilder& rebuilder, const Node& node) {
  if (node.op != "Identity") return false;
  rebuilder.Replace(node.outputs[0], rebuilder.Mapped(node.inputs[0]));
  return true;
}

std::string Rebuilt(const std::string& text, const NodeVisitor& visit) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  if (!graph.ok()) return graph.status().ToString();
  absl::StatusOr<Graph> result = RebuildGraph(*graph, visit);
  if (!result.ok()) return result.status().ToString();
  if (absl::Status status = VerifyStructure(*result); !status.ok()) return status.ToString();
  return PrintGraph(*result);
}

TEST(GraphRebuild, DropsNodesConstantsAndOutputsThatNothingNeeds) {
  Graph graph = *ParseGraph(R"air(graph @g(%x: f32[2], %unused: f32[2]) -> (%y) {
  const %a: f32[2] = splat(1.0)
  const %b: f32[2] = splat(2.0)
  %dead: f32[2] = Add(%x, %b)
  %y: f32[2], %mask: bool[2] = Dropout(%x)
}
)air");
  EXPECT_EQ(PrintGraph(DropDead(graph)), R"air(graph @g(%x: f32[2], %unused: f32[2]) -> (%y) {
  %y: f32[2], _ = Dropout(%x)
}
)air");
}

TEST(GraphRebuild, RegionsAreRebuiltAndKeepWhatTheyCapture) {
  EXPECT_EQ(Rebuilt(R"air(graph @g(%c: bool[], %x: f32[2]) -> (%y) {
  const %one: f32[2] = splat(1.0)
  %same: f32[2] = Identity(%x)
  %y: f32[2] = If(%c)
    region else_branch() -> (%e) {
      %e: f32[2] = Identity(%same)
    }
    region then_branch() -> (%t) {
      %n: f32[2] = Add(%same, %one)
      %t: f32[2] = Identity(%n)
    }
}
)air",
                    DropIdentities),
            R"air(graph @g(%c: bool[], %x: f32[2]) -> (%y) {
  const %one: f32[2] = splat(1.0)
  %y: f32[2] = If(%c)
    region else_branch() -> (%x_copy) {
      %x_copy: f32[2] = Identity(%x) loc("x_copy (Identity)")
    }
    region then_branch() -> (%n) {
      %n: f32[2] = Add(%x, %one)
    }
}
)air");
}

TEST(GraphRebuild, OutputsKeepTheirNames) {
  EXPECT_EQ(Rebuilt(R"air(graph @g(%x: f32[2]) -> (%y) {
  %t: f32[2] = Relu(%x)
  %y: f32[2] = Identity(%t)
}
)air",
                    DropIdentities),
            R"air(graph @g(%x: f32[2]) -> (%y) {
  %y: f32[2] = Relu(%x)
}
)air");
}

TEST(GraphRebuild, AnIdentityStandsBeforeOutputsThatAreInputsOrTwins) {
  const std::string text = R"air(graph @g(%x: f32[2]) -> (%a, %b, %c) {
  %t: f32[2] = Relu(%x)
  %a: f32[2] = Identity(%x) loc("a (Identity)")
  %b: f32[2] = Identity(%t) loc("b (Identity)")
  %c: f32[2] = Identity(%t) loc("c (Identity)")
}
)air";
  const std::string expected = R"air(graph @g(%x: f32[2]) -> (%a, %b, %c) {
  %b: f32[2] = Relu(%x)
  %a: f32[2] = Identity(%x) loc("a (Identity)")
  %c: f32[2] = Identity(%b) loc("c (Identity)")
}
)air";
  EXPECT_EQ(Rebuilt(text, DropIdentities), expected);
  EXPECT_EQ(Rebuilt(expected, DropIdentities), expected);
}

TEST(GraphRebuild, EmittedValuesTakeTheNameOfWhatTheyReplace) {
  auto expand = [](Rebuilder& rebuilder, const Node& node) -> absl::StatusOr<bool> {
    if (node.op != "Swish") return false;
    ValueId x = rebuilder.Mapped(node.inputs[0]);
    ValueType type = rebuilder.graph().values[x].type;
    ValueId s = rebuilder.Emit("Sigmoid", {x}, {}, type, node);
    rebuilder.Replace(node.outputs[0], rebuilder.Emit("Mul", {x, s}, {}, type, node));
    return true;
  };
  EXPECT_EQ(Rebuilt(R"air(graph @g(%x: f32[2]) -> (%z) {
  %y: f32[2] = Swish(%x) loc("s (Swish)")
  %z: f32[2] = Relu(%y)
}
)air",
                    expand),
            R"air(graph @g(%x: f32[2]) -> (%z) {
  %y_sigmoid: f32[2] = Sigmoid(%x) loc("s (Swish)")
  %y: f32[2] = Mul(%x, %y_sigmoid) loc("s (Swish)")
  %z: f32[2] = Relu(%y)
}
)air");
}

TEST(GraphRebuild, FunctionsAreRebuiltToo) {
  EXPECT_EQ(Rebuilt(R"air(graph @g(%x: f32[2]) -> (%y) {
  function @f(%a) -> (%c) {
    %b = Identity(%a)
    %c = Relu(%b)
  }
  %y: f32[2] = f(%x)
}
)air",
                    DropIdentities),
            R"air(graph @g(%x: f32[2]) -> (%y) {
  function @f(%a) -> (%c) {
    %c = Relu(%a)
  }
  %y: f32[2] = f(%x)
}
)air");
}

TEST(Graph, NamesAreUnique) {
  Graph graph;
  ValueId a = graph.AddValue("a", {}), b = graph.AddValue("a", {}), c = graph.AddValue("", {});
  EXPECT_EQ(graph.values[a].name, "a");
  EXPECT_EQ(graph.values[b].name, "a_2");
  EXPECT_EQ(graph.values[c].name, "value");
  graph.ClaimName(b, "a");
  EXPECT_EQ(graph.values[b].name, "a");
  EXPECT_EQ(graph.values[a].name, "a_inner");
}

}  // namespace
}  // namespace aotc
