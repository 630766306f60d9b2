// The planner against a simulation: every program is run once with memory of its own for each
// buffer in the order given, and once in the arena in the planned order, where all that is not
// alive is poisoned after every step. The outputs must be the same bytes.
#include "compiler/plan/plan.h"

#include <algorithm>
#include <map>
#include <random>

#include "absl/strings/str_cat.h"
#include "compiler/ir/program_access.h"
#include "compiler/ir/program_text.h"
#include "compiler/plan/memory_map.h"
#include "compiler/plan/order_steps.h"
#include "gtest/gtest.h"
#include "tests/unit/program_builder.h"

namespace aotc {
namespace {

uint64_t Mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9e3779b97f4a7c15u + b + 1;
  x ^= x >> 29;
  return x * 0xbf58476d1ce4e5b9u;
}

// Executes a program on bytes. Memory of a buffer: in the shared arena, or its own.
class Simulator {
 public:
  Simulator(const Program& program, bool in_arena)
      : program_(program), in_arena_(in_arena), arena_(in_arena ? program.arena_bytes : 0, 0xAA) {
    for (BufferId id : program.buffers.ids()) {
      own_[id] = std::vector<uint8_t>(program.buffers[id].bytes, 0xAA);
      const bool given = program.buffers[id].kind == BufferKind::kInput;
      if (given) std::fill(own_[id].begin(), own_[id].end(), static_cast<uint8_t>(id.index() + 1));
    }
  }

  std::vector<std::vector<uint8_t>> Run() {
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      Execute(program_.steps[i]);
      if (in_arena_) Poison(static_cast<int>(i));
    }
    std::vector<std::vector<uint8_t>> outputs;
    for (BufferId id : program_.outputs) outputs.push_back(own_[id]);
    return outputs;
  }

 private:
  uint8_t* Memory(BufferId id) {
    const BufferId base = BaseOf(program_, id);
    const bool shared = in_arena_ && program_.buffers[base].kind == BufferKind::kArena;
    uint8_t* start = shared ? arena_.data() + program_.buffers[base].offset : own_[base].data();
    return start + *ElementOffset(program_.buffers[id]).AsInt();
  }

  // Scratch and plain outputs are written before the inputs are read, so that any overlap shows; an
  // output computed in place is a function of the same element of its input.
  void Execute(const Step& step) {
    const size_t input_count = InputCount(step);
    std::map<int, int> in_place(step.in_place.begin(), step.in_place.end());
    if (step.scratch.valid()) Fill(step.scratch, 0x55);
    for (size_t i = input_count; i < step.args.size(); ++i) {
      if (!in_place.count(static_cast<int>(i))) Fill(step.args[i], 0x33);
    }
    uint64_t seed = static_cast<uint64_t>(step.kernel.index());
    for (size_t i = 0; i < input_count; ++i) {
      const bool elementwise = std::any_of(in_place.begin(), in_place.end(), [&](const auto& pair) {
        return pair.second == static_cast<int>(i);
      });
      if (!elementwise) seed = Mix(seed, Digest(step.args[i]));
    }
    for (size_t i = input_count; i < step.args.size(); ++i) {
      const auto pair = in_place.find(static_cast<int>(i));
      const uint8_t* from = pair == in_place.end() ? nullptr : Memory(step.args[pair->second]);
      uint8_t* to = Memory(step.args[i]);
      for (int64_t k = 0; k < program_.buffers[step.args[i]].bytes; ++k) {
        to[k] = static_cast<uint8_t>(Mix(seed + i, from ? from[k] : k) >> 40);
      }
    }
  }

  size_t InputCount(const Step& step) const {
    const std::vector<BufferAccess> accesses = StepAccesses(program_, step);
    return std::count_if(accesses.begin(), accesses.end(),
                         [](const BufferAccess& access) { return !access.written; });
  }

  void Fill(BufferId id, uint8_t value) {
    std::fill_n(Memory(id), program_.buffers[id].bytes, value);
  }

  uint64_t Digest(BufferId id) {
    uint64_t digest = 0;
    const uint8_t* bytes = Memory(id);
    for (int64_t k = 0; k < program_.buffers[id].bytes; ++k) digest = Mix(digest, bytes[k]);
    return digest;
  }

  void Poison(int step) {
    std::vector<char> alive(arena_.size(), 0);
    for (const Buffer& buffer : program_.buffers) {
      const bool lives = buffer.first_step <= step && step < buffer.last_step;
      if (buffer.kind != BufferKind::kArena || buffer.first_step < 0 || !lives) continue;
      std::fill_n(alive.begin() + buffer.offset, buffer.bytes, 1);
    }
    for (size_t i = 0; i < arena_.size(); ++i) {
      if (!alive[i]) arena_[i] = 0xCC;
    }
  }

  const Program& program_;
  const bool in_arena_;
  std::vector<uint8_t> arena_;
  std::map<BufferId, std::vector<uint8_t>> own_;
};

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
  b.program.kernels[KernelId(2)].variants[0].loops.scratch_bytes = 10;
  ASSERT_TRUE(PlanMemory(b.program).ok());
  EXPECT_EQ(b.program.arena_bytes, 128 + 4 * 128);
  const Buffer& scratch = b.program.buffers[b.program.steps[0].scratch];
  EXPECT_EQ(scratch.name, "kernel_0_scratch");
  EXPECT_EQ(scratch.bytes, 4 * 128);
  EXPECT_FALSE(b.program.steps[1].scratch.valid());
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
