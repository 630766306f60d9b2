// What keeps the time of a compile linear where a model repeats its layers, or is one long chain.
#include "absl/strings/str_cat.h"
#include "compiler/fuse/memoized_veto.h"
#include "compiler/ir/graph_text.h"
#include "compiler/ir/kernel_text.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

Kernel Negation(std::string name, std::string from, int extent) {
  Kernel kernel{.name = std::move(name)};
  const TensorId x = kernel.tensors.Add(
      {.name = std::move(from), .shape = {Expr(extent)}, .role = TensorRole::kInput});
  const TensorId y =
      kernel.tensors.Add({.name = "y", .shape = {Expr(extent)}, .role = TensorRole::kOutput});
  kernel.params = {x, y};
  kernel.stages.push_back({.results = {{y, 1}},
                           .axes = {{"i0", extent}},
                           .body = {-Load(x, {Var("i0")}, DType::kF32)}});
  return kernel;
}

TEST(MemoizedVeto, AsksOnceAboutWhatDiffersInNamesOnly) {
  int asked = 0;
  const FusionVeto veto = Memoized([&](const Kernel&, const Kernel&, const Kernel&) {
    ++asked;
    return std::string();
  });
  const Kernel a = Negation("a", "x", 4), b = Negation("b", "z", 4), other = Negation("c", "x", 5);
  EXPECT_EQ(veto(a, a, a), "");
  EXPECT_EQ(veto(b, b, b), "");
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(veto(a, a, other), "");
  EXPECT_EQ(asked, 2);
}

TEST(MemoizedVeto, GivesEachRefusalItsOwnReason) {
  const FusionVeto veto =
      Memoized([](const Kernel& producer, const Kernel&, const Kernel&) { return producer.name; });
  const Kernel a = Negation("a", "x", 4), b = Negation("b", "z", 4);
  EXPECT_EQ(veto(a, a, a), "a");
  EXPECT_EQ(veto(b, a, a), "b");
}

TEST(KernelVerifier, ChecksTheNamesOfEveryKernel) {
  KernelVerifier verifier;
  EXPECT_TRUE(verifier.Verify(Negation("a", "x", 4)).ok());
  EXPECT_TRUE(verifier.Verify(Negation("b", "z", 4)).ok());
  EXPECT_FALSE(verifier.Verify(Negation("c", "y", 4)).ok());  // both tensors are called y
}

TEST(Fuse, AKernelHasAtMost64Nodes) {
  std::string text = "graph @main(%v0: f32[8]) -> (%v100) {\n";
  for (int i = 0; i < 100; ++i) {
    absl::StrAppend(&text, "  %v", i + 1, ": f32[8] = Exp(%v", i, ") loc(\"e", i,
                    " (Exp, opset 21)\")\n");
  }
  const absl::StatusOr<Graph> graph = ParseGraph(text + "}");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const absl::StatusOr<FusedGraph> fused = Fuse(*graph, {});
  ASSERT_TRUE(fused.ok()) << fused.status();
  ASSERT_EQ(fused->kernels.size(), 2u);
  EXPECT_EQ(fused->kernels[0].kernel.sources.size(), 64u);
  EXPECT_EQ(fused->kernels[1].kernel.sources.size(), 36u);
}

}  // namespace
}  // namespace aotc
