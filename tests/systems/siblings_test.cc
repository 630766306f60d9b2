// Rows about siblings: contractions over one value that become one, at default settings and by all
// passes of each target.
#include "compiler/support/strings.h"
#include "compiler/targets/registry.h"
#include "tests/unit/pass_case.h"

namespace aotc {
namespace {

constexpr std::string_view kTargets[] = {"cpu", "cuda"};

// The graph after the passes that a compile for the target runs; it gives the same numbers.
Graph Optimized(std::string_view text, std::string_view target) {
  Graph graph = ParseCase(text);
  Diagnostics diagnostics;
  PassContext context({}, diagnostics, PassTargetOf(*MakeTarget(target)));
  absl::StatusOr<Graph> after = RunPasses(graph, AllPasses(), context, 0);
  EXPECT_TRUE(after.ok()) << after.status() << diagnostics.Render();
  if (!after.ok()) return graph;
  const PassResult typed = RunCase(graph, "expand-ops,infer-and-fold");
  const auto expected = EvaluateGraph(*typed.graph, CaseInputs(*typed.graph));
  const auto actual = EvaluateGraph(*after, CaseInputs(*typed.graph));
  EXPECT_TRUE(expected.ok() && actual.ok()) << expected.status() << actual.status();
  if (!expected.ok() || !actual.ok()) return *after;
  for (size_t i = 0; i < expected->size(); ++i)
    EXPECT_LE(RelativeError((*actual)[i], (*expected)[i]), 1e-5) << PrintGraph(*after);
  return *std::move(after);
}

size_t Count(const Graph& graph, std::string_view op) {
  return static_cast<size_t>(std::ranges::count(graph.nodes, op, &Node::op));
}

void ExpectCount(std::string_view text, std::string_view op, size_t cpu, size_t cuda) {
  for (std::string_view target : kTargets) {
    const Graph graph = Optimized(text, target);
    EXPECT_EQ(Count(graph, op), target == "cpu" ? cpu : cuda) << target << "\n"
                                                              << PrintGraph(graph);
  }
}

void ExpectCount(std::string_view text, std::string_view op, size_t count) {
  ExpectCount(text, op, count, count);
}

// The two that make fewer channels for larger kernels; the third writes its part of the result. On
// the CPU, whose images lie in blocks of channels, nothing would be saved.
TEST(Row24_CombineParallelConv2D, SiblingsOfAnInceptionBlockBecomeOne) {
  ExpectCount(R"air(graph @main(%x: f32[1, 16, 14, 14]) -> (%y) {
  const %wa: f32[32, 16, 1, 1] = random(seed=1)
  const %wb: f32[48, 16, 1, 1] = random(seed=2)
  const %wc: f32[16, 16, 1, 1] = random(seed=3)
  const %ba: f32[32] = random(seed=4)
  const %bb: f32[48] = random(seed=5)
  const %bc: f32[16] = random(seed=6)
  const %v: f32[32, 48, 5, 5] = random(seed=7)
  const %w: f32[16, 16, 5, 5] = random(seed=8)
  %a = Conv(%x, %wa, %ba)
  %b = Conv(%x, %wb, %bb)
  %c = Conv(%x, %wc, %bc)
  %ra = Relu(%a)
  %rb = Relu(%b)
  %rc = Relu(%c)
  %d = Conv(%rb, %v) {pads=[2, 2, 2, 2]}
  %e = Conv(%rc, %w) {pads=[2, 2, 2, 2]}
  %q = Concat(%ra, %d, %e) {axis=1}
  %y = Relu(%q)
})air",
              "Conv", 5, 4);
}

// Both convolutions read %x, and each is read by a pool: only `first` and `second` may part them.
std::string TwoConvolutions(std::string_view weight, std::string_view first,
                            std::string_view second) {
  return StrCat("graph @main(%x: f32[1, 16, 14, 14]) -> (%y, %z) {\n  const %v: f32", weight,
                " = random(seed=1)\n  const %w: f32[32, 16, 3, 3] = random(seed=2)\n"
                "  %a = Conv(%x, %v) ",
                first, "\n  %b = Conv(%x, %w) ", second,
                "\n  %y = MaxPool(%a) {kernel_shape=[2, 2]}\n"
                "  %z = MaxPool(%b) {kernel_shape=[2, 2]}\n}");
}

constexpr std::string_view kSame = "{auto_pad=\"NOTSET\", strides=[2, 2]}";

TEST(Row24_CombineParallelConv2D, EqualOnesBecomeOne) {
  ExpectCount(TwoConvolutions("[16, 16, 3, 3]", kSame, kSame), "Conv", 2, 1);
}

TEST(Row24_CombineParallelConv2D, AnotherStridePaddingKernelOrGroupStaysApart) {
  ExpectCount(TwoConvolutions("[16, 16, 3, 3]", "{strides=[1, 2]}", kSame), "Conv", 2);
  ExpectCount(TwoConvolutions("[16, 16, 3, 3]", "{pads=[1, 1, 1, 1], strides=[2, 2]}", kSame),
              "Conv", 2);
  ExpectCount(TwoConvolutions("[16, 16, 1, 3]", "{strides=[2, 2]}", kSame), "Conv", 2);
  ExpectCount(TwoConvolutions("[16, 1, 3, 3]", "{group=16, strides=[2, 2]}", kSame), "Conv", 2);
}

TEST(Row25_CombineParallelDense, QueriesKeysAndValuesWithBiasesAreOneProduct) {
  ExpectCount(R"air(graph @main(%x: f32[2, 5, 16]) -> (%y) {
  const %wq: f32[16, 8] = random(seed=1)
  const %wk: f32[16, 8] = random(seed=2)
  const %wv: f32[16, 12] = random(seed=3)
  const %bq: f32[8] = random(seed=4)
  const %bk: f32[8] = random(seed=5)
  const %bv: f32[12] = random(seed=6)
  %q = MatMul(%x, %wq)
  %k = MatMul(%x, %wk)
  %v = MatMul(%x, %wv)
  %qb = Add(%q, %bq)
  %kb = Add(%k, %bk)
  %vb = Add(%v, %bv)
  %kt = Transpose(%kb) {perm=[0, 2, 1]}
  %s = MatMul(%qb, %kt)
  %p = Softmax(%s)
  %y = MatMul(%p, %vb)
})air",
              "MatMul", 3);
}

// Two stacks of matrices and the product that reads both, behind factors of the shape given.
std::string TwoStacks(std::string_view factors) {
  return StrCat(
      "graph @main(%x: f32[2, 3, 16]) -> (%y) {\n"
      "  const %v: f32[2, 16, 4] = random(seed=1)\n"
      "  const %w: f32[2, 16, 4] = random(seed=2)\n"
      "  const %f: f32",
      factors,
      " = random(seed=3)\n"
      "  %a = MatMul(%x, %v)\n  %b = MatMul(%x, %w)\n"
      "  %c = Mul(%a, %f)\n  %d = Mul(%b, %f)\n"
      "  %t = Transpose(%d) {perm=[0, 2, 1]}\n  %y = MatMul(%c, %t)\n}");
}

TEST(Row26_CombineParallelBatchMatmul, StacksOfOneBatchAreOneProduct) {
  ExpectCount(TwoStacks("[4]"), "MatMul", 2);
}

TEST(Row26_CombineParallelBatchMatmul, AFollowerThatBroadcastsOtherwiseIsRefused) {
  ExpectCount(TwoStacks("[3, 1]"), "MatMul", 3);
  ExpectCount(TwoStacks("[2, 1, 4]"), "MatMul", 3);
}

}  // namespace
}  // namespace aotc
