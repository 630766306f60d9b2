// The exact search for a small arena, against all orders on small cases and against instances of
// known optimum on hard ones.
#include "compiler/plan/search_arena.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>

#include "compiler/plan/rising_search.h"
#include "compiler/plan/skyline_search.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

using Blocks = std::vector<ArenaBlock>;

constexpr int64_t kMuch = int64_t{1} << 40;
constexpr int64_t kWork = 400'000'000;

// The smallest arena of all orders.
int64_t SmallestOfAllOrders(const Blocks& blocks) {
  std::vector<int> order(blocks.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t best = kMuch;
  do {
    best = std::min(best, PlaceInOrder(blocks, order, 1).bytes);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

void ExpectApart(const Blocks& blocks, const ArenaAssignment& assignment) {
  for (size_t a = 0; a < blocks.size(); ++a) {
    EXPECT_LE(assignment.offsets[a] + blocks[a].bytes, assignment.bytes);
    for (size_t b = 0; b < a; ++b) {
      const bool meet = blocks[a].first_step <= blocks[b].last_step &&
                        blocks[b].first_step <= blocks[a].last_step;
      const bool overlap = assignment.offsets[a] < assignment.offsets[b] + blocks[b].bytes &&
                           assignment.offsets[b] < assignment.offsets[a] + blocks[a].bytes;
      EXPECT_FALSE(meet && overlap) << "blocks " << a << " and " << b;
    }
  }
}

TEST(SearchArena, FindsTheSmallestOfAllOrders) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Blocks blocks(3 + random() % 5);
    for (ArenaBlock& block : blocks) {
      const int first = static_cast<int>(random() % 6);
      block = {static_cast<int64_t>(random() % 9), first, first + static_cast<int>(random() % 4)};
    }
    const ArenaSearch search = SearchArena(blocks, 1, kMuch, kWork);
    EXPECT_TRUE(search.complete);
    ASSERT_TRUE(search.assignment.has_value());
    ExpectApart(blocks, *search.assignment);
    const int64_t smallest = SmallestOfAllOrders(blocks);
    EXPECT_EQ(search.assignment->bytes, smallest);
    const ArenaSearch none = SearchArena(blocks, 1, smallest, kWork);
    EXPECT_TRUE(none.complete);
    EXPECT_FALSE(none.assignment.has_value());
  }
}

// Eight blocks that need a twelfth unit although only eleven live at once.
TEST(SearchArena, ProvesThatTheBoundIsOutOfReach) {
  const Blocks blocks = {{5, 1, 5}, {4, 2, 2},  {1, 1, 3},   {1, 2, 10},
                         {5, 1, 1}, {4, 5, 10}, {6, 10, 10}, {1, 3, 5}};
  ASSERT_EQ(LiveBytesBound(blocks, 1), 11);
  ASSERT_EQ(SmallestOfAllOrders(blocks), 12);
  const ArenaSearch search = SearchArena(blocks, 1, kMuch, kWork);
  EXPECT_TRUE(search.complete);
  ASSERT_TRUE(search.assignment.has_value());
  EXPECT_EQ(search.assignment->bytes, 12);
}

// A rectangle of time and memory cut at random into blocks, which therefore fill it without a gap.
class Cuts {
 public:
  Cuts(uint32_t seed, int count) : random_(seed), count_(count) {}

  Blocks Make(int steps, int64_t bytes) {
    Blocks pieces = {{bytes, 0, steps - 1}};
    while (static_cast<int>(pieces.size()) < count_) Cut(pieces);
    std::shuffle(pieces.begin(), pieces.end(), random_);
    return pieces;
  }

 private:
  // Cuts one of the largest pieces, through its time or its memory.
  void Cut(Blocks& pieces) {
    auto area = [](const ArenaBlock& p) { return p.bytes * (p.last_step - p.first_step + 1); };
    auto chosen = pieces.begin();
    for (int i = 0; i < 4; ++i) {
      auto other = pieces.begin() + static_cast<long>(random_() % pieces.size());
      if (area(*other) > area(*chosen)) chosen = other;
    }
    ArenaBlock& first = *chosen;
    ArenaBlock second = first;
    const int steps = first.last_step - first.first_step + 1;
    if (steps > 1 && (random_() % 2 == 0 || first.bytes == 1)) {
      const int at = first.first_step + static_cast<int>(random_() % (steps - 1));
      first.last_step = at;
      second.first_step = at + 1;
    } else if (first.bytes > 1) {
      const int64_t bytes = 1 + static_cast<int64_t>(random_() % (first.bytes - 1));
      first.bytes -= bytes;
      second.bytes = bytes;
    } else {
      return;
    }
    pieces.push_back(second);
  }

  std::mt19937 random_;
  const int count_;
};

// Each search alone decides whether blocks fit, as all orders do.
TEST(SearchArena, BothSearchesAgreeWithAllOrders) {
  std::mt19937 random(13);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Blocks blocks(3 + random() % 5);
    std::vector<SectionBlock> sections;
    for (ArenaBlock& block : blocks) {
      const int first = static_cast<int>(random() % 6);
      block = {1 + static_cast<int64_t>(random() % 9), first,
               first + static_cast<int>(random() % 4)};
      sections.push_back(
          {block.bytes, block.first_step, block.last_step, static_cast<int>(sections.size())});
    }
    sections.push_back({1, 0, 9, static_cast<int>(sections.size())});  // leaves no section empty
    blocks.push_back({1, 0, 9});
    const int64_t smallest = SmallestOfAllOrders(blocks);
    for (const int64_t capacity : {smallest - 1, smallest}) {
      SkylineSearch skyline(sections, capacity, {.work = kWork});
      EXPECT_EQ(skyline.Run(), capacity == smallest);
      EXPECT_TRUE(skyline.complete());
      RisingSearch rising(sections, capacity, kWork);
      EXPECT_EQ(rising.Run(), capacity == smallest);
      EXPECT_TRUE(rising.complete());
      if (capacity == smallest) ExpectApart(blocks, {rising.offsets(), capacity});
      if (capacity == smallest) ExpectApart(blocks, {skyline.offsets(), capacity});
    }
  }
}

TEST(SearchArena, FillsCutRectanglesWithoutAGap) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const Blocks blocks = Cuts(seed, 40).Make(20, 1'000'000);
    ASSERT_EQ(LiveBytesBound(blocks, 1), 1'000'000);
    const ArenaSearch search = SearchArena(blocks, 1, kMuch, kWork);
    EXPECT_TRUE(search.complete) << "seed " << seed;
    ASSERT_TRUE(search.assignment.has_value());
    ExpectApart(blocks, *search.assignment);
    EXPECT_EQ(search.assignment->bytes, 1'000'000) << "seed " << seed;
  }
}

// How many of the 60 hard instances of a family are solved: a sample, or all where the environment
// says so, as a long test does; those must be solved in less than 10 s each.
bool AllInstances() { return std::getenv("AOTC_ALL_HARD_INSTANCES") != nullptr; }

// Proves the smallest arena of an instance that needs 1024 units, and returns the seconds it took.
double ProveSmallest(const Blocks& blocks) {
  EXPECT_EQ(LiveBytesBound(blocks, 1), 1024);
  const auto start = std::chrono::steady_clock::now();
  const ArenaAssignment found = AssignArena(blocks, 1);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_TRUE(found.is_smallest);
  EXPECT_EQ(found.bytes, 1024);
  if (AllInstances()) {
    EXPECT_LT(took.count(), 10);
  }
  ExpectApart(blocks, found);
  return took.count();
}

int64_t BytesBySize(const Blocks& blocks) {
  std::vector<int> by_size(blocks.size());
  std::iota(by_size.begin(), by_size.end(), 0);
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](int a, int b) { return blocks[a].bytes > blocks[b].bytes; });
  return PlaceInOrder(blocks, by_size, 1).bytes;
}

// Hard instances of the form of those published with MiniMalloc (github.com/google/minimalloc,
// benchmarks/asplos2024: 154 to 454 buffers, times and sizes on a grid of 1024 units, the capacity
// reached by most): the grid is cut at random, so that a perfect assignment exists and any gap
// rules it out. Greedy orders end well above it.
TEST(SearchArena, RelayRow52_HardInstancesAreProvenSmallest) {
  double worst = 0;
  for (uint32_t seed = 0; seed < 60; seed += AllInstances() ? 1 : 6) {
    const int count = 154 + static_cast<int>(seed) * 5 / 2;
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << count << " blocks");
    const Blocks blocks = Cuts(seed, count).Make(1024, 1024);
    worst = std::max(worst, ProveSmallest(blocks));
    EXPECT_GT(BytesBySize(blocks), 1024);
  }
  RecordProperty("worst_milliseconds", static_cast<int>(worst * 1000));
}

// As the published instances have them, gaps: a twentieth of the area is taken out again, but for
// what is alive at one step, so that the bound stays. They are harder: of those with more blocks
// than here, some are left without a proof.
Blocks WithoutTwentieth(const Blocks& blocks, int kept_step) {
  int64_t room = int64_t{1024} * 1024 / 20;
  Blocks rest;
  for (const ArenaBlock& block : blocks) {
    const int64_t area = block.bytes * (block.last_step - block.first_step + 1);
    const bool kept = block.first_step <= kept_step && kept_step <= block.last_step;
    if (kept || area > room) rest.push_back(block);
    if (!kept && area <= room) room -= area;
  }
  return rest;
}

TEST(SearchArena, RelayRow52_HardInstancesWithGapsAreProvenSmallest) {
  double worst = 0;
  for (uint32_t seed = 0; seed < 60; seed += AllInstances() ? 1 : 6) {
    const int count = 40 + static_cast<int>(seed);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << count << " blocks");
    const Blocks cut = Cuts(seed, count).Make(1024, 1024);
    worst = std::max(worst, ProveSmallest(WithoutTwentieth(cut, static_cast<int>(seed) * 17)));
  }
  RecordProperty("worst_milliseconds", static_cast<int>(worst * 1000));
}

}  // namespace
}  // namespace aotc
