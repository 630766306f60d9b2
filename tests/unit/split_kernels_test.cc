#include "compiler/fuse/split_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "absl/strings/substitute.h"
#include "compiler/eval/evaluate.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/targets/cuda/cuda_target.h"
#include "compiler/targets/registry.h"

namespace aotc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Rows share no loop, as the last stage mixes them; %side has nothing to do with the others.
const char* const kMixed = R"(
kernel @mixed(in %x: f32[$0, 16], const %w: f32[$0], out %side: f32[3, $0], out %y: f32[16, $0]) {
  temp %e: f32[$0, 16]
  temp %sum: f32[$0]
  temp %p: f32[$0, 16]
  %side[i<3, j<$0] = %x[j, i] * 2.0
  %e[i1<$0, j1<16] = exp(%x[i1, j1])
  %sum[i2<$0] = reduce sum(r<16) %e[i2, r]
  %p[i3<$0, j3<16] = %e[i3, j3] / %sum[i3]
  %y[i4<16, j4<$0] = reduce sum(r1<$0) %p[r1, i4] * select(j4 <= r1, %w[r1], 0.0)
})";

struct Case {
  Graph graph;
  FusedGraph fused;
};

Case CaseOf(std::string_view text) {
  absl::StatusOr<Kernel> kernel = ParseKernel(text);
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  Case result;
  FusedKernel fused{.kernel = *kernel};
  for (TensorId id : kernel->params) {
    const KernelTensor& tensor = kernel->tensors[id];
    fused.args.push_back(
        result.graph.AddValue(tensor.name, TensorType(tensor.dtype, tensor.shape)));
  }
  result.fused.kernels = {fused};
  return result;
}

Case MixedCase(int64_t rows) { return CaseOf(absl::Substitute(kMixed, rows)); }

std::vector<std::string> Names(const FusedGraph& fused) {
  std::vector<std::string> names;
  for (const FusedKernel& kernel : fused.kernels) names.push_back(kernel.kernel.name);
  return names;
}

// Runs the kernels in order; the values that they write, by name.
std::map<std::string, Constant> RunInOrder(const Case& c, int64_t rows) {
  std::map<std::string, Constant> values = {{"x", Constant::Random(DType::kF32, {rows, 16}, 1)},
                                            {"w", Constant::Random(DType::kF32, {rows}, 2)}};
  for (const FusedKernel& fused : c.fused.kernels) {
    EXPECT_TRUE(VerifyKernel(fused.kernel).ok()) << VerifyKernel(fused.kernel);
    std::vector<Constant> inputs;
    std::vector<std::string> outputs;
    for (size_t i = 0; i < fused.args.size(); ++i) {
      const std::string& name = c.graph.values[fused.args[i]].name;
      const bool written = fused.kernel.tensors[fused.kernel.params[i]].role == TensorRole::kOutput;
      if (written) {
        outputs.push_back(name);
      } else {
        inputs.push_back(values.at(name));
      }
    }
    absl::StatusOr<std::vector<Constant>> results = EvaluateKernel(fused.kernel, inputs);
    EXPECT_TRUE(results.ok()) << results.status();
    for (size_t i = 0; i < outputs.size(); ++i) values.emplace(outputs[i], (*results)[i]);
  }
  return values;
}

// A target that is slow at kernels of more than so many stages.
KernelCosts UpToStages(size_t most) {
  return KernelCosts([most](const Kernel& kernel) {
    const size_t count = kernel.stages.size();
    const double beyond = static_cast<double>(count) - static_cast<double>(most);
    return KernelEstimate{.seconds = count <= most ? 1e-6 : beyond * beyond,
                          .realisation = "loops",
                          .kept_bytes = 64};
  });
}

TEST(SplitKernels, WhatTakesNoLongerStaysWhole) {
  Case c = MixedCase(8);
  SplitKernels(c.graph, c.fused, UpToStages(5));
  EXPECT_THAT(Names(c.fused), ElementsAre("mixed"));
  EXPECT_TRUE(c.fused.decisions.empty());
  SplitKernels(c.graph, c.fused, {});
  EXPECT_THAT(Names(c.fused), ElementsAre("mixed"));
}

TEST(SplitKernels, PartsComputeTheSame) {
  const auto whole = RunInOrder(MixedCase(8), 8);
  for (size_t most : {1, 2, 3, 4}) {
    Case c = MixedCase(8);
    SplitKernels(c.graph, c.fused, UpToStages(most));
    EXPECT_EQ(c.fused.kernels.size(), most == 1 ? 5 : most < 4 ? 3 : 2);
    const auto parts = RunInOrder(c, 8);
    for (const char* output : {"side", "y"}) {
      EXPECT_TRUE(parts.at(output).SameValue(whole.at(output))) << output << " of " << most;
    }
  }
}

// Values between parts are stored as the kernel has them.
TEST(SplitKernels, ValuesBetweenPartsHaveTheLayoutsOfTemps) {
  Case c = CaseOf(R"(
kernel @blocked(in %x: f32[2, 20, 3], out %y: f32[2, 20]) {
  temp %e: f32[2, 20, 3](0, 1/16, 2, 1%16)
  %e[i<2, j<20, k<3] = exp(%x[i, j, k])
  %y[i1<2, j1<20] = reduce sum(r<3) %e[i1, j1, r]
})");
  SplitKernels(c.graph, c.fused, UpToStages(1));
  ASSERT_EQ(c.fused.kernels.size(), 2);
  const ValueId between = c.fused.kernels[0].args.back();
  EXPECT_EQ(c.graph.values[between].layout, BlockedLayout(3, 1, 16));
}

// %a and %b are stages of one component, though neither reads the other.
TEST(SplitKernels, WhatSeveralStagesReadIsWrittenBeforeAnyOfThem) {
  constexpr std::string_view kBranches = R"(
kernel @branches(in %x: f32[8, 16], out %mean: f32[8], out %a: f32[8], out %b: f32[8]) {
  temp %sum: f32[8]
  %sum[i<8] = reduce sum(r<16) %x[i, r]
  %mean[i1<8] = %sum[i1] / 16.0
  %a[i2<8] = %mean[i2] + 1.0
  %b[i3<8] = %mean[i3] * 2.0
})";
  const auto whole = RunInOrder(CaseOf(kBranches), 8);
  for (const size_t most : {1, 2, 3}) {
    Case c = CaseOf(kBranches);
    SplitKernels(c.graph, c.fused, UpToStages(most));
    EXPECT_GT(c.fused.kernels.size(), 1) << most;
    const auto parts = RunInOrder(c, 8);
    for (const char* output : {"mean", "a", "b"}) {
      EXPECT_TRUE(parts.at(output).SameValue(whole.at(output))) << output << " of " << most;
    }
  }
}

TEST(SplitKernels, StagesWithNothingInCommonPartFirst) {
  Case c = MixedCase(8);
  SplitKernels(c.graph, c.fused, UpToStages(4));
  EXPECT_THAT(Names(c.fused), ElementsAre("mixed_part_1", "mixed"));
  EXPECT_EQ(c.fused.kernels[0].args.size(), 2);  // %x and %side
  EXPECT_THAT(c.fused.decisions,
              ElementsAre("mixed in 2 parts: it would take 1e+06 us (loops, 64 bytes between its "
                          "stages), apart 2 us (loops, loops; 0 us of it launches)"));
}

TEST(SplitKernels, AStageThatIsTooMuchAloneIsLeft) {
  Case c = MixedCase(8);
  SplitKernels(c.graph, c.fused, KernelCosts([](const Kernel&) {
                 return KernelEstimate{.seconds = std::numeric_limits<double>::infinity()};
               }));
  EXPECT_EQ(c.fused.kernels.size(), 5);
}

// Whole tensors as temps of one thread, or of one worker.
TEST(SplitKernels, TargetsTakeLessForThePartsOfWhatSharesNoLoops) {
  constexpr int64_t kRows = 20000;
  const Kernel whole = MixedCase(kRows).fused.kernels[0].kernel;
  EXPECT_FALSE(ScheduleOnCuda(whole, {}).ok());
  for (const char* name : {"cpu", "cuda"}) {
    const absl::StatusOr<Target> target = MakeTarget(name);
    ASSERT_TRUE(target.ok()) << target.status();
    Case c = MixedCase(kRows);
    SplitKernels(c.graph, c.fused, KernelCosts(target->estimate));
    EXPECT_EQ(c.fused.kernels.size(), 3) << name;
    for (const FusedKernel& part : c.fused.kernels) {
      EXPECT_LE(target->estimate(part.kernel).kept_bytes, 1024) << part.kernel.name;
      EXPECT_TRUE(target->schedule(part.kernel).ok()) << part.kernel.name;
    }
  }
}

}  // namespace
}  // namespace aotc
