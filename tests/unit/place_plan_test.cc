// Boxes that are written one by one into one buffer, as the planner sees them.
#include <vector>

#include "compiler/plan/alias_classes.h"
#include "compiler/plan/liveness.h"
#include "compiler/plan/order_steps.h"
#include "compiler/plan/plan.h"
#include "compiler/plan/verify_plan.h"
#include "gtest/gtest.h"
#include "tests/unit/program_builder.h"

namespace aotc {
namespace {

// whole[4, 16] is written as two boxes of eight columns, which lie among one another.
struct Halves {
  ProgramBuilderForTests b;
  BufferId input, whole, left, right, output;

  Halves() {
    input = b.Add("input", BufferKind::kInput, 32);
    whole = b.Add("whole", BufferKind::kArena, 64);
    b.program.buffers[whole].shape = {4, 16};
    left = Box("left", 0);
    right = Box("right", 8);
    output = b.Add("output", BufferKind::kOutput, 64);
    b.Launch({input}, {left});
    b.Launch({input}, {right});
    b.Launch({whole}, {output});
  }

  BufferId Box(const std::string& name, int64_t column) {
    const BufferId box = b.View(name, whole, column, 32);
    b.program.buffers[box].shape = {4, 8};
    b.program.buffers[box].start = {0, column};
    return box;
  }
};

TEST(PlacePlan, BoxesThatAreApartNeedNoBarrierBetweenThem) {
  Halves h;
  ASSERT_EQ(PlanMemory(h.b.program), absl::OkStatus());
  std::vector<bool> barriers;
  for (const Step& step : h.b.program.steps) barriers.push_back(step.barrier);
  EXPECT_EQ(barriers, (std::vector<bool>{false, false, true}));
}

TEST(PlacePlan, TheWholeWaitsForAllOfItsBoxes) {
  Halves h;
  EXPECT_EQ(StepDependencies(h.b.program), (std::vector<std::vector<int>>{{}, {}, {0, 1}}));
}

TEST(PlacePlan, ABoxThatIsWrittenAgainWaitsForItsReaders) {
  Halves h;
  h.b.Launch({h.right}, {h.b.Add("late", BufferKind::kOutput, 32)});
  h.b.Launch({h.input}, {h.left});
  EXPECT_EQ(StepDependencies(h.b.program),
            (std::vector<std::vector<int>>{{}, {}, {0, 1}, {1}, {0, 2}}));
}

TEST(PlacePlan, TheBaseLivesFromTheFirstBoxToTheLastReader) {
  Halves h;
  SetLifetimes(h.b.program);
  EXPECT_EQ(h.b.program.buffers[h.whole].first_step, 0);
  EXPECT_EQ(h.b.program.buffers[h.whole].last_step, 2);
}

TEST(PlacePlan, BoxesThatMayOverlapAreFound) {
  Halves h;
  h.b.program.buffers[h.right].start = {0, 7};
  h.b.program.buffers[h.right].element_offset = 7;
  EXPECT_EQ(PlanMemory(h.b.program).message(), "plan: %left and %right may overlap in %whole");
}

// Even columns and odd ones.
Halves InTurn() {
  Halves h;
  Buffer& right = h.b.program.buffers[h.right];
  right.start = {0, 1};
  right.element_offset = 1;
  right.step = h.b.program.buffers[h.left].step = {1, 2};
  return h;
}

TEST(PlacePlan, BoxesThatTakeTurnsNeedNoBarrierBetweenThem) {
  Halves h = InTurn();
  ASSERT_EQ(PlanMemory(h.b.program), absl::OkStatus());
  EXPECT_FALSE(h.b.program.steps[1].barrier);
  EXPECT_EQ(StepDependencies(h.b.program), (std::vector<std::vector<int>>{{}, {}, {0, 1}}));
}

TEST(PlacePlan, BoxesThatMeetBetweenTurnsAreFound) {
  for (const int64_t column : {0, 2}) {  // even columns as well
    Halves h = InTurn();
    h.b.program.buffers[h.right].start = {0, column};
    h.b.program.buffers[h.right].element_offset = column;
    EXPECT_EQ(PlanMemory(h.b.program).message(), "plan: %left and %right may overlap in %whole");
  }
  Halves h = InTurn();  // every third column meets every second one
  h.b.program.buffers[h.right].step = {1, 3};
  EXPECT_EQ(PlanMemory(h.b.program).message(), "plan: %left and %right may overlap in %whole");
}

TEST(PlacePlan, AWholeThatIsWrittenBesideItsBoxesIsFound) {
  Halves h;
  h.b.Launch({h.input}, {h.whole});
  EXPECT_EQ(PlanMemory(h.b.program).message(), "plan: %whole and %left may overlap in %whole");
}

// The other box of the buffer is alive, or will be.
TEST(PlacePlan, ABoxIsNeverTakenInPlace) {
  Halves h;
  const BufferId taker = h.b.Add("taker", BufferKind::kArena, 32);
  Step& step = h.b.Launch({h.right}, {taker});
  step.in_place = {{1, 0}};
  SetLifetimes(h.b.program);
  EXPECT_FALSE(CanShare(h.b.program, 3, taker, h.right));
}

}  // namespace
}  // namespace aotc
