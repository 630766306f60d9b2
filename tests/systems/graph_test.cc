// Rows about graphs and passes, on texts.
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "compiler/canonicalize/limit_operands.h"
#include "compiler/fuse/fuse.h"
#include "compiler/plan/assign_arena.h"
#include "compiler/support/strings.h"
#include "tests/unit/generated_page.h"
#include "tests/unit/pass_case.h"

namespace aotc {
namespace {

constexpr char kInference[] = "expand-ops,infer-and-fold";

Graph Typed(std::string_view text) {
  PassResult result = RunCase(ParseCase(text), kInference);
  EXPECT_TRUE(result.graph.ok()) << result.graph.status() << result.diagnostics.Render();
  return result.graph.ok() ? *std::move(result.graph) : Graph();
}

TEST(Row04_OptimizeImpl, ThePageOfPassesIsCurrent) {
  ExpectPageIsCurrent(
      "docs/passes.md",
      "# Passes\n\nIn the order in which they run; each at its level of `-O` and above. Generated "
      "by\n`AOTC_UPDATE=1 build/tests/systems_test --gtest_filter='Row04*'`, and what `aotc\n"
      "--print-pipeline` prints.\n\n```\n" +
          DescribePipeline() + "```\n");
}

// There are tensors and containers of them; a text cannot even state a value that is a function.
TEST(Row22_EtaExpand, ValuesAreTensorsOnly) {
  EXPECT_FALSE(ParseGraph("graph @main(%f: fn(f32[2])) -> (%f) {\n}").ok());
  EXPECT_FALSE(ParseGraph("graph @main(%x: f32[2]) -> (@f) {\n}").ok());
}

TEST(Row28_FoldScaleAxis, ANegativeScaleDoesNotPassARelu) {
  const Graph graph = CheckCase(R"air(graph @main(%x: f32[2, 4, 5, 5]) -> (%y) {
  const %w: f32[4, 4, 1, 1] = random(seed=1)
  const %v: f32[4, 4, 1, 1] = random(seed=2)
  const %scale: f32[4, 1, 1] = [-1.0, 2.0, -3.0, 0.5]
  %c = Conv(%x, %w)
  %r = Relu(%c)
  %m = Mul(%r, %scale)
  %s = Relu(%m)
  %y = Conv(%s, %v)
})air",
                                "expand-ops,infer-and-fold,fold-scale,eliminate-dead");
  EXPECT_EQ(OpsOf(graph), "Conv Relu Mul Relu Conv");
}

std::string ManyOperands(const std::string& op, size_t count, const std::string& type) {
  std::string inputs, operands;
  for (size_t i = 0; i < count; ++i) {
    const std::string name = "%x" + std::to_string(i);
    const char* comma = i > 0 ? ", " : "";
    StrAppend(&inputs, comma, name, ": ", type);
    StrAppend(&operands, comma, name);
  }
  return "graph @main(" + inputs + ") -> (%y) {\n  %y = " + op + "(" + operands + ")" +
         (op == "Concat" ? " {axis=-1}" : "") + "\n}";
}

TEST(Row36_SplitArgs, NoNodeHasMoreOperandsThanTheLimit) {
  for (const char* op : {"Concat", "Sum", "Max", "Min"}) {
    for (size_t count : {32, 33, 64, 65, 100}) {
      const Graph graph = CheckCase(ManyOperands(op, count, "f32[2, 3]"),
                                    "limit-operands,expand-ops,infer-and-fold,simplify");
      for (const Node& node : graph.nodes) {
        EXPECT_LE(node.inputs.size(), kMostOperands) << op << " of " << count;
      }
      if (count == 32) {
        EXPECT_EQ(graph.nodes.size(), 1) << op;
      }
    }
  }
}

// The nodes of a random graph over values of one type: each reads one or two earlier values.
Graph RandomDag(std::mt19937& random, int nodes) {
  std::string text = "graph @main(%v0: f32[4, 6]) -> (%v" + std::to_string(nodes) + ") {\n";
  const char* ops[] = {"Exp(%v", "Relu(%v", "Add(%v", "Mul(%v", "Softmax(%v"};
  for (int i = 1; i <= nodes; ++i) {
    const int op = static_cast<int>(random() % 5);
    const std::string first = std::to_string(random() % i), second = std::to_string(random() % i);
    StrAppend(&text, "  %v", i, ": f32[4, 6] = ", ops[op], first);
    if (op == 2 || op == 3) StrAppend(&text, ", %v", second);
    StrAppend(&text, ") loc(\"n", i, " (Op, opset 21)\")\n");
  }
  return ParseCase(text + "}");
}

// Kernels run one after the other: each may read inputs and what kernels before it wrote. A group
// that is not convex would have to run before and after another.
TEST(Row40_PostDominators, GroupsOfRandomGraphsAreConvex) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    const Graph graph = RandomDag(random, 3 + round % 20);
    const absl::StatusOr<FusedGraph> fused = Fuse(graph, {});
    ASSERT_TRUE(fused.ok()) << fused.status();
    std::set<ValueId> written(graph.main_region().inputs.begin(), graph.main_region().inputs.end());
    for (const FusedKernel& kernel : fused->kernels) {
      for (size_t i = 0; i < kernel.args.size(); ++i) {
        const bool output =
            kernel.kernel.tensors[kernel.kernel.params[i]].role == TensorRole::kOutput;
        EXPECT_TRUE(output || written.contains(kernel.args[i]))
            << PrintGraph(graph) << PrintFused(graph, *fused);
        if (output) written.insert(kernel.args[i]);
      }
    }
    EXPECT_TRUE(written.contains(graph.main_region().outputs[0]));
  }
}

TEST(Row55_LowerTE, EveryNodeIsInAKernelOnce) {
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    const Graph graph = RandomDag(random, 3 + round % 20);
    const absl::StatusOr<FusedGraph> fused = Fuse(graph, {});
    ASSERT_TRUE(fused.ok()) << fused.status();
    std::multiset<std::string> sources;
    for (const FusedKernel& kernel : fused->kernels)
      sources.insert(kernel.kernel.sources.begin(), kernel.kernel.sources.end());
    for (const std::string& source : sources) EXPECT_EQ(sources.count(source), 1) << source;
    EXPECT_LE(sources.size(), graph.nodes.size());
    EXPECT_GE(fused->kernels.size(), 1);
  }
}

TEST(D2_Casts, OnlyThoseThatLoseNothingAreSkipped) {
  const std::pair<const char*, int> kinds[] = {{"i8", 3},  {"u8", 2},   {"i16", 5}, {"i32", 6},
                                               {"i64", 7}, {"f16", 10}, {"f32", 1}, {"f64", 11}};
  for (const auto& [from, ignored] : kinds) {
    for (const auto& [between, number] : kinds) {
      const std::string text = std::string("graph @main(%x: ") + from +
                               "[64]) -> (%y) {\n  %m = Cast(%x) {to=" + std::to_string(number) +
                               "}\n  %y = Cast(%m) {to=11}\n}";
      CheckCase(text, "expand-ops,infer-and-fold,simplify");  // the same numbers before and after
    }
  }
}

// Elsewhere the third was put over the second: a place that a first neighbour had ruled out came
// back with a second, smaller one.
TEST(D4_Plan, ThreeBlocksThatOverlappedElsewhere) {
  const std::vector<ArenaBlock> blocks = {{96, 0, 1}, {896, 1, 2}, {64, 1, 2}};
  const ArenaAssignment plan = AssignArena(blocks, 64);
  for (size_t i = 0; i < blocks.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      EXPECT_TRUE(plan.offsets[i] + blocks[i].bytes <= plan.offsets[j] ||
                  plan.offsets[j] + blocks[j].bytes <= plan.offsets[i]);
    }
  }
  EXPECT_EQ(plan.bytes, 128 + 896 + 64);
}

TEST(D9_Sizes, AllOperandsCountIn64Bits) {
  const Graph graph = ParseCase(R"air(graph @main(%x: f32[70000, 40000], %s: f32[40000]) -> (%y) {
  %y: f32[70000, 40000] = Add(%x, %s)
})air");
  const absl::StatusOr<FusedGraph> fused = Fuse(graph, {});
  ASSERT_TRUE(fused.ok()) << fused.status();
  EXPECT_EQ(KernelBytes(fused->kernels[0].kernel), 2 * 4 * 70000.0 * 40000 + 4 * 40000.0);
  EXPECT_EQ(KernelFlops(fused->kernels[0].kernel), 70000.0 * 40000);
}

TEST(D11_Size, OfAScalarIsOne) {
  const Graph graph = Typed(R"air(graph @main(%x: f32[]) -> (%n) {
  %n = Size(%x)
})air");
  const std::optional<Constant>& size = graph.values[graph.main_region().outputs[0]].constant;
  ASSERT_TRUE(size.has_value() || !graph.nodes.empty());
  const auto value = EvaluateGraph(graph, {Constant::Splat(DType::kF32, {}, 3)});
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ((*value)[0].AsInts(), std::vector<int64_t>{1});
}

// The position of the greatest number is that of the smallest integer where the scale is negative.
TEST(D12_ArgMax, SeesTheSignOfAScale) {
  const Graph graph = CheckCase(R"air(graph @main(%x: i8[4, 9]) -> (%y) {
  const %scale: f32[] = [-0.5]
  const %zero: i8[] = [3]
  %f = DequantizeLinear(%x, %scale, %zero)
  %y = ArgMax(%f) {axis=1, keepdims=0}
})air",
                                "expand-ops,infer-and-fold,simplify,recognize,fold-scale");
  EXPECT_NE(OpsOf(graph), "ArgMax");
}

}  // namespace
}  // namespace aotc
