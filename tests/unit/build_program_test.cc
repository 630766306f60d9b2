#include "compiler/lower/build_program.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "compiler/fuse/fuse.h"
#include "compiler/ir/graph_text.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

TEST(BuildProgram, SharesKernelsThatComputeTheSame) {
  const absl::StatusOr<Graph> graph = ParseGraph(R"air(
    graph @main(%x: f32[2, 3]) -> (%c) {
      const %w: f32[3] = random(seed=1)
      %a: f32[2, 3] = Mul(%x, %w) loc("first (Mul, opset 21)")
      %b: f32[2, 3] = Add(%a, %w) loc("between (Add, opset 21)")
      %c: f32[2, 3] = Mul(%b, %w) loc("second (Mul, opset 21)")
    })air");
  ASSERT_TRUE(graph.ok()) << graph.status();
  absl::StatusOr<FusedGraph> fused = Fuse(*graph, {.enabled = false});
  ASSERT_TRUE(fused.ok()) << fused.status();
  int scheduled = 0;
  const absl::StatusOr<Program> program = BuildProgram(
      *graph, *std::move(fused), [&](const Kernel& kernel) -> absl::StatusOr<ProgramKernel> {
        ++scheduled;
        return ProgramKernel{.kernel = kernel};
      });
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(scheduled, 2);
  ASSERT_EQ(program->kernels.size(), 2);
  ASSERT_EQ(program->steps.size(), 3);
  EXPECT_EQ(program->steps[0].kernel, program->steps[2].kernel);
  EXPECT_NE(program->steps[0].args, program->steps[2].args);
  EXPECT_EQ(program->steps[2].sources, std::vector<std::string>{"second (Mul)"});
  EXPECT_EQ(program->kernels[program->steps[0].kernel].also,
            std::vector<std::string>{"second (Mul)"});
  EXPECT_EQ(LaunchCounts(*program)[program->steps[0].kernel], 2);
}

// Two such elements share a byte, which two threads would write.
TEST(BuildProgram, WritesElementsOfFourBitsAsBytes) {
  for (const std::string type : {"u4", "i4", "f4e2m1"}) {
    const absl::StatusOr<Graph> graph =
        ParseGraph(absl::StrCat("graph @main(%x: ", type, "[2, 4]) -> (%y) {\n  %y: ", type,
                                "[4, 2] = Transpose(%x) loc(\"turn (Transpose, opset 21)\")\n}"));
    ASSERT_TRUE(graph.ok()) << graph.status();
    absl::StatusOr<FusedGraph> fused = Fuse(*graph, {.enabled = false});
    ASSERT_TRUE(fused.ok()) << fused.status();
    const absl::StatusOr<Program> program = BuildProgram(
        *graph, *std::move(fused), [](const Kernel& kernel) -> absl::StatusOr<ProgramKernel> {
          return ProgramKernel{.kernel = kernel};
        });
    ASSERT_TRUE(program.ok()) << program.status();
    ASSERT_EQ(program->steps.size(), 1);
    const Kernel& kernel = program->kernels[program->steps[0].kernel].kernel;
    EXPECT_EQ(DTypeName(kernel.tensors[kernel.params[0]].dtype), type);
    EXPECT_EQ(kernel.tensors[kernel.params[1]].dtype, DType::kU8);
    EXPECT_EQ(program->buffers[program->outputs[0]].bytes, 4);
  }
}

TEST(BuildProgram, CopiesAnOutputWhoseBlocksAreNotFull) {
  for (const auto& [channels, kind] :
       {std::pair(16, BufferKind::kOutput), std::pair(17, BufferKind::kArena)}) {
    const absl::StatusOr<Graph> graph = ParseGraph(absl::Substitute(R"air(
      graph @main(%x: f32[1, $0, 1, 1]) -> (%y) {
        %blocks: f32[1, $0, 1, 1] layout(0, 1/16, 2, 3, 1%16) = Exp(%x)
        %y: f32[1, $0, 1, 1] = Relayout(%blocks)
      })air",
                                                                    channels));
    ASSERT_TRUE(graph.ok()) << graph.status();
    absl::StatusOr<FusedGraph> fused = Fuse(*graph, {});
    ASSERT_TRUE(fused.ok()) << fused.status();
    ASSERT_EQ(fused->views.size(), 1u);
    const absl::StatusOr<Program> program = BuildProgram(
        *graph, *std::move(fused), [](const Kernel& kernel) -> absl::StatusOr<ProgramKernel> {
          return ProgramKernel{.kernel = kernel};
        });
    ASSERT_TRUE(program.ok()) << program.status();
    EXPECT_EQ(program->buffers[program->steps[0].args.back()].kind, kind);
    EXPECT_EQ(program->steps.back().kind,
              kind == BufferKind::kOutput ? StepKind::kLaunch : StepKind::kCopy);
  }
}

}  // namespace
}  // namespace aotc
