#include "compiler/fuse/fuse.h"

#include <algorithm>

#include "compiler/ir/graph_text.h"
#include "compiler/support/strings.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

FusedGraph FuseText(std::string_view text) {
  const absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  absl::StatusOr<FusedGraph> fused = Fuse(*graph, {});
  EXPECT_TRUE(fused.ok()) << fused.status();
  return fused.ok() ? *std::move(fused) : FusedGraph();
}

bool HasTemps(const Kernel& kernel) {
  return std::any_of(kernel.tensors.begin(), kernel.tensors.end(),
                     [](const KernelTensor& tensor) { return tensor.role == TensorRole::kTemp; });
}

// The first part of a Concat is read at the reader's own axes, but is smaller: as a temp it would
// be held whole beside each element.
TEST(Fuse, AConcatHoldsNoPartWhole) {
  const FusedGraph fused = FuseText(R"air(
    graph @main(%x: f32[2, 3, 40], %y: f32[2, 5, 40]) -> (%c) {
      %a: f32[2, 3, 40] = Exp(%x) loc("exp (Exp, opset 21)")
      %c: f32[2, 8, 40] = Concat(%a, %y) {axis = 1} loc("concat (Concat, opset 21)")
    })air");
  ASSERT_FALSE(fused.kernels.empty());
  for (const FusedKernel& fused_kernel : fused.kernels) {
    EXPECT_FALSE(HasTemps(fused_kernel.kernel)) << fused_kernel.kernel.name;
  }
}

// Strides of a view elsewhere are compared with those of a Concat of more axes no more than its
// number of axes allows: this read beyond the end of them.
TEST(Fuse, AConcatLooksAtViewsOfItsOwnOperandsAlone) {
  const FusedGraph fused = FuseText(R"air(
    graph @main(%x: f32[6, 40], %y: f32[1, 16, 3, 4], %z: f32[1, 16, 3, 4]) -> (%v, %a, %c) {
      const %shape: i64[3] = [2, 3, 40]
      %a: f32[6, 40] = Exp(%x) loc("exp (Exp, opset 21)")
      %v: f32[2, 3, 40] = Reshape(%a, %shape) loc("reshape (Reshape, opset 21)")
      %p: f32[1, 16, 3, 4] = Exp(%y) loc("p (Exp, opset 21)")
      %q: f32[1, 16, 3, 4] = Exp(%z) loc("q (Exp, opset 21)")
      %c: f32[1, 32, 3, 4] = Concat(%p, %q) {axis = 1} loc("concat (Concat, opset 21)")
    })air");
  EXPECT_FALSE(fused.kernels.empty());
}

// Each x * sigmoid(x) would double what the slice reads.
TEST(Fuse, AChainThatRepeatsWhatItReadsStaysShort) {
  constexpr int kGates = 25;
  std::string text =
      "graph @main(%x0: f32[64, 64]) -> (%y) {\n"
      "const %one: i64[1] = [1]\n"
      "const %end: i64[1] = [64]\n";
  for (int i = 0; i < kGates; ++i) {
    StrAppend(&text, "%s", i, ": f32[64, 64] = Sigmoid(%x", i,
              ") loc(\"s (Sigmoid, opset 21)\")\n");
    StrAppend(&text, "%x", i + 1, ": f32[64, 64] = Mul(%x", i, ", %s", i,
              ") loc(\"m (Mul, opset 21)\")\n");
  }
  StrAppend(&text, "%y: f32[63, 64] = Slice(%x", kGates,
            ", %one, %end) loc(\"slice (Slice, opset 21)\")\n}");
  const FusedGraph fused = FuseText(text);
  ASSERT_FALSE(fused.kernels.empty());
  EXPECT_LE(fused.kernels.size(), 3U);
  for (const FusedKernel& fused_kernel : fused.kernels) {
    for (const Stage& stage : fused_kernel.kernel.stages) {
      for (const Expr& body : stage.body) EXPECT_LE(TermCount(body), kMostTerms);
    }
  }
}

}  // namespace
}  // namespace aotc
