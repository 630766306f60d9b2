// Rows about fusion: which nodes become one kernel, counted for both targets.
#include "compiler/fuse/fuse.h"

#include "compiler/targets/registry.h"
#include "tests/unit/pass_case.h"

namespace aotc {
namespace {

constexpr std::string_view kTargets[] = {"cpu", "cuda"};

FusedGraph FuseFor(const Graph& graph, std::string_view target, bool enabled = true) {
  absl::StatusOr<FusedGraph> fused =
      Fuse(graph, {.enabled = enabled, .costs = KernelCosts(MakeTarget(target)->estimate)});
  EXPECT_TRUE(fused.ok()) << fused.status();
  return fused.ok() ? *std::move(fused) : FusedGraph();
}

// The graph with types, after the passes that a compile runs before it fuses.
Graph Prepared(std::string_view text, std::string_view target) {
  const Graph graph = ParseCase(text);
  Diagnostics diagnostics;
  PassContext context({}, diagnostics, PassTargetOf(target, true));
  absl::StatusOr<Graph> ready = RunPasses(graph, AllPasses(), context, 0);
  EXPECT_TRUE(ready.ok()) << ready.status() << diagnostics.Render();
  return ready.ok() ? *std::move(ready) : graph;
}

std::string Shown(const Graph& graph, const FusedGraph& fused) {
  return PrintGraph(graph) + PrintFused(graph, fused);
}

// The number of kernels on each target.
void ExpectKernels(std::string_view text, size_t cpu, size_t cuda) {
  for (std::string_view target : kTargets) {
    const Graph graph = Prepared(text, target);
    const FusedGraph fused = FuseFor(graph, target);
    EXPECT_EQ(fused.kernels.size(), target == "cpu" ? cpu : cuda) << target << "\n"
                                                                  << Shown(graph, fused);
  }
}

void ExpectKernels(std::string_view text, size_t count) { ExpectKernels(text, count, count); }

TEST(Row38_FuseOps, AddExpSqueezeIsOneKernel) {
  ExpectKernels(R"air(graph @main(%x: f32[10, 1, 20]) -> (%z) {
  const %one: f32[] = [1.0]
  const %axis: i64[1] = [1]
  %a = Add(%x, %one)
  %e = Exp(%a)
  %z = Squeeze(%e, %axis)
})air",
                1);
}

// The convolution takes the diamond behind it; its bias and the other operand are operands.
TEST(Row38_FuseOps, AConvolutionTakesItsDiamond) {
  ExpectKernels(R"air(graph @main(%x: f32[1, 16, 64, 64], %w: f32[16, 16, 1, 1]) -> (%z) {
  const %one: f32[] = [1.0]
  %c = Conv(%x, %w)
  %a = Add(%c, %one)
  %r = Relu(%a)
  %t = Tanh(%r)
  %z = Add(%r, %t)
})air",
                1);
}

TEST(Row38_FuseOps, AnAddJoinsOneOfTwoConvolutions) {
  for (std::string_view target : kTargets) {
    const Graph graph = Prepared(R"air(graph @main(%x: f32[1, 16, 8, 8]) -> (%z) {
  const %v: f32[16, 16, 1, 1] = random(seed=1)
  const %w: f32[16, 16, 5, 5] = random(seed=2)
  %a = Conv(%x, %v)
  %b = Conv(%x, %w) {pads=[2, 2, 2, 2]}
  %r = Relu(%b)
  %z = Add(%a, %r)
})air",
                                 target);
    const FusedGraph fused = FuseFor(graph, target);
    size_t contractions = 0, adds = 0;
    for (const FusedKernel& kernel : fused.kernels) {
      const std::string text = PrintFused(graph, {.kernels = {kernel}});
      const bool contracts = text.find("reduce sum") != std::string::npos;
      EXPECT_EQ(text.find("reduce sum"), text.rfind("reduce sum")) << text;
      contractions += contracts ? 1 : 0;
      adds += contracts && text.find("%a[0, i1, i2, i3] + %r[") != std::string::npos ? 1 : 0;
    }
    EXPECT_EQ(contractions, 2) << Shown(graph, fused);
    EXPECT_EQ(adds, 1) << Shown(graph, fused);
  }
}

// What is joined is computed before: behind the choice of a part it would be computed for elements
// of the other part, too. What follows the Concat is fused. The enlarged rows are written by what
// makes them.
TEST(Row38_FuseOps, AConcatTakesWhatFollows) {
  ExpectKernels(R"air(graph @main(%x: f32[1, 16, 64, 64]) -> (%z) {
  const %one: f32[] = [1.0]
  const %none: f32[] = [0.0]
  const %scales: f32[4] = [1.0, 1.0, 2.0, 2.0]
  %p = MaxPool(%x) {kernel_shape=[3, 3], pads=[0, 0, 0, 0], strides=[2, 2], ceil_mode=1}
  %u = Resize(%p, _, %scales) {
    coordinate_transformation_mode="asymmetric", mode="nearest", nearest_mode="floor"}
  %c = Concat(%u, %x) {axis=1}
  %z = Add(%c, %one)
})air",
                2);
}

TEST(Row38_FuseOps, PartsOfASplitAreFusedWithTheirReaders) {
  ExpectKernels(R"air(graph @main(%x: f32[16, 48]) -> (%z) {
  %a, %b, %c = Split(%x) {axis=1, num_outputs=3}
  %s = Sigmoid(%a)
  %t = Tanh(%b)
  %e = Exp(%c)
  %m = Mul(%s, %t)
  %z = Add(%m, %e)
})air",
                1);
}

TEST(Row38_FuseOps, AnInnerResultIsAnOutputOfTheOneKernel) {
  ExpectKernels(R"air(graph @main(%x: f32[16, 48]) -> (%y, %z) {
  %y = Exp(%x)
  %z = Tanh(%y)
})air",
                1);
}

// Inception: each convolution with its activation, which write their parts of what joins them.
TEST(Row38_FuseOps, AnInceptionBlock) {
  ExpectKernels(
      R"air(graph @main(
    %x: f32[1, 16, 8, 8], %v: f32[16, 16, 1, 1], %w: f32[16, 16, 3, 3]) -> (%z) {
  %a = Conv(%x, %v)
  %ra = Relu(%a)
  %b = Conv(%x, %w) {pads=[1, 1, 1, 1]}
  %rb = Relu(%b)
  %z = Concat(%ra, %rb) {axis=1}
})air",
      2);
}

// A transpose behind which the rows are cut anew stays: reading through it would divide.
TEST(Row38_FuseOps, ParallelInjectiveOperandsJoinTheirReader) {
  ExpectKernels(R"air(graph @main(%x: i32[6, 8], %y: i32[8, 6]) -> (%z) {
  const %shape: i64[2] = [8, 6]
  %a = Reshape(%x, %shape)
  %b = Transpose(%y) {perm=[1, 0]}
  %c = Reshape(%b, %shape)
  %z = BitwiseAnd(%a, %c)
})air",
                2);
  ExpectKernels(R"air(graph @main(%x: i32[6, 8], %y: i32[48]) -> (%z) {
  const %shape: i64[2] = [8, 6]
  %a = Reshape(%x, %shape)
  %b = Reshape(%y, %shape)
  %z = BitwiseAnd(%a, %b)
})air",
                1);
}

// A chain of 300 is cut where a kernel would hold too many nodes, not before.
TEST(Row38_FuseOps, ALongChainIsCutAtTheLimit) {
  std::string text = "graph @main(%x: f32[8]) -> (%n299) {\n  %n0 = Exp(%x)\n";
  for (int i = 1; i < 300; ++i) {
    text += "  %n" + std::to_string(i) + " = " + (i % 2 ? "Sin" : "Cos") + "(%n" +
            std::to_string(i - 1) + ") loc(\"s" + std::to_string(i) + " (Sin, opset 21)\")\n";
  }
  for (std::string_view target : kTargets) {
    const size_t count = FuseFor(Prepared(text + "}", target), target).kernels.size();
    EXPECT_GT(count, 1) << target;
    EXPECT_LE(count, 300 / 32) << target;
  }
}

TEST(Row38_FuseOps, ABroadcastScalarAndAReductionAreOneKernel) {
  ExpectKernels(R"air(graph @main(%x: f32[4, 40], %s: f32[]) -> (%z) {
  const %axes: i64[1] = [1]
  %m = Mul(%x, %s)
  %z = ReduceSum(%m, %axes)
})air",
                1);
}

TEST(Row38_FuseOps, SoftmaxAndACastAreOneKernel) {
  ExpectKernels(R"air(graph @main(%x: f32[4, 40]) -> (%z) {
  %s = Softmax(%x)
  %z = Cast(%s) {to=10}
})air",
                1);
}

TEST(Row38_FuseOps, WithoutThePassEachOpIsAKernel) {
  const Graph graph = ParseCase(R"air(graph @main(%x: f32[4, 40]) -> (%z) {
  %s: f32[4, 40] = Softmax(%x)
  %t: f32[4, 40] = Relu(%s)
  %z: f32[4, 40] = Exp(%t)
})air");
  EXPECT_EQ(FuseFor(graph, "cpu", false).kernels.size(), 3);
}

TEST(Row21_SimplifyInference, NormalisationsStayOneKernelEach) {
  for (const char* op : {"LayerNormalization(%x, %s, %b)", "Softmax(%x)", "LogSoftmax(%x)",
                         "LpNormalization(%x)", "RMSNormalization(%x, %s)"}) {
    ExpectKernels(std::string("graph @main(%x: f32[4, 40], %s: f32[40], %b: f32[40]) -> (%z) {\n") +
                      "  %z = " + op + "\n}",
                  1);
  }
}

constexpr std::string_view kConvNormRelu =
    R"air(graph @main(%x: f32[1, 16, 8, 8]) -> (%z) {
  const %w: f32[16, 16, 1, 1] = random(seed=1)
  const %s: f32[16] = random(seed=2)
  const %v: f32[16] = splat(2.0)
  const %ratio: f32[] = [0.5]
  %c = Conv(%x, %w)
  %n = BatchNormalization(%c, %s, %s, %s, %v)
  %d = Dropout(%n, %ratio)
  %z = Relu(%d)
})air";

TEST(Row21_SimplifyInference, NoBatchNormalizationAndNoDropoutStay) {
  for (int level : {1, 2, 3}) {
    PassOptions options;
    options.level = level;
    Diagnostics diagnostics;
    PassContext context(options, diagnostics);
    absl::StatusOr<Graph> graph = RunPasses(ParseCase(kConvNormRelu), AllPasses(), context, 0);
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_EQ(OpsOf(*graph), "Conv Relu") << "-O" << level;
  }
}

// The input of the CPU's tile is laid out in blocks first.
TEST(Row28_FoldScaleAxis, AConvolutionWithItsNormalisationIsOneKernel) {
  ExpectKernels(kConvNormRelu, 3, 1);
}

// A value with several readers is computed by one kernel.
TEST(Row16_DataflowSharing, AValueWithManyReadersIsComputedOnce) {
  constexpr std::string_view kText = R"air(graph @main(%x: f32[8, 40]) -> (%a, %b, %c) {
  const %axes: i64[1] = [1]
  %s = Softmax(%x)
  %e = Exp(%s)
  %a = ReduceSum(%e, %axes)
  %b = Relu(%e)
  %c = Transpose(%e)
})air";
  for (std::string_view target : kTargets) {
    const Graph graph = Prepared(kText, target);
    const FusedGraph fused = FuseFor(graph, target);
    size_t writers = 0;
    for (const FusedKernel& kernel : fused.kernels) {
      writers += graph.values[kernel.args.back()].name == "e" ? 1 : 0;
    }
    EXPECT_EQ(writers, 1) << Shown(graph, fused);
  }
}

// A widening cast with readers in several kernels.
TEST(Row30_CanonicalizeCast, ASharedWideningCastIsNotWritten) {
  constexpr std::string_view kText = R"air(graph @main(%x: i8[32, 40]) -> (%a, %b) {
  const %axes: i64[1] = [1]
  %f = Cast(%x) {to=1}
  %a = Softmax(%f)
  %b = ReduceSum(%f, %axes)
})air";
  for (std::string_view target : kTargets) {
    const Graph graph = Prepared(kText, target);
    const FusedGraph fused = FuseFor(graph, target);
    for (const FusedKernel& kernel : fused.kernels) {
      EXPECT_NE(graph.values[kernel.args.back()].name, "f") << Shown(graph, fused);
    }
  }
}

}  // namespace
}  // namespace aotc
