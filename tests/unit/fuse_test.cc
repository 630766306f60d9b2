#include "compiler/fuse/fuse.h"

#include <algorithm>

#include "compiler/ir/graph_text.h"
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

}  // namespace
}  // namespace aotc
