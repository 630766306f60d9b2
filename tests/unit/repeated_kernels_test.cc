// What keeps the time of a compile linear where a model repeats its layers, or is one long chain.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/fuse/fuse.h"
#include "compiler/ir/graph_text.h"
#include "compiler/ir/kernel_text.h"
#include "gmock/gmock.h"
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

TEST(KernelCosts, AskOnceAboutWhatDiffersInNamesOnly) {
  int asked = 0;
  const KernelCosts costs([&](const Kernel&) {
    ++asked;
    return KernelEstimate{.seconds = 1e-6};
  });
  const Kernel a = Negation("a", "x", 4), b = Negation("b", "z", 4), other = Negation("c", "x", 5);
  EXPECT_TRUE(costs.CheckMerge({&a, &a}, a).ok());
  EXPECT_TRUE(costs.CheckMerge({&b, &b}, b).ok());
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(costs.CheckMerge({&a, &a}, other).ok());
  EXPECT_EQ(asked, 2);
}

TEST(KernelCosts, GiveEachRefusalItsOwnReason) {
  const KernelCosts costs(
      [](const Kernel& kernel) { return KernelEstimate{.seconds = INFINITY, .why = kernel.name}; });
  for (const char* name : {"a", "b"}) {
    const Kernel kernel = Negation(name, "x", 4);
    EXPECT_THAT(std::string(costs.CheckMerge({&kernel, &kernel}, kernel).message()),
                ::testing::StartsWith(absl::StrCat("nothing computes it: ", name, "; ")));
  }
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
