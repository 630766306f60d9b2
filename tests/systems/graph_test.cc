// Rows about graphs and passes, on texts.
#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "compiler/canonicalize/limit_operands.h"
#include "compiler/fuse/fuse.h"
#include "compiler/lower/build_program.h"
#include "compiler/plan/assign_arena.h"
#include "compiler/support/sha256.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/cpu_target.h"
#include "compiler/targets/registry.h"
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

// The nodes of a random graph over values of one type: each reads one or two earlier values, those
// among the last few more often. What no node reads is an output.
Graph RandomDag(std::mt19937& random, int nodes) {
  const char* ops[] = {"Exp(%v", "Relu(%v", "Add(%v", "Mul(%v", "Softmax(%v"};
  std::string text;
  std::set<int> unread;
  for (int i = 1; i <= nodes; ++i) {
    const int op = static_cast<int>(random() % 5);
    auto draw = [&] {
      const int last = std::min(i, random() % 2 ? 2 : i);
      const int value = i - 1 - static_cast<int>(random() % static_cast<unsigned>(last));
      unread.erase(value);
      return value;
    };
    StrAppend(&text, "  %v", i, ": f32[4, 6] = ", ops[op], draw());
    if (op == 2 || op == 3) StrAppend(&text, ", %v", draw());
    StrAppend(&text, ") loc(\"n", i, " (Op, opset 21)\")\n");
    unread.insert(i);
  }
  std::string outputs;
  for (int i : unread) StrAppend(&outputs, outputs.empty() ? "%v" : ", %v", i);
  return ParseCase("graph @main(%v0: f32[4, 6]) -> (" + outputs + ") {\n" + text + "}");
}

// A random graph, and how each target and none fuses it.
struct FusedDag {
  Graph graph = {};
  FusedGraph fused = {};
};

void ForRandomDags(unsigned seed, int rounds, const std::function<void(const FusedDag&)>& check) {
  std::mt19937 random(seed);
  const KernelCosts costs[] = {
      {}, KernelCosts(MakeTarget("cpu")->estimate), KernelCosts(MakeTarget("cuda")->estimate)};
  size_t nodes = 0, kernels = 0;
  for (int round = 0; round < rounds; ++round) {
    const Graph graph = RandomDag(random, 3 + round % 20);
    for (const KernelCosts& cost : costs) {
      absl::StatusOr<FusedGraph> fused = Fuse(graph, {.costs = cost});
      ASSERT_TRUE(fused.ok()) << fused.status();
      nodes += graph.nodes.size();
      kernels += fused->kernels.size();
      check({graph, *std::move(fused)});
    }
  }
  EXPECT_LT(kernels * 4, nodes * 3) << "too few nodes are merged to show anything";
}

std::string Shown(const FusedDag& dag) {
  return PrintGraph(dag.graph) + PrintFused(dag.graph, dag.fused);
}

// The graph's nodes in a kernel, found by the places in the model that it is said to come from.
std::vector<NodeId> NodesOf(const Graph& graph, const Kernel& kernel) {
  std::vector<NodeId> nodes;
  for (const std::string& source : kernel.sources) {
    for (NodeId id : graph.nodes.ids()) {
      const std::string name = graph.nodes[id].locations[0].node;
      if (source.substr(0, source.find(' ')) == name) nodes.push_back(id);
    }
  }
  return nodes;
}

std::map<NodeId, int> Occurrences(const FusedDag& dag) {
  std::map<NodeId, int> count;
  for (const FusedKernel& kernel : dag.fused.kernels)
    for (NodeId id : NodesOf(dag.graph, kernel.kernel)) ++count[id];
  return count;
}

TEST(Row16_DataflowSharing, NoNodeOfARandomGraphIsComputedTwice) {
  ForRandomDags(3, 100, [](const FusedDag& dag) {
    const IdVector<ValueId, int> uses = UseCounts(dag.graph);
    std::map<NodeId, int> count = Occurrences(dag);
    for (NodeId id : dag.graph.nodes.ids()) {
      if (uses[dag.graph.nodes[id].outputs[0]] < 2) continue;
      EXPECT_EQ(count[id], 1) << Shown(dag);
    }
  });
}

// Kernels run one after the other: each may read inputs and what kernels before it wrote.
TEST(Row40_PostDominators, KernelsOfRandomGraphsHaveAnOrder) {
  ForRandomDags(5, 200, [](const FusedDag& dag) {
    const Region& main = dag.graph.main_region();
    std::set<ValueId> written(main.inputs.begin(), main.inputs.end());
    for (const FusedKernel& kernel : dag.fused.kernels) {
      for (size_t i = 0; i < kernel.args.size(); ++i) {
        const bool output =
            kernel.kernel.tensors[kernel.kernel.params[i]].role == TensorRole::kOutput;
        EXPECT_TRUE(output || written.contains(kernel.args[i])) << Shown(dag);
        if (output) written.insert(kernel.args[i]);
      }
    }
    for (ValueId output : main.outputs) EXPECT_TRUE(written.contains(output)) << Shown(dag);
  });
}

// By brute force: all nodes that each node reaches.
std::map<NodeId, std::set<NodeId>> Reached(const Graph& graph) {
  std::map<ValueId, NodeId> maker;
  std::map<NodeId, std::set<NodeId>> reached;
  for (NodeId id : graph.main_region().nodes) {
    for (ValueId input : graph.nodes[id].inputs) {
      const auto found = maker.find(input);
      if (found == maker.end()) continue;
      for (auto& [from, to] : reached)
        if (from == found->second || to.contains(found->second)) to.insert(id);
    }
    maker[graph.nodes[id].outputs[0]] = id;
    reached[id];
  }
  return reached;
}

// No path leaves the group and comes back: it would have to run before and after others.
bool IsConvex(const std::set<NodeId>& group, const std::map<NodeId, std::set<NodeId>>& reached) {
  return std::ranges::none_of(reached, [&](const auto& between) {
    if (group.contains(between.first)) return false;
    const bool leaves = std::ranges::any_of(
        group, [&](NodeId id) { return reached.at(id).contains(between.first); });
    const bool returns =
        std::ranges::any_of(group, [&](NodeId id) { return between.second.contains(id); });
    return leaves && returns;
  });
}

TEST(Row40_PostDominators, GroupsOfRandomGraphsAreConvex) {
  ForRandomDags(6, 100, [](const FusedDag& dag) {
    const std::map<NodeId, std::set<NodeId>> reached = Reached(dag.graph);
    for (const FusedKernel& kernel : dag.fused.kernels) {
      const std::vector<NodeId> list = NodesOf(dag.graph, kernel.kernel);
      EXPECT_TRUE(IsConvex({list.begin(), list.end()}, reached)) << Shown(dag);
    }
  });
}

// The nodes that the kernels are said to hold, in the kernels' order, are the graph again.
TEST(Row44_DefuseOps, TheKernelsNodesAreTheGraph) {
  ForRandomDags(8, 100, [](const FusedDag& dag) {
    Graph apart = dag.graph;
    std::vector<NodeId>& nodes = apart.regions[apart.main].nodes;
    nodes.clear();
    for (const FusedKernel& kernel : dag.fused.kernels) {
      const std::vector<NodeId> own = NodesOf(dag.graph, kernel.kernel);
      nodes.insert(nodes.end(), own.begin(), own.end());
    }
    std::ranges::sort(nodes);
    EXPECT_EQ(Sha256Hex(PrintGraph(apart)), Sha256Hex(PrintGraph(dag.graph))) << Shown(dag);
  });
}

// Each node is in one kernel, each kernel has a schedule, and one step launches it; nothing else
// is left to run.
TEST(Row55_LowerTE, EveryNodeIsInAKernelAndEveryKernelIsScheduledOnce) {
  const std::vector<Isa> isas = ParseCpuList("portable").value();
  const Scheduler schedule = [&](const Kernel& kernel) {
    return ScheduleOnCpu(kernel, {.isas = isas});
  };
  ForRandomDags(7, 60, [&](const FusedDag& dag) {
    std::map<NodeId, int> count = Occurrences(dag);
    for (NodeId id : dag.graph.nodes.ids()) EXPECT_EQ(count[id], 1) << Shown(dag);
    const absl::StatusOr<Program> program = BuildProgram(dag.graph, dag.fused, schedule);
    ASSERT_TRUE(program.ok()) << program.status();
    for (const ProgramKernel& kernel : program->kernels) {
      ASSERT_FALSE(kernel.variants.empty());
      EXPECT_TRUE(Same(kernel.variants.back().guard, Bool(true))) << kernel.kernel.name;
      EXPECT_FALSE(kernel.variants.back().schedule.empty()) << kernel.kernel.name;
    }
    EXPECT_EQ(program->steps.size(), dag.fused.kernels.size());
    EXPECT_TRUE(std::ranges::all_of(program->steps, [](const Step& step) {
      return step.kind == StepKind::kLaunch && step.kernel.valid();
    }));
  });
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
