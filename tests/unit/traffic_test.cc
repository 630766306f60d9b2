#include "compiler/plan/traffic.h"

#include "compiler/plan/plan.h"
#include "gtest/gtest.h"
#include "tests/unit/program_builder.h"

namespace aotc {
namespace {

TEST(Traffic, CountsReadsAndWritesThroughViewsToo) {
  ProgramBuilderForTests b;
  const BufferId input = b.Add("input", BufferKind::kInput, 64);
  const BufferId whole = b.Add("whole", BufferKind::kArena, 100);
  const BufferId head = b.View("head", whole, 0, 40);
  const BufferId output = b.Add("output", BufferKind::kOutput, 64);
  b.Launch({input}, {head});
  b.Launch({input}, {b.View("tail", whole, 40, 60)});
  b.Launch({whole, whole}, {output});
  const IdVector<BufferId, int64_t> traffic = BufferTraffic(b.program);
  EXPECT_EQ(traffic[whole], 40 + 60 + 2 * 100);
  EXPECT_EQ(traffic[head], 0);
  EXPECT_EQ(traffic[input], 128);
  EXPECT_EQ(traffic[output], 64);
}

TEST(Traffic, ScratchIsWrittenAndRead) {
  ProgramBuilderForTests b = Chain();
  b.program.max_workers = 2;
  b.program.kernels[KernelId(0)].variants[0].loops.scratch_bytes = 64;
  b.program.kernels[KernelId(0)].variants[0].loops.tasks = 2;
  ASSERT_TRUE(PlanMemory(b.program).ok());
  EXPECT_EQ(BufferTraffic(b.program)[b.program.steps[0].scratch], 2 * 2 * 64);
}

TEST(Traffic, StepsOfALoopCountForEachRound) {
  for (const auto& [trip, rounds] : {std::pair(Expr(3), 3), {Expr(), 16}, {Expr(5000), 1000}}) {
    ProgramBuilderForTests b;
    const BufferId input = b.Add("input", BufferKind::kInput, 8);
    const BufferId x = b.Add("x", BufferKind::kArena, 8);
    b.Launch({input}, {x});
    b.program.steps.push_back({.kind = StepKind::kLoop, .trip = trip});
    b.Launch({input}, {x});
    b.program.steps.push_back({.kind = StepKind::kEnd});
    EXPECT_EQ(BufferTraffic(b.program)[x], 8 * (1 + rounds));
  }
}

}  // namespace
}  // namespace aotc
