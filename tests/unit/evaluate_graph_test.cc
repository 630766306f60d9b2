#include "compiler/eval/evaluate.h"
#include "compiler/ir/graph_text.h"
#include "compiler/ops/op.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

Graph Parse(std::string_view text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *graph : Graph();
}

TEST(EvaluateGraph, RunsNodesInOrder) {
  Graph graph = Parse(R"air(
    graph @main(%x: f32[n, 3]) -> (%z) {
      symbol n in 1..8
      const %w: f32[3, 2] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
      %y: f32[n, 2] = MatMul(%x, %w)
      %z: f32[n, 2] = Relu(%y)
    })air");
  Constant x = Constant::Splat(DType::kF32, {4, 3}, 1);
  auto z = EvaluateGraph(graph, {x});
  ASSERT_TRUE(z.ok()) << z.status();
  EXPECT_EQ((*z)[0].dims(), (std::vector<int64_t>{4, 2}));
  EXPECT_EQ((*z)[0].FloatAt(7), 12);
  auto all = EvaluateAllValues(graph, {x});
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_TRUE(all->count("y") == 1 && all->count("w") == 1 && all->count("z") == 1);
}

// Types are not needed: shape operands get their values on the way.
TEST(EvaluateGraph, ShapeOperandsMayBeComputed) {
  Graph graph = Parse(R"air(
    graph @main(%x: f32[2, 6]) -> (%y) {
      const %two: i64[1] = [3]
      const %rest: i64[1] = [-1]
      %shape: i64[2] = Concat(%two, %rest) {axis=0}
      %y: f32[3, 4] = Reshape(%x, %shape)
    })air");
  Constant x = Constant::Random(DType::kF32, {2, 6}, 1);
  auto y = EvaluateGraph(graph, {x});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_TRUE((*y)[0].SameValue(x.Reshaped({3, 4})));
}

TEST(EvaluateGraph, InputsMustFit) {
  Graph graph = Parse(R"air(
    graph @main(%x: f32[2, n], %y: f32[n]) -> (%z) {
      symbol n in 1..8
      %z: f32[2, n] = Add(%x, %y)
    })air");
  auto evaluate = [&](int64_t a, int64_t b) {
    return EvaluateGraph(graph, {Constant::Splat(DType::kF32, {2, a}, 1),
                                 Constant::Splat(DType::kF32, {b}, 1)})
        .status();
  };
  EXPECT_TRUE(evaluate(5, 5).ok());
  EXPECT_EQ(evaluate(5, 4).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(EvaluateGraph(graph, {}).status().code(), absl::StatusCode::kInternal);
}

TEST(EvaluateGraph, ElementsOfInputsStateSymbols) {
  Graph graph = Parse(R"air(
    graph @main(%x: f32[1, 3], %s: i64[2] elements(n*2, 3)) -> (%y) {
      symbol n in 0..4
      %y: f32[n*2, 3] = Expand(%x, %s)
    })air");
  auto evaluate = [&](int64_t rows, int64_t columns) {
    std::vector<uint8_t> bytes(16);
    StoreIntElement(DType::kI64, bytes.data(), 0, rows);
    StoreIntElement(DType::kI64, bytes.data(), 1, columns);
    return EvaluateGraph(
        graph, {Constant::Splat(DType::kF32, {1, 3}, 1), Constant::Dense(DType::kI64, {2}, bytes)});
  };
  const auto y = evaluate(8, 3);
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ((*y)[0].dims(), (std::vector<int64_t>{8, 3}));
  EXPECT_EQ(evaluate(0, 3)->at(0).dims(), (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(evaluate(10, 3).status().message(), "element 0 of input 's' is 10, not within 0 .. 8");
  EXPECT_EQ(evaluate(-2, 3).status().message(), "element 0 of input 's' is -2, not within 0 .. 8");
  EXPECT_EQ(evaluate(5, 3).status().message(), "element 0 of input 's' is 5, not of the form n*2");
  EXPECT_EQ(evaluate(8, 4).status().message(), "element 1 of input 's' is 4, not within 3 .. 3");
  EXPECT_EQ(evaluate(8, 4).status().code(), absl::StatusCode::kOutOfRange);
}

TEST(EvaluateGraph, ErrorsNameTheNode) {
  Graph graph = Parse(R"air(
    graph @main(%x: f32[4]) -> (%y) {
      const %i: i64[1] = [9]
      %y: f32[1] = Gather(%x, %i) {axis=0} loc("pick (Gather)")
    })air");
  absl::Status status = EvaluateGraph(graph, {Constant::Splat(DType::kF32, {4}, 1)}).status();
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("node 'pick' (Gather)"), std::string::npos) << status;
}

TEST(EvaluateNode, ReshapesShareBytesAndKeepSplats) {
  Graph graph = Parse(R"air(
    graph @main(%x: f32[60, 70]) -> (%y) {
      const %shape: i64[2] = [50, 84]
      %y: f32[50, 84] = Reshape(%x, %shape)
    })air");
  Constant shape = Constant::Ints({50, 84}), dense = Constant::Random(DType::kF32, {60, 70}, 1);
  const Node& node = *graph.nodes.begin();
  auto splat = EvaluateNode(graph, node, {Constant::Splat(DType::kF32, {60, 70}, 2), shape});
  ASSERT_TRUE(splat.ok()) << splat.status();
  EXPECT_TRUE((*splat)[0].is_splat());
  auto y = EvaluateNode(graph, node, {dense, shape});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ((*y)[0].bytes().data(), dense.bytes().data());
  EXPECT_EQ((*y)[0].dims(), (std::vector<int64_t>{50, 84}));
}

// Shape of [n, 3, h, 2*h], then arithmetic on it.
TEST(EvaluateSymbolically, ShapeArithmetic) {
  Graph graph = Parse(R"air(
    graph @main(%x: f32[n, 3, h, 2*h], %s: i64[4]) -> (%y, %p, %c) {
      symbol n in 1..8
      symbol h in 8..64
      const %axes: i64[2] = [2, 3]
      const %half: f32[] = splat(2.5)
      %shape: i64[4] = Shape(%x)
      %hw: i64[2] = Gather(%s, %axes) {axis=0}
      %y: i64[2] = Mul(%hw, %hw)
      %p: i64[] = ReduceProd(%s) {keepdims=0}
      %f: f32[4] = Cast(%s) {to=1}
      %m: f32[4] = Mul(%f, %half)
      %fl: f32[4] = Floor(%m)
      %c: i64[4] = Cast(%fl) {to=7}
    })air");
  std::map<std::string, std::vector<Expr>> elements;
  auto run = [&](const Node& node) -> std::vector<Expr> {
    absl::StatusOr<NodeKernel> kernel = BuildNodeKernel(graph, node);
    if (!kernel.ok()) ADD_FAILURE() << kernel.status();
    std::vector<std::vector<Expr>> inputs;
    for (ValueId id : kernel->inputs) {
      const Value& value = graph.values[id];
      if (elements.count(value.name) != 0) {
        inputs.push_back(elements[value.name]);
      } else if (value.constant && IsFloat(value.constant->dtype())) {
        inputs.push_back({FloatConst(value.constant->FloatAt(0))});
      } else {
        inputs.emplace_back();
        for (int64_t i : value.constant->AsInts()) inputs.back().push_back(Expr(i));
      }
    }
    auto result = EvaluateSymbolically(kernel->kernel, inputs, BoundsOf(graph.symbols));
    if (!result.ok()) ADD_FAILURE() << node.op << ": " << result.status();
    return result.ok() ? (*result)[0] : std::vector<Expr>();
  };
  for (const Node& node : graph.nodes) {
    std::string name = graph.values[node.outputs[0]].name;
    elements[name] = run(node);
    if (name == "shape") elements["s"] = elements[name];
  }
  Expr n = Var("n"), h = Var("h");
  auto same = [](const std::vector<Expr>& actual, const std::vector<Expr>& expected) {
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) EXPECT_TRUE(ProveEqual(actual[i], expected[i])) << i;
  };
  same(elements["shape"], {n, 3, h, h * 2});
  same(elements["hw"], {h, h * 2});
  same(elements["y"], {h * h, h * h * 4});
  same(elements["p"], {n * h * h * 6});
  same(elements["c"], {FloorDiv(n * 5, 2), 7, FloorDiv(h * 5, 2), h * 5});
}

TEST(EvaluateSymbolically, UnknownElementsAreAnError) {
  Graph graph = Parse(R"air(
    graph @main(%s: i64[2]) -> (%y) {
      %y: i64[2] = Neg(%s)
    })air");
  absl::StatusOr<NodeKernel> kernel = BuildNodeKernel(graph, *graph.nodes.begin());
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_FALSE(EvaluateSymbolically(kernel->kernel, {{}}, {}).ok());
}

}  // namespace
}  // namespace aotc
