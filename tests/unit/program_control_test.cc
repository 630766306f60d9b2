// Branches and loops among the steps of a program: rules, lifetimes, barriers, order.
#include "compiler/ir/program_control.h"

#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/ir/program_text.h"
#include "compiler/plan/plan.h"
#include "gtest/gtest.h"
#include "tests/unit/program_builder.h"
#include "tests/unit/program_simulator.h"

namespace aotc {
namespace {

BufferId AddFlag(ProgramBuilderForTests& b, const std::string& name) {
  const BufferId flag = b.Add(name, BufferKind::kArena, 1);
  b.program.buffers[flag].dtype = DType::kBool;
  b.program.buffers[flag].shape = {};
  return flag;
}

void AddControl(ProgramBuilderForTests& b, StepKind kind, std::vector<BufferId> args = {}) {
  b.program.steps.push_back({.kind = kind, .args = std::move(args)});
}

// input -> flag; if (flag) x <- input; else x <- input; output <- x
ProgramBuilderForTests Branch(bool second_writes) {
  ProgramBuilderForTests b;
  const BufferId input = b.Add("input", BufferKind::kInput, 64);
  const BufferId flag = AddFlag(b, "flag");
  const BufferId first = b.Add("first", BufferKind::kArena, 64);
  const BufferId second = b.Add("second", BufferKind::kArena, 64);
  const BufferId x = b.Add("x", BufferKind::kArena, 64);
  b.Launch({input}, {flag});
  AddControl(b, StepKind::kIf, {flag});
  b.Launch({input}, {first});
  b.Launch({first}, {x});
  AddControl(b, StepKind::kElse);
  b.Launch({input}, {second});
  b.Launch({second}, {second_writes ? x : first});
  AddControl(b, StepKind::kEnd);
  b.Launch({x}, {b.Add("output", BufferKind::kOutput, 64)});
  return b;
}

// Kernels of tests write bytes: flags as well.
absl::Status Verify(Program program) {
  for (ProgramKernel& kernel : program.kernels) {
    for (KernelTensor& tensor : kernel.kernel.tensors) {
      if (tensor.shape.empty()) tensor.dtype = DType::kBool;
    }
  }
  return VerifyProgram(program);
}

TEST(ProgramControl, WhatBothBranchesWriteMayBeRead) {
  EXPECT_TRUE(Verify(Branch(true).program).ok()) << Verify(Branch(true).program);
  const absl::Status status = Verify(Branch(false).program);
  EXPECT_EQ(status.message(), "program: step 8 reads %x before any writes it");
}

TEST(ProgramControl, ALoopMayDoNothing) {
  ProgramBuilderForTests b;
  const BufferId input = b.Add("input", BufferKind::kInput, 64);
  const BufferId x = b.Add("x", BufferKind::kArena, 64);
  b.program.steps.push_back({.kind = StepKind::kLoop, .trip = 3});
  b.Launch({input}, {x});
  AddControl(b, StepKind::kEnd);
  b.Launch({x}, {b.Add("output", BufferKind::kOutput, 64)});
  EXPECT_EQ(Verify(b.program).message(), "program: step 3 reads %x before any writes it");
}

TEST(ProgramControl, KernelsDoNotReachTheHost) {
  for (const bool on_host : {false, true}) {
    ProgramBuilderForTests b = Chain();
    if (on_host) b.program.buffers[BufferId(1)].kind = BufferKind::kHost;
    const std::string complaint =
        on_host ? "program: step 0: @kernel_0 cannot reach %first, which is the host's" : "";
    EXPECT_EQ(VerifyProgram(b.program).message(), complaint);
  }
}

TEST(ProgramControl, StepsMustNest) {
  const auto check = [](const std::vector<StepKind>& kinds) {
    ProgramBuilderForTests b;
    const BufferId flag = AddFlag(b, "flag");
    for (StepKind kind : kinds) {
      const bool opens = OpensBlock({.kind = kind});
      AddControl(b, kind, opens ? std::vector<BufferId>{flag} : std::vector<BufferId>{});
    }
    return CheckControl(b.program).ok();
  };
  using enum StepKind;
  EXPECT_TRUE(check({kIf, kLoop, kEnd, kElse, kIf, kEnd, kEnd}));
  EXPECT_FALSE(check({kIf}));
  EXPECT_FALSE(check({kEnd}));
  EXPECT_FALSE(check({kElse, kEnd}));
  EXPECT_FALSE(check({kLoop, kElse, kEnd}));
  EXPECT_FALSE(check({kIf, kElse, kElse, kEnd}));
  ProgramBuilderForTests b;
  AddControl(b, kLoop);
  AddControl(b, kEnd);
  EXPECT_FALSE(CheckControl(b.program).ok());  // nothing ends it
}

TEST(ProgramControl, TextGoesRoundTrip) {
  ProgramBuilderForTests b;
  b.program.symbols = {{.name = "m", .var = "m", .min = 1, .max = 8}};
  const BufferId input = b.Add("input", BufferKind::kInput, 64);
  const BufferId flag = AddFlag(b, "flag");
  AddControl(b, StepKind::kIf, {flag});
  AddControl(b, StepKind::kElse);
  b.program.steps.push_back({.kind = StepKind::kLoop, .trip = Var("m") + 1, .counter = "round"});
  AddControl(b, StepKind::kCopy, {input, b.Add("output", BufferKind::kOutput, 64)});
  AddControl(b, StepKind::kEnd);
  AddControl(b, StepKind::kEnd);
  const std::string text = PrintProgram(b.program);
  const absl::StatusOr<Program> parsed = ParseProgram(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status() << "\n" << text;
  EXPECT_EQ(PrintProgram(*parsed), text);
  EXPECT_NE(text.find("step loop() counter round to m + 1"), std::string::npos) << text;
}

TEST(ProgramControl, BranchesUseTheSameMemory) {
  Program program = Branch(true).program;
  ASSERT_TRUE(PlanMemory(program).ok());
  EXPECT_EQ(program.arena_bytes, 2 * 64);  // %x, and the flag, %first or %second
}

// input -> two large values, each of them -> a small one; the small ones -> output. In a branch.
TEST(ProgramControl, StepsWithinABranchAreOrdered) {
  ProgramBuilderForTests b;
  const BufferId input = b.Add("input", BufferKind::kInput, 64);
  const BufferId flag = AddFlag(b, "flag");
  const BufferId output = b.Add("output", BufferKind::kOutput, 64);
  BufferId large[2], small[2];
  for (int i : {0, 1}) {
    large[i] = b.Add(absl::StrCat("large", i), BufferKind::kArena, 640);
    small[i] = b.Add(absl::StrCat("small", i), BufferKind::kArena, 64);
  }
  b.Launch({input}, {flag});
  AddControl(b, StepKind::kIf, {flag});
  for (int i : {0, 1}) b.Launch({input}, {large[i]});
  for (int i : {0, 1}) b.Launch({large[i]}, {small[i]});
  b.Launch({small[0], small[1]}, {output});
  AddControl(b, StepKind::kElse);
  b.Launch({input}, {output});
  AddControl(b, StepKind::kEnd);
  const Program given = b.program;
  ASSERT_TRUE(PlanMemory(b.program).ok());
  EXPECT_EQ(b.program.arena_bytes, 640 + 2 * 64);  // one large value at a time
  EXPECT_EQ(Simulator(given, false).Run(), Simulator(b.program, true).Run());
}

TEST(ProgramControl, CarriedValuesLiveThroughTheirLoop) {
  ProgramBuilderForTests b;
  const BufferId input = b.Add("input", BufferKind::kInput, 64);
  const BufferId carried = b.Add("carried", BufferKind::kArena, 64);
  const BufferId next = b.Add("next", BufferKind::kArena, 64);
  const BufferId inner = b.Add("inner", BufferKind::kArena, 64);
  b.Launch({input}, {carried});
  b.program.steps.push_back({.kind = StepKind::kLoop, .trip = 3});
  b.Launch({carried}, {inner});
  b.Launch({inner}, {next});
  b.Launch({next}, {carried});
  AddControl(b, StepKind::kEnd);
  b.Launch({carried}, {b.Add("output", BufferKind::kOutput, 64)});
  ASSERT_TRUE(PlanMemory(b.program).ok());
  const auto lifetime = [&](BufferId id) {
    return std::pair(b.program.buffers[id].first_step, b.program.buffers[id].last_step);
  };
  EXPECT_EQ(lifetime(carried), std::pair(0, 6));
  EXPECT_EQ(lifetime(inner), std::pair(2, 3));
  EXPECT_EQ(lifetime(next), std::pair(3, 4));
}

// Programs of branches and loops in one another.
class RandomControl {
 public:
  explicit RandomControl(std::mt19937& random) : random_(random) {}

  Program Make() {
    std::vector<BufferId> known = {b_.Add("input", BufferKind::kInput, 64)};
    AddBlock(known, 2);
    b_.Launch({known.back(), Pick(known)}, {b_.Add("output", BufferKind::kOutput, 64)});
    return std::move(b_.program);
  }

 private:
  BufferId Pick(const std::vector<BufferId>& known) { return known[random_() % known.size()]; }

  BufferId New(const std::string& stem) {
    return b_.Add(absl::StrCat(stem, count_++), BufferKind::kArena, 64 * (1 + random_() % 3));
  }

  void AddLaunch(const std::vector<BufferId>& known, BufferId to) {
    const BufferId from = Pick(known);
    Step& step = b_.Launch({from, Pick(known)}, {to});
    const bool same_size = b_.program.buffers[from].bytes == b_.program.buffers[to].bytes;
    if (same_size && random_() % 2 == 0) step.in_place = {{2, 0}};
  }

  BufferId MakeFlag(const std::vector<BufferId>& known) {
    const BufferId flag = AddFlag(b_, absl::StrCat("flag", count_++));
    b_.Launch({Pick(known)}, {flag});
    return flag;
  }

  // `known` is by value where what the block defines is not known behind it.
  void AddBlock(std::vector<BufferId>& known, int depth) {
    for (size_t i = 0; i < 2 + random_() % 4; ++i) {
      const auto kind = depth == 0 ? 0 : random_() % 4;
      const BufferId made = New("v");
      if (kind == 2) AddBranch(known, made, depth);
      if (kind == 3) AddLoop(known, made, depth);
      if (kind < 2) AddLaunch(known, made);
      known.push_back(made);
    }
  }

  void AddBranch(const std::vector<BufferId>& known, BufferId made, int depth) {
    AddControl(b_, StepKind::kIf, {MakeFlag(known)});
    for (StepKind close : {StepKind::kElse, StepKind::kEnd}) {
      std::vector<BufferId> inner = known;
      AddBlock(inner, depth - 1);
      b_.Launch({inner.back()}, {made});
      AddControl(b_, close);
    }
  }

  void AddLoop(const std::vector<BufferId>& known, BufferId made, int depth) {
    b_.Launch({Pick(known)}, {made});
    const bool has_flag = random_() % 2 == 0;
    const BufferId flag = MakeFlag(known);
    AddControl(b_, StepKind::kLoop, has_flag ? std::vector{flag} : std::vector<BufferId>{});
    if (!has_flag || random_() % 2 == 0)
      b_.program.steps.back().trip = static_cast<int64_t>(random_() % 4);
    std::vector<BufferId> inner = known;
    inner.push_back(made);
    AddBlock(inner, depth - 1);
    const BufferId next = New("next");
    b_.Launch({inner.back(), made}, {next});
    b_.Launch({next}, {made});
    b_.Launch({inner.back()}, {flag});
    AddControl(b_, StepKind::kEnd);
  }

  std::mt19937& random_;
  ProgramBuilderForTests b_;
  int count_ = 0;
};

struct Bytes {
  BufferId base = {};  // invalid: the arena
  int64_t begin = 0, end = 0;
  bool written = false;
};

// Along the way of one run, no step touches what another has touched since the workers met, unless
// both read.
void ExpectBarriersAlong(const Program& program, const std::vector<int>& path) {
  std::vector<Bytes> since;
  for (int index : path) {
    const Step& step = program.steps[index];
    if (step.barrier) since.clear();
    std::vector<Bytes> now;
    for (const BufferAccess& access : StepAccesses(program, step)) {
      const Buffer& buffer = program.buffers[access.buffer];
      const bool in_arena = buffer.kind == BufferKind::kArena;
      now.push_back({in_arena ? BufferId() : access.buffer, in_arena ? buffer.offset : 0,
                     (in_arena ? buffer.offset : 0) + buffer.bytes, access.written});
    }
    for (const Bytes& a : now) {
      for (const Bytes& b : since) {
        const bool meet = a.base == b.base && a.begin < b.end && b.begin < a.end;
        EXPECT_FALSE(meet && (a.written || b.written)) << "step " << index;
      }
    }
    since.insert(since.end(), now.begin(), now.end());
  }
}

TEST(ProgramControl, RandomProgramsComputeTheSameInTheArena) {
  std::mt19937 random(7);
  int rounds_run = 0;
  for (int round = 0; round < 400; ++round) {
    const Program given = RandomControl(random).Make();
    Program planned = given;
    ASSERT_TRUE(PlanMemory(planned).ok()) << PlanMemory(planned);
    Simulator simulator(planned, true);
    EXPECT_EQ(Simulator(given, false).Run(), simulator.Run());
    ExpectBarriersAlong(planned, simulator.path());
    rounds_run += static_cast<int>(simulator.path().size());
    if (HasFailure()) FAIL() << "round " << round << "\n" << PrintProgram(planned);
  }
  EXPECT_GT(rounds_run, 400 * 8);
}

}  // namespace
}  // namespace aotc
