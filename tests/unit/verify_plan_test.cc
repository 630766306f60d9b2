#include "compiler/plan/verify_plan.h"

#include "compiler/plan/barriers.h"
#include "compiler/plan/plan.h"
#include "gtest/gtest.h"
#include "tests/unit/program_builder.h"

namespace aotc {
namespace {

TEST(Barriers, StandWhereStepsTouchTheSameBytes) {
  ProgramBuilderForTests b;
  const BufferId input = b.Add("input", BufferKind::kInput, 64);
  const BufferId x = b.Add("x", BufferKind::kArena, 64);
  const BufferId y = b.Add("y", BufferKind::kArena, 64);
  const BufferId z = b.Add("z", BufferKind::kArena, 64);
  const BufferId output = b.Add("output", BufferKind::kOutput, 64);
  b.Launch({input}, {x});
  b.Launch({input}, {y});  // beside the first
  b.Launch({x, y}, {z});   // reads what was written
  b.Launch({z}, {output});
  const BufferId late = b.Add("late", BufferKind::kOutput, 64);
  b.Launch({z}, {late});  // beside the other reader
  ASSERT_TRUE(PlanMemory(b.program).ok());
  std::vector<bool> barriers;
  for (const Step& step : b.program.steps) barriers.push_back(step.barrier);
  EXPECT_EQ(barriers, (std::vector<bool>{false, false, true, true, false}));
}

TEST(Barriers, SeparateBuffersThatReuseMemory) {
  ProgramBuilderForTests b;
  const BufferId input = b.Add("input", BufferKind::kInput, 64);
  const BufferId x = b.Add("x", BufferKind::kArena, 64);
  const BufferId y = b.Add("y", BufferKind::kArena, 64);
  b.Launch({input}, {x});
  b.Launch({x}, {b.Add("output1", BufferKind::kOutput, 64)});
  b.Launch({input}, {y});
  b.Launch({y}, {b.Add("output2", BufferKind::kOutput, 64)});
  ASSERT_TRUE(PlanMemory(b.program).ok());
  ASSERT_EQ(b.program.buffers[x].offset, b.program.buffers[y].offset);
  EXPECT_TRUE(b.program.steps[2].barrier);
}

// A loop is left where its head has read the flag, after the barrier there: what comes behind may
// not write over the flag before all have read it, though the body's barriers lie between.
TEST(Barriers, StandBehindALoopWhoseFlagIsOverwritten) {
  ProgramBuilderForTests b;
  const BufferId input = b.Add("input", BufferKind::kInput, 64);
  std::vector<BufferId> ids;
  for (const char* name : {"flag", "x", "y", "u", "v", "late"}) {
    ids.push_back(b.Add(name, BufferKind::kArena, 64));
    b.program.buffers[ids.back()].offset = 64 * static_cast<int64_t>(ids.size() - 1);
  }
  const BufferId flag = ids[0], late = ids[5];
  b.program.buffers[late].offset = b.program.buffers[flag].offset;
  b.Launch({input}, {flag});
  b.Launch({input}, {ids[1]});
  b.Launch({ids[1]}, {ids[2]});
  b.program.steps.push_back({.kind = StepKind::kLoop, .args = {flag}});
  b.Launch({input}, {flag});
  b.Launch({input}, {ids[3]});
  b.Launch({ids[3]}, {ids[4]});
  b.program.steps.push_back({.kind = StepKind::kEnd});
  b.Launch({input}, {late});
  SetBarriers(b.program);
  EXPECT_TRUE(b.program.steps[2].barrier);
  EXPECT_TRUE(b.program.steps[6].barrier);
  EXPECT_TRUE(b.program.steps[8].barrier);
}

// Heads of loops ask whether a check has failed.
TEST(Barriers, StandBetweenTheHeadOfALoopAndACheck) {
  ProgramBuilderForTests b;
  const BufferId valid = b.Add("valid", BufferKind::kInput, 1);
  b.program.steps = {{.kind = StepKind::kCheck, .args = {valid}},
                     {.kind = StepKind::kCheck, .args = {valid}},
                     {.kind = StepKind::kLoop, .trip = 3},
                     {.kind = StepKind::kCheck, .args = {valid}},
                     {.kind = StepKind::kEnd},
                     {.kind = StepKind::kCheck, .args = {valid}}};
  SetBarriers(b.program);
  std::vector<bool> barriers;
  for (const Step& step : b.program.steps) barriers.push_back(step.barrier);
  EXPECT_EQ(barriers, (std::vector<bool>{false, false, true, true, false, true}));
}

TEST(VerifyPlan, FindsAnOverlap) {
  ProgramBuilderForTests b = Chain();
  b.Launch({BufferId(1), BufferId(2)}, {b.Add("late", BufferKind::kOutput, 100)});
  ASSERT_TRUE(PlanMemory(b.program).ok());
  b.program.buffers[BufferId(2)].offset = b.program.buffers[BufferId(1)].offset;
  EXPECT_EQ(VerifyPlan(b.program).message(),
            "plan: %second and %first overlap while both are alive");
}

TEST(VerifyPlan, FindsWrongLifetimesAndPlaces) {
  ProgramBuilderForTests b = Chain();
  ASSERT_TRUE(PlanMemory(b.program).ok());
  Program wrong = b.program;
  wrong.buffers[BufferId(1)].last_step = 0;
  EXPECT_FALSE(VerifyPlan(wrong).ok());
  wrong = b.program;
  wrong.buffers[BufferId(1)].offset = 32;
  EXPECT_FALSE(VerifyPlan(wrong).ok());
  wrong = b.program;
  wrong.arena_bytes = 64;
  EXPECT_FALSE(VerifyPlan(wrong).ok());
}

TEST(VerifyPlan, FindsWrongPools) {
  ProgramBuilderForTests b = Chain();
  const PoolId fast = b.program.pools.Add({.name = "fast", .limit = 128});
  const PoolId slow = b.program.pools.Add({.name = "slow"});
  ASSERT_TRUE(PlanMemory(b.program).ok());
  Program wrong = b.program;
  wrong.pools[fast].limit = 127;
  EXPECT_EQ(VerifyPlan(wrong).message(), "plan: pool fast has 128 bytes of 127");
  wrong = b.program;
  wrong.pools[fast].bytes = 64;
  EXPECT_EQ(VerifyPlan(wrong).message(), "plan: %first lies outside pool fast");
  wrong = b.program;
  wrong.pools[slow].offset = 64;
  EXPECT_EQ(VerifyPlan(wrong).message(), "plan: pool slow at offset 64");
  wrong = b.program;
  wrong.pools[slow].bytes = 64;
  EXPECT_EQ(VerifyPlan(wrong).message(), "plan: pools end outside the arena");
  wrong = b.program;
  wrong.buffers[BufferId(1)].pool = slow;
  EXPECT_EQ(VerifyPlan(wrong).message(), "plan: %first lies outside pool slow");
  wrong.buffers[BufferId(1)].pool = {};
  EXPECT_EQ(VerifyPlan(wrong).message(), "plan: %first has no pool");
}

TEST(VerifyPlan, FindsAViewThatMayLeaveItsBase) {
  ProgramBuilderForTests b;
  b.program.symbols = {{.name = "n", .var = "n", .min = 1, .max = 4}};
  const BufferId base = b.Add("base", BufferKind::kOutput, 64);
  const BufferId view = b.View("view", base, 0, 16);
  b.program.buffers[view].element_offset = Var("n") * 12;
  EXPECT_TRUE(VerifyPlan(b.program).ok());
  b.program.buffers[view].element_offset = Var("n") * 12 + 1;
  EXPECT_FALSE(VerifyPlan(b.program).ok());
  b.program.buffers[view].element_offset = Var("n") - 2;
  EXPECT_FALSE(VerifyPlan(b.program).ok());
}

}  // namespace
}  // namespace aotc
