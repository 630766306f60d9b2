#include "compiler/fuse/kernel_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "absl/strings/substitute.h"
#include "compiler/fuse/fuse.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/support/strings.h"
#include "compiler/targets/registry.h"
#include "tests/unit/pass_case.h"

namespace aotc {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr const char* kFigures = "it would take .*, apart .* of it launches";

// Products of rows, named so that a target that is made up can tell them apart.
Kernel Named(std::string_view name) {
  absl::StatusOr<Kernel> kernel = ParseKernel(absl::Substitute(R"(
kernel @k(in %$0: f32[4, 8], const %w: f32[8, 2], out %y: f32[4, 2]) {
  %y[i<4, j<2] = reduce sum(r<8) %$0[i, r] * %w[r, j]
})",
                                                               View(name)));
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  // Names do not count: extents do.
  kernel->name = std::string(name);
  return *std::move(kernel);
}

// The status of a merge of two kernels into one, of which the target says this.
absl::Status Merge(const KernelEstimate& first, const KernelEstimate& second,
                   const KernelEstimate& merged) {
  Kernel kernels[3] = {Named("a"), Named("b"), Named("c")};
  std::map<size_t, KernelEstimate> said = {{1, first}, {2, second}, {3, merged}};
  for (size_t i = 0; i < 3; ++i) {
    kernels[i].stages.resize(i + 1, kernels[i].stages[0]);
  }
  const KernelCosts costs([&](const Kernel& kernel) { return said.at(kernel.stages.size()); });
  return costs.CheckMerge({&kernels[0], &kernels[1]}, kernels[2]);
}

KernelEstimate Taking(double microseconds, std::string_view realisation = "tile") {
  return {.seconds = microseconds * 1e-6,
          .launch_seconds = 1e-6,
          .realisation = std::string(realisation),
          .is_plain = realisation == "loops",
          .why = "its columns are odd"};
}

TEST(KernelCosts, AcceptWhatTakesLess) {
  EXPECT_TRUE(Merge(Taking(20), Taking(9), Taking(25)).ok());
  EXPECT_TRUE(Merge(Taking(20), Taking(9), Taking(40)).ok());  // as far as anybody knows
  EXPECT_TRUE(Merge(Taking(20, "loops"), Taking(9, "loops"), Taking(25, "loops")).ok());
  EXPECT_TRUE(Merge(Taking(20, "loops"), Taking(9, "loops"), Taking(25)).ok());
}

TEST(KernelCosts, RefuseWhatTakesLongerWithTheFigures) {
  KernelEstimate merged = Taking(60, "rows");
  merged.kept_bytes = 4096;
  EXPECT_EQ(Merge(Taking(20), Taking(9, "loops"), merged).message(),
            "it would take 60 us (rows, 4096 bytes between its stages), apart 29 us (tile, loops; "
            "2 us of it launches)");
}

TEST(KernelCosts, RefuseThatAContractionLosesItsTileHoweverLittleItTakes) {
  const absl::Status status = Merge(Taking(20), Taking(9, "loops"), Taking(1, "loops"));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("the contraction would lose its tile: its columns are odd; it would take"));
  EXPECT_TRUE(Merge(Taking(20), Taking(9), Taking(1, "rows")).ok());
}

TEST(KernelCosts, RefuseWhatNothingComputes) {
  KernelEstimate merged = Taking(kNever, "nothing");
  EXPECT_THAT(std::string(Merge(Taking(20), Taking(9), merged).message()),
              HasSubstr("nothing computes it: its columns are odd; it would take for ever"));
}

TEST(KernelCosts, EveryRefusalNamesFigures) {
  const KernelEstimate cases[] = {Taking(0.1), Taking(0.1, "loops"), Taking(50, "rows"),
                                  Taking(50, "loops"), Taking(kNever, "nothing")};
  int refused = 0;
  for (const KernelEstimate& first : cases) {
    for (const KernelEstimate& second : cases) {
      for (const KernelEstimate& merged : cases) {
        const absl::Status status = Merge(first, second, merged);
        refused += int{!status.ok()};
        if (status.ok()) continue;
        EXPECT_THAT(std::string(status.message()), ContainsRegex(kFigures));
      }
    }
  }
  EXPECT_GE(refused, 50);
}

TEST(KernelCosts, OfNoTargetAcceptAll) {
  const Kernel kernel = Named("a");
  EXPECT_TRUE(KernelCosts().CheckMerge({&kernel, &kernel}, kernel).ok());
  EXPECT_FALSE(KernelCosts().AreCheaper({&kernel}, kernel));
}

FusedGraph FusedFor(const Graph& graph, const TargetOptions& options) {
  const absl::StatusOr<Target> target = MakeTarget("cpu", options);
  EXPECT_TRUE(target.ok()) << target.status();
  absl::StatusOr<FusedGraph> fused = Fuse(graph, {.costs = KernelCosts(target->estimate)});
  EXPECT_TRUE(fused.ok()) << fused.status();
  return fused.ok() ? *std::move(fused) : FusedGraph();
}

// A softmax behind a product with weights would cost that its tile. Without tiles there is none.
TEST(KernelCosts, SchedulesThatAreDisabledDoNotCount) {
  const Graph graph = ParseCase(R"air(graph @main(%x: f32[256, 512]) -> (%y) {
  const %w: f32[512, 64] = random(seed=1)
  %p: f32[256, 64] = MatMul(%x, %w)
  %y: f32[256, 64] = Softmax(%p)
})air");
  const FusedGraph tiled = FusedFor(graph, {});
  EXPECT_EQ(tiled.kernels.size(), 2);
  EXPECT_THAT(StrJoin(tiled.decisions, "\n"), ContainsRegex(kFigures));
  const FusedGraph plain = FusedFor(graph, {.disabled = {"contract_tile", "row_products"}});
  EXPECT_EQ(plain.kernels.size(), 1) << StrJoin(plain.decisions, "\n");
}

}  // namespace
}  // namespace aotc
