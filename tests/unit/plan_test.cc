// The planner against a simulation: every program is run once with memory of its own for each
// buffer in the order given, and once in the arena in the planned order, where all that is not
// alive is poisoned after every step. The outputs must be the same bytes.
#include "compiler/plan/plan.h"

#include <algorithm>
#include <random>

#include "absl/strings/str_cat.h"
#include "compiler/ir/program_access.h"
#include "compiler/ir/program_text.h"
#include "compiler/plan/memory_map.h"
#include "compiler/plan/order_steps.h"
#include "gtest/gtest.h"
#include "tests/unit/program_builder.h"
#include "tests/unit/program_simulator.h"

namespace aotc {
namespace {

void ExpectSameResults(const Program& given, const Program& planned) {
  EXPECT_EQ(Simulator(given, false).Run(), Simulator(planned, true).Run());
}

// A random DAG: some steps in place, some concatenating through views, some with scratch.
Program RandomProgram(std::mt19937& random) {
  ProgramBuilderForTests b;
  std::vector<BufferId> values = {b.Add("input", BufferKind::kInput, 16 + random() % 100)};
  const int steps = 2 + static_cast<int>(random() % 12);
  for (int i = 0; i < steps; ++i) {
    std::vector<BufferId> inputs;
    for (size_t k = 0; k < 1 + random() % 2; ++k)
      inputs.push_back(values[random() % values.size()]);
    const std::string name = absl::StrCat("v", i);
    if (random() % 4 == 0) {
      const int64_t left = 1 + random() % 80;
      const int64_t right = 1 + random() % 80;
      const BufferId whole = b.Add(name, BufferKind::kArena, left + right);
      b.Launch(inputs, {b.View(name + "_left", whole, 0, left)});
      b.Launch(inputs, {b.View(name + "_right", whole, left, right)});
      values.push_back(whole);
      continue;
    }
    const bool in_place = random() % 2 == 0;
    const int64_t bytes = in_place ? b.program.buffers[inputs[0]].bytes : 1 + random() % 300;
    values.push_back(b.Add(name, BufferKind::kArena, bytes));
    Step& step = b.Launch(inputs, {values.back()});
    if (in_place) step.in_place = {{static_cast<int>(inputs.size()), 0}};
    auto& loops = b.program.kernels[step.kernel].variants[0].loops;
    if (random() % 5 == 0) loops.scratch_bytes = random() % 40;
  }
  b.program.max_workers = 2;
  for (int i = 0; i < 2; ++i) {
    const BufferId output = b.Add(absl::StrCat("output", i), BufferKind::kOutput, 32);
    b.Launch({values[values.size() - 1 - i]}, {output});
  }
  return b.program;
}

TEST(Plan, RandomProgramsComputeTheSameInTheArena) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const Program given = RandomProgram(random);
    ASSERT_TRUE(VerifyProgram(given).ok()) << VerifyProgram(given);
    Program planned = given;
    ASSERT_TRUE(PlanMemory(planned).ok()) << PlanMemory(planned);
    ASSERT_TRUE(VerifyProgram(planned).ok()) << VerifyProgram(planned);
    EXPECT_GE(planned.arena_bytes, planned.lower_bound);
    ExpectSameResults(given, planned);
    if (HasFailure()) FAIL() << "round " << round << "\n" << PrintProgram(planned);
  }
}

// Pools of half of what the arena needs, and of what is left.
TEST(Plan, RandomProgramsComputeTheSameInPools) {
  std::mt19937 random(9);
  for (int round = 0; round < 200; ++round) {
    const Program given = RandomProgram(random);
    Program planned = given;
    ASSERT_TRUE(PlanMemory(planned).ok());
    const int64_t limit = 1 + planned.arena_bytes / 2;
    planned = given;
    const PoolId fast = planned.pools.Add({.name = "fast", .limit = limit});
    planned.pools.Add({.name = "slow"});
    ASSERT_TRUE(PlanMemory(planned).ok()) << PlanMemory(planned);
    ASSERT_TRUE(VerifyProgram(planned).ok()) << VerifyProgram(planned);
    EXPECT_LE(planned.pools[fast].bytes, limit);
    EXPECT_GE(planned.arena_bytes, planned.lower_bound);
    ExpectSameResults(given, planned);
    if (HasFailure()) FAIL() << "round " << round << "\n" << PrintProgram(planned);
  }
}

TEST(Plan, AChainInPlaceStaysInOnePool) {
  ProgramBuilderForTests b = Chain();
  b.program.pools.Add({.name = "small", .limit = 100});
  b.program.pools.Add({.name = "fast", .limit = 200});
  ASSERT_TRUE(PlanMemory(b.program).ok());
  EXPECT_EQ(b.program.arena_bytes, 128);
  EXPECT_EQ(b.program.buffers[BufferId(1)].pool, PoolId(1));
  EXPECT_EQ(b.program.buffers[BufferId(2)].pool, PoolId(1));
  EXPECT_EQ(b.program.pools[PoolId(0)].bytes, 0);
}

TEST(Plan, PoolsThatAreTooSmallAreRefusedWithWhatIsEnough) {
  ProgramBuilderForTests b = Chain();
  b.program.pools.Add({.name = "fast", .limit = 64});
  b.program.pools.Add({.name = "slow", .limit = 100});
  EXPECT_EQ(
      PlanMemory(b.program).message(),
      "no pool has room for 'first' of 100 bytes: fast=64, slow=100; hint: --pool slow=128 is "
      "enough, as is --pool slow without a limit");
}

TEST(Plan, PlanningTwiceChangesNothing) {
  std::mt19937 random(5);
  for (int round = 0; round < 20; ++round) {
    Program program = RandomProgram(random);
    ASSERT_TRUE(PlanMemory(program).ok());
    const std::string once = PrintProgram(program);
    ASSERT_TRUE(PlanMemory(program).ok());
    EXPECT_EQ(PrintProgram(program), once);
  }
}

TEST(Plan, AChainInPlaceNeedsOneBuffer) {
  ProgramBuilderForTests b = Chain();
  ASSERT_TRUE(PlanMemory(b.program).ok());
  EXPECT_EQ(b.program.arena_bytes, 128);
  EXPECT_EQ(b.program.lower_bound, 128);
  EXPECT_EQ(PrintMemoryMap(b.program),
            "arena 128 bytes, its lower bound\n"
            "    offset        bytes    steps   buffer\n"
            "         0          100      0-1   %first\n"
            "         0          100      1-2   %second\n");
}

TEST(Plan, AnInputThatIsReadLaterIsNotOverwritten) {
  ProgramBuilderForTests b = Chain();
  b.Launch({BufferId(1), BufferId(2)}, {b.Add("late", BufferKind::kOutput, 100)});
  ASSERT_TRUE(PlanMemory(b.program).ok());
  EXPECT_EQ(b.program.arena_bytes, 256);
}

TEST(Plan, AnInputThatIsPassedTwiceIsNotOverwritten) {
  ProgramBuilderForTests b;
  const BufferId input = b.Add("input", BufferKind::kInput, 64);
  const BufferId x = b.Add("x", BufferKind::kArena, 64);
  const BufferId y = b.Add("y", BufferKind::kArena, 64);
  const BufferId output = b.Add("output", BufferKind::kOutput, 64);
  b.Launch({input}, {x});
  b.Launch({x, x}, {y}).in_place = {{2, 0}};
  b.Launch({y}, {output});
  ASSERT_TRUE(PlanMemory(b.program).ok());
  EXPECT_EQ(b.program.arena_bytes, 128);
}

TEST(Plan, APartialViewIsNeverTakenInPlace) {
  ProgramBuilderForTests b;
  const BufferId input = b.Add("input", BufferKind::kInput, 64);
  const BufferId x = b.Add("x", BufferKind::kArena, 64);
  const BufferId y = b.Add("y", BufferKind::kArena, 64);
  const BufferId output = b.Add("output", BufferKind::kOutput, 64);
  b.Launch({input}, {x});
  b.Launch({x}, {b.View("y_head", y, 0, 32)}).in_place = {{1, 0}};
  b.Launch({input}, {b.View("y_tail", y, 32, 32)});
  b.Launch({y}, {output});
  ASSERT_TRUE(PlanMemory(b.program).ok());
  EXPECT_EQ(b.program.arena_bytes, 128);
}

TEST(Plan, ScratchIsLiveForItsStepOnly) {
  ProgramBuilderForTests b = Chain();
  b.program.max_workers = 4;
  b.program.kernels[KernelId(0)].variants[0].loops.scratch_bytes = 70;
  b.program.kernels[KernelId(0)].variants[0].loops.tasks = 9;
  b.program.kernels[KernelId(2)].variants[0].loops.scratch_bytes = 10;
  ASSERT_TRUE(PlanMemory(b.program).ok());
  EXPECT_EQ(b.program.arena_bytes, 128 + 4 * 128);
  const Buffer& scratch = b.program.buffers[b.program.steps[0].scratch];
  EXPECT_EQ(scratch.name, "kernel_0_scratch");
  EXPECT_EQ(scratch.bytes, 4 * 128);
  EXPECT_FALSE(b.program.steps[1].scratch.valid());
}

TEST(Plan, OnlyWorkersWithTasksHaveScratch) {
  ProgramBuilderForTests b = Chain();
  b.program.max_workers = 4;
  b.program.kernels[KernelId(0)].variants[0].loops.scratch_bytes = 128;
  b.program.kernels[KernelId(0)].variants[0].loops.tasks = 3;
  ASSERT_TRUE(PlanMemory(b.program).ok());
  EXPECT_EQ(b.program.buffers[b.program.steps[0].scratch].bytes, 3 * 128);
}

// Of a step beside `beside` bytes, in a program that has 128,000 bytes at another: 6,400 more are a
// twentieth. Each worker wants `each`.
int64_t WorkersBeside(int beside, int each, const SmallerVariant& smaller = {}, int caller = 64) {
  ProgramBuilderForTests b;
  const BufferId input = b.Add("input", BufferKind::kInput, caller);
  const BufferId narrow = b.Add("narrow", BufferKind::kArena, beside);
  const BufferId wide = b.Add("wide", BufferKind::kArena, 128000 - beside);
  const BufferId output = b.Add("output", BufferKind::kOutput, 64);
  b.Launch({input}, {narrow});
  b.Launch({narrow}, {wide});
  b.Launch({wide}, {output});
  KernelVariant& variant = b.program.kernels[KernelId(0)].variants[0];
  variant.loops.scratch_bytes = each;
  variant.loops.tasks = 99;
  EXPECT_TRUE(PlanMemory(b.program, smaller).ok());
  return WorkersWithScratch(b.program, b.program.steps[0]);
}

TEST(Plan, ScratchIsForAsManyWorkersAsTheArenaHasRoomForAndForTwo) {
  EXPECT_EQ(WorkersBeside(64000, 2560), 16);
  EXPECT_EQ(WorkersBeside(115200, 2560), 7);
  EXPECT_EQ(WorkersBeside(127360, 5120), 2);
}

// A twentieth of what the caller holds is no matter where the arena is no eighth of that.
TEST(Plan, ScratchMayBeMoreBesideLargeInputs) {
  EXPECT_EQ(WorkersBeside(127360, 5120, {}, 900'000), 2);
  EXPECT_EQ(WorkersBeside(127360, 5120, {}, 1'200'000), 4);  // 150,000 in all: an eighth
  EXPECT_EQ(WorkersBeside(127360, 5120, {}, 2'000'000), 16);
}

// A variant of fewer tasks has fewer workers with scratch, each with what this variant takes.
TEST(Plan, ScratchIsThatOfTheVariantThatTakesMostInAll) {
  ProgramBuilderForTests b;
  const BufferId input = b.Add("input", BufferKind::kInput, 64);
  const BufferId output = b.Add("output", BufferKind::kOutput, 64);
  b.Launch({input}, {output});
  std::vector<KernelVariant>& variants = b.program.kernels[KernelId(0)].variants;
  variants.push_back(variants[0]);
  variants[0].loops.scratch_bytes = 640;
  variants[0].loops.tasks = 2;
  variants[1].loops.scratch_bytes = 448;
  variants[1].loops.tasks = 3;
  ASSERT_TRUE(PlanMemory(b.program).ok());
  EXPECT_EQ(b.program.arena_bytes, 3 * 448);
  EXPECT_EQ(WorkersWithScratch(b.program, b.program.steps[0]), b.program.max_workers);
  const ProgramKernel& kernel = b.program.kernels[KernelId(0)];
  EXPECT_EQ(ScratchBytes(b.program, kernel, 2), 2 * 640);
  EXPECT_EQ(ScratchBytes(b.program, kernel, 16), 3 * 448);
}

// A kernel that can halve its scratch again and again, each time for `times` the time.
SmallerVariant Halves(double times) {
  return [times](const Kernel&, const KernelVariant& variant, int64_t most_bytes,
                 double most_times) -> std::optional<KernelVariant> {
    KernelVariant other = variant;
    double taken = 1;
    while (other.loops.scratch_bytes > most_bytes) {
      other.loops.scratch_bytes /= 2;
      taken *= times;
    }
    return taken <= most_times ? std::optional(other) : std::nullopt;
  };
}

TEST(Plan, VariantsWithLessScratchAreTakenWhereMoreWorkersHaveItForLittleTime) {
  EXPECT_EQ(WorkersBeside(127360, 5120, Halves(1.05)), 11);  // of 640 bytes
  EXPECT_EQ(WorkersBeside(127360, 5120, Halves(1.2)), 2);    // of 2,560: 1,280 took 1.44 times
  EXPECT_EQ(WorkersBeside(64000, 2560, Halves(1.05)), 16);
}

// Where scratch for all workers leaves gaps between values, it lies in those of the values alone.
TEST(Plan, ScratchLiesInTheGapsOfWhatLivesLonger) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    Program program = RandomProgram(random);
    for (ProgramKernel& kernel : program.kernels) {
      kernel.variants[0].loops.scratch_bytes = static_cast<int64_t>(random() % 3000);
      kernel.variants[0].loops.tasks = 99;
    }
    Program with = program;
    ASSERT_TRUE(PlanMemory(with).ok()) << PlanMemory(with);
    ASSERT_TRUE(VerifyProgram(with).ok()) << VerifyProgram(with);
    ExpectSameResults(program, with);
    for (const Step& step : with.steps) {
      EXPECT_GE(WorkersWithScratch(with, step), 2);
    }
  }
}

// Two wide branches from one input, each narrowed: given breadth first, cheaper depth first.
TEST(OrderSteps, LowersThePeakOfTwoBranches) {
  ProgramBuilderForTests b;
  const BufferId input = b.Add("input", BufferKind::kInput, 64);
  const BufferId wide1 = b.Add("wide1", BufferKind::kArena, 6400);
  const BufferId wide2 = b.Add("wide2", BufferKind::kArena, 6400);
  const BufferId narrow1 = b.Add("narrow1", BufferKind::kArena, 64);
  const BufferId narrow2 = b.Add("narrow2", BufferKind::kArena, 64);
  const BufferId output = b.Add("output", BufferKind::kOutput, 64);
  b.Launch({input}, {wide1});
  b.Launch({input}, {wide2});
  b.Launch({wide1}, {narrow1});
  b.Launch({wide2}, {narrow2});
  b.Launch({narrow1, narrow2}, {output});
  const Program given = b.program;
  ASSERT_TRUE(PlanMemory(b.program).ok());
  EXPECT_EQ(b.program.arena_bytes, 6400 + 128);
  ExpectSameResults(given, b.program);
}

TEST(OrderSteps, KeepsTheOrderThatIsAsGood) {
  ProgramBuilderForTests b;
  const BufferId input = b.Add("input", BufferKind::kInput, 64);
  b.Launch({input}, {b.Add("output1", BufferKind::kOutput, 64)});
  b.Launch({input}, {b.Add("output2", BufferKind::kOutput, 64)});
  OrderSteps(b.program);
  EXPECT_EQ(b.program.steps[0].kernel, KernelId(0));
}

TEST(OrderSteps, DependenciesGoThroughViews) {
  ProgramBuilderForTests b;
  const BufferId input = b.Add("input", BufferKind::kInput, 64);
  const BufferId whole = b.Add("whole", BufferKind::kArena, 64);
  const BufferId output = b.Add("output", BufferKind::kOutput, 64);
  b.Launch({input}, {b.View("head", whole, 0, 32)});
  b.Launch({input}, {b.View("tail", whole, 32, 32)});
  b.Launch({whole}, {output});
  b.Launch({input}, {whole});
  EXPECT_EQ(StepDependencies(b.program), (std::vector<std::vector<int>>{{}, {0}, {1}, {1, 2}}));
}

}  // namespace
}  // namespace aotc
