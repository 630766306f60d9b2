#include "compiler/plan/memory_map.h"

#include "compiler/ir/air_text.h"
#include "compiler/ir/program_text.h"
#include "compiler/plan/plan.h"
#include "gtest/gtest.h"
#include "tests/unit/program_builder.h"

namespace aotc {
namespace {

Program Planned(int64_t bytes, int64_t bound, bool least) {
  Program program;
  program.arena_bytes = bytes;
  program.lower_bound = bound;
  program.arena_is_least = least;
  return program;
}

TEST(MemoryMap, SaysWhyTheArenaIsNoSmaller) {
  EXPECT_EQ(DescribeArena(Planned(640, 640, false)), "arena 640 bytes, its lower bound");
  EXPECT_EQ(DescribeArena(Planned(704, 640, true)),
            "arena 704 bytes, 1.100 times its lower bound of 640, proven smallest");
  EXPECT_EQ(DescribeArena(Planned(704, 640, false)),
            "arena 704 bytes, 1.100 times its lower bound of 640");
  EXPECT_EQ(DescribeArena(Planned(0, 0, false)), "arena 0 bytes, its lower bound");
  EXPECT_EQ(ArenaProof(Planned(640, 640, false)), "lower_bound");
  EXPECT_EQ(ArenaProof(Planned(704, 640, true)), "search");
  EXPECT_EQ(ArenaProof(Planned(704, 640, false)), "none");
}

TEST(MemoryMap, TheProofIsPartOfTheText) {
  for (const bool least : {false, true}) {
    const std::string text = PrintProgram(Planned(704, 640, least));
    const absl::StatusOr<Program> parsed = ParseProgram(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(parsed->arena_is_least, least) << text;
  }
}

TEST(MemoryMap, PoolsHaveTablesOfTheirOwn) {
  ProgramBuilderForTests b = Chain();
  b.Launch({BufferId(0)}, {b.Add("late", BufferKind::kArena, 60)});
  b.Launch({BufferId(4)}, {b.Add("last", BufferKind::kOutput, 60)});
  b.program.pools.Add({.name = "fast", .limit = 100});
  b.program.pools.Add({.name = "slow"});
  ASSERT_TRUE(PlanMemory(b.program).ok());
  EXPECT_EQ(DescribePools(b.program),
            "pool fast 64 of 100 bytes, its lower bound, 23.1 % of the traffic\n"
            "pool slow 128 bytes, its lower bound, 76.9 % of the traffic\n");
  EXPECT_EQ(PrintMemoryMap(b.program),
            "arena 192 bytes, 1.500 times its lower bound of 128\n"
            "pool fast 64 of 100 bytes, its lower bound, 23.1 % of the traffic\n"
            "    offset        bytes    steps   buffer\n"
            "         0           60      3-4   %late\n"
            "pool slow 128 bytes, its lower bound, 76.9 % of the traffic\n"
            "    offset        bytes    steps   buffer\n"
            "         0          100      0-1   %first\n"
            "         0          100      1-2   %second\n");
}

// Eight buffers that need a twelfth unit although only eleven live at once, each read at the steps
// of its lifetime; writes of whole outputs keep the order of the steps.
TEST(MemoryMap, APlanAboveItsBoundIsProven) {
  struct Life {
    int64_t units;
    int first, last;
  };
  const std::vector<Life> lives = {{5, 1, 5}, {4, 2, 2},  {1, 1, 3},   {1, 2, 10},
                                   {5, 1, 1}, {4, 5, 10}, {6, 10, 10}, {1, 3, 5}};
  ProgramBuilderForTests b;
  BufferId chain = b.Add("x", BufferKind::kInput, 64);
  std::vector<BufferId> buffers;
  for (const Life& life : lives) {
    const std::string name = "b" + std::to_string(buffers.size());
    buffers.push_back(b.Add(name, BufferKind::kArena, 64 * life.units));
  }
  for (int step = 1; step <= 10; ++step) {
    std::vector<BufferId> reads = {chain}, writes;
    for (size_t i = 0; i < lives.size(); ++i) {
      if (lives[i].first == step) writes.push_back(buffers[i]);
      if (lives[i].first < step && step <= lives[i].last) reads.push_back(buffers[i]);
    }
    chain = b.Add("y" + std::to_string(step), BufferKind::kOutput, 64);
    writes.push_back(chain);
    b.Launch(reads, writes);
  }
  ASSERT_TRUE(PlanMemory(b.program).ok());
  EXPECT_EQ(b.program.lower_bound, 64 * 11);
  EXPECT_EQ(b.program.arena_bytes, 64 * 12);
  EXPECT_EQ(ArenaProof(b.program), "search");
}

}  // namespace
}  // namespace aotc
