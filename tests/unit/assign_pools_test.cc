// Blocks shared out among pools: rules on small cases, and random ones against every way to share.
#include "compiler/plan/assign_pools.h"

#include <algorithm>
#include <random>
#include <string>

#include "gtest/gtest.h"

namespace aotc {
namespace {

using Blocks = std::vector<PooledBlock>;
using Limits = std::vector<PoolLimit>;

constexpr int64_t kAlign = 64;

// Bounds hold, and no two blocks of one pool that live at the same step overlap.
void ExpectSound(const Blocks& blocks, const Limits& limits, const PoolAssignment& found) {
  ASSERT_EQ(found.filled.size(), limits.size());
  for (size_t p = 0; p < limits.size(); ++p) {
    EXPECT_LE(found.filled[p].bytes, limits[p].value_or(found.filled[p].bytes));
    EXPECT_LE(found.lower_bounds[p], found.filled[p].bytes);
  }
  for (size_t a = 0; a < blocks.size(); ++a) {
    const ArenaBlock& one = blocks[a].place;
    EXPECT_EQ(found.offsets[a] % kAlign, 0);
    EXPECT_LE(found.offsets[a] + one.bytes, found.filled[found.pool_of[a]].bytes);
    for (size_t b = 0; b < a; ++b) {
      const ArenaBlock& other = blocks[b].place;
      const bool meet = one.first_step <= other.last_step && other.first_step <= one.last_step;
      const bool overlap = found.pool_of[a] == found.pool_of[b] &&
                           found.offsets[a] < found.offsets[b] + other.bytes &&
                           found.offsets[b] < found.offsets[a] + one.bytes;
      EXPECT_FALSE(meet && overlap) << "blocks " << a << " and " << b;
    }
  }
}

Blocks RandomBlocks(std::mt19937& random, int count, int steps) {
  Blocks blocks;
  for (int i = 0; i < count; ++i) {
    const int first = static_cast<int>(random() % steps);
    const int last = std::min<int>(steps - 1, first + static_cast<int>(random() % 4));
    const int64_t bytes = 1 + static_cast<int64_t>(random() % 1000);
    blocks.push_back({{bytes, first, last}, bytes * (2 + static_cast<int64_t>(random() % 4))});
  }
  return blocks;
}

// Whether some way to share the blocks keeps the limits: all of them are tried.
bool SomeWayFits(const Blocks& blocks, const Limits& limits) {
  std::vector<size_t> pool_of(blocks.size(), 0);
  while (true) {
    bool fits = true;
    for (size_t p = 0; fits && p < limits.size(); ++p) {
      std::vector<ArenaBlock> places;
      for (size_t i = 0; i < blocks.size(); ++i) {
        if (pool_of[i] == p) places.push_back(blocks[i].place);
      }
      const int64_t most = limits[p].value_or(INT64_MAX);
      fits = LiveBytesBound(places, kAlign) <= most && AssignArena(places, kAlign).bytes <= most;
    }
    if (fits) return true;
    size_t i = 0;
    for (; i < pool_of.size() && ++pool_of[i] == limits.size(); ++i) pool_of[i] = 0;
    if (i == pool_of.size()) return false;
  }
}

TEST(AssignPools, ThePoolThatIsFastestGetsWhatIsTouchedMost) {
  const Blocks blocks = {{{256, 0, 1}, 512}, {{256, 0, 1}, 1024}, {{256, 1, 2}, 600}};
  const PoolAssignment found = AssignPools(blocks, {256, std::nullopt}, kAlign);
  ExpectSound(blocks, {256, std::nullopt}, found);
  EXPECT_EQ(found.pool_of, (std::vector<int>{1, 0, 1}));
  EXPECT_EQ(found.filled[0].bytes, 256);
  EXPECT_EQ(found.filled[1].bytes, 512);
}

TEST(AssignPools, ABlockThatStaysCountsForAllItsSteps) {
  const Blocks blocks = {{{256, 0, 5}, 768}, {{256, 0, 1}, 512}, {{256, 2, 3}, 512}};
  EXPECT_EQ(AssignPools(blocks, {256, std::nullopt}, kAlign).pool_of, (std::vector<int>{1, 0, 0}));
}

TEST(AssignPools, SmallBlocksFillWhatLargeOnesLeave) {
  const Blocks blocks = {{{300, 0, 1}, 900}, {{1000, 0, 1}, 2000}, {{60, 0, 1}, 60}};
  const PoolAssignment found = AssignPools(blocks, {384, std::nullopt}, kAlign);
  EXPECT_EQ(found.pool_of, (std::vector<int>{0, 1, 0}));
}

TEST(AssignPools, OnePoolIsTheArena) {
  std::mt19937 random(3);
  const Blocks blocks = RandomBlocks(random, 40, 20);
  std::vector<ArenaBlock> places;
  for (const PooledBlock& block : blocks) places.push_back(block.place);
  const PoolAssignment found = AssignPools(blocks, {std::nullopt}, kAlign);
  EXPECT_EQ(found.filled[0].bytes, AssignArena(places, kAlign).bytes);
  EXPECT_EQ(found.offsets, AssignArena(places, kAlign).offsets);
}

TEST(AssignPools, NothingNeedsNothing) {
  const PoolAssignment found = AssignPools({}, {128, 64}, kAlign);
  EXPECT_EQ(found.misfit, -1);
  EXPECT_EQ(found.filled[0].bytes + found.filled[1].bytes, 0);
  const PoolAssignment empty = AssignPools({{{0, 0, 3}, 0}}, {1}, kAlign);
  EXPECT_EQ(empty.misfit, -1);
}

TEST(AssignPools, LimitsCountWholeUnits) {
  EXPECT_EQ(AssignPools({{{64, 0, 0}, 64}}, {127, std::nullopt}, kAlign).pool_of[0], 0);
  EXPECT_EQ(AssignPools({{{65, 0, 0}, 65}}, {127, std::nullopt}, kAlign).pool_of[0], 1);
}

// The cold block only fits where the hot ones would go first.
TEST(AssignPools, HotBlocksMakeWayForOnesThatFitNowhereElse) {
  const Blocks blocks = {{{128, 0, 1}, 1280}, {{512, 0, 1}, 512}};
  const PoolAssignment found = AssignPools(blocks, {512, 128}, kAlign);
  ASSERT_EQ(found.misfit, -1);
  EXPECT_EQ(found.pool_of, (std::vector<int>{1, 0}));
}

TEST(AssignPools, SaysWhatHasNoRoomAndWhatIsEnough) {
  const Blocks blocks = {{{128, 0, 1}, 1280}, {{640, 0, 1}, 640}, {{64, 1, 1}, 64}};
  const PoolAssignment found = AssignPools(blocks, {512, 128}, kAlign);
  EXPECT_EQ(found.misfit, 1);
  EXPECT_EQ(found.enough, 640);
  EXPECT_EQ(AssignPools(blocks, {512, found.enough}, kAlign).misfit, -1);
}

// A planner that forgets that a pool is full puts the small block over one of the others.
TEST(D4_Pools, ABlockForWhichAPoolIsFullLiesInAnother) {
  const Blocks blocks = {{{96, 0, 1}, 960}, {{896, 0, 1}, 8960}, {{64, 0, 1}, 64}};
  const Limits limits = {1024, std::nullopt};
  const PoolAssignment found = AssignPools(blocks, limits, kAlign);
  ExpectSound(blocks, limits, found);
  EXPECT_EQ(found.pool_of, (std::vector<int>{0, 0, 1}));
}

TEST(AssignPools, RandomCasesKeepTheirBounds) {
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const Blocks blocks = RandomBlocks(random, 5 + static_cast<int>(random() % 60), 30);
    const Limits limits = {static_cast<int64_t>(random() % 2000),
                           static_cast<int64_t>(random() % 2000), std::nullopt};
    const PoolAssignment found = AssignPools(blocks, limits, kAlign);
    ASSERT_EQ(found.misfit, -1);
    ExpectSound(blocks, limits, found);
    EXPECT_EQ(found.offsets, AssignPools(blocks, limits, kAlign).offsets);
  }
}

// Where a way to share exists, one is found; else the bound that is said to be enough is.
TEST(AssignPools, RandomCasesAgainstAllWaysToShare) {
  std::mt19937 random(7);
  int fitting = 0;
  for (int round = 0; round < 400; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const Blocks blocks = RandomBlocks(random, 3 + static_cast<int>(random() % 5), 6);
    Limits limits = {256 + static_cast<int64_t>(random() % 1500),
                     256 + static_cast<int64_t>(random() % 1500)};
    const PoolAssignment found = AssignPools(blocks, limits, kAlign);
    const bool fits = SomeWayFits(blocks, limits);
    fitting += fits;
    EXPECT_EQ(found.misfit < 0, fits);
    if (found.misfit >= 0) limits.back() = found.enough;
    ExpectSound(blocks, limits, found.misfit < 0 ? found : AssignPools(blocks, limits, kAlign));
  }
  EXPECT_GT(fitting, 100);
  EXPECT_LT(fitting, 300);
}

}  // namespace
}  // namespace aotc
