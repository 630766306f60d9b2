#include "compiler/plan/assign_arena.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "gtest/gtest.h"

namespace aotc {
namespace {

using Blocks = std::vector<ArenaBlock>;

int64_t Padded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

void ExpectSound(const Blocks& blocks, const ArenaAssignment& assignment) {
  ASSERT_EQ(assignment.offsets.size(), blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(assignment.offsets[i] % 64, 0);
    EXPECT_LE(assignment.offsets[i] + blocks[i].bytes, assignment.bytes);
    for (size_t j = 0; j < i; ++j) {
      const bool same_time = blocks[i].first_step <= blocks[j].last_step &&
                             blocks[j].first_step <= blocks[i].last_step;
      const bool apart = assignment.offsets[i] + blocks[i].bytes <= assignment.offsets[j] ||
                         assignment.offsets[j] + blocks[j].bytes <= assignment.offsets[i];
      EXPECT_TRUE(!same_time || apart) << i << " and " << j;
    }
  }
}

Blocks RandomBlocks(std::mt19937& random, int count, int steps) {
  Blocks blocks;
  for (int i = 0; i < count; ++i) {
    const int first = static_cast<int>(random() % steps);
    const int last = std::min<int>(steps - 1, first + static_cast<int>(random() % 4));
    blocks.push_back({1 + static_cast<int64_t>(random() % 1000), first, last});
  }
  return blocks;
}

// The optimum by brute force: every order, each block in its lowest gap.
int64_t Optimum(const Blocks& blocks) {
  std::vector<int> order(blocks.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t best = INT64_MAX;
  do {
    best = std::min(best, PlaceInOrder(blocks, order, 64).bytes);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(AssignArena, NothingNeedsNothing) {
  EXPECT_EQ(AssignArena({}, 64).bytes, 0);
  EXPECT_EQ(LiveBytesBound({}, 64), 0);
}

TEST(AssignArena, AChainAlternatesBetweenTwoPlaces) {
  const Blocks blocks = {{256, 0, 1}, {256, 1, 2}, {256, 2, 3}, {256, 3, 4}};
  const ArenaAssignment assignment = AssignArena(blocks, 64);
  ExpectSound(blocks, assignment);
  EXPECT_EQ(assignment.bytes, 512);
  EXPECT_EQ(assignment.offsets, (std::vector<int64_t>{0, 256, 0, 256}));
}

TEST(AssignArena, FillsAGapBetweenLongLivedBlocks) {
  const Blocks blocks = {{512, 0, 0}, {64, 0, 3}, {256, 1, 2}, {256, 2, 3}};
  const ArenaAssignment assignment = AssignArena(blocks, 64);
  ExpectSound(blocks, assignment);
  EXPECT_EQ(assignment.bytes, LiveBytesBound(blocks, 64));
}

TEST(AssignArena, BoundCountsPaddedBytes) {
  EXPECT_EQ(LiveBytesBound({{1, 0, 0}, {65, 0, 1}}, 64), 192);
}

TEST(AssignArena, SmallCasesAreOptimal) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const Blocks blocks = RandomBlocks(random, 1 + static_cast<int>(random() % 6), 6);
    const ArenaAssignment assignment = AssignArena(blocks, 64);
    ExpectSound(blocks, assignment);
    EXPECT_GE(assignment.bytes, LiveBytesBound(blocks, 64));
    EXPECT_EQ(assignment.bytes, Optimum(blocks)) << "round " << round;
  }
}

TEST(AssignArena, EightBlocksComeCloseToTheOptimum) {
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    const Blocks blocks = RandomBlocks(random, 8, 6);
    const ArenaAssignment assignment = AssignArena(blocks, 64);
    ExpectSound(blocks, assignment);
    EXPECT_LE(assignment.bytes, Optimum(blocks) * 105 / 100) << "round " << round;
  }
}

TEST(AssignArena, LargeCasesStayNearTheBound) {
  std::mt19937 random(13);
  double worst = 0;
  for (int round = 0; round < 10; ++round) {
    const Blocks blocks = RandomBlocks(random, 150, 60);
    const ArenaAssignment assignment = AssignArena(blocks, 64);
    ExpectSound(blocks, assignment);
    worst = std::max(worst, static_cast<double>(assignment.bytes) /
                                static_cast<double>(LiveBytesBound(blocks, 64)));
  }
  EXPECT_LE(worst, 1.15);
}

TEST(AssignArena, RepeatsItself) {
  std::mt19937 random(17);
  const Blocks blocks = RandomBlocks(random, 60, 30);
  EXPECT_EQ(AssignArena(blocks, 64).offsets, AssignArena(blocks, 64).offsets);
  EXPECT_EQ(Padded(AssignArena(blocks, 64).bytes), AssignArena(blocks, 64).bytes);
}

}  // namespace
}  // namespace aotc
