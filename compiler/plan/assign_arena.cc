#include "compiler/plan/assign_arena.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "compiler/plan/search_arena.h"
#include "compiler/support/rounding.h"

namespace aotc {
namespace {

// What the exact search may touch: about three seconds.
constexpr int64_t kSearchWork = 2'000'000'000;

using Blocks = std::vector<ArenaBlock>;
using Order = std::vector<int>;

bool Conflict(const ArenaBlock& a, const ArenaBlock& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

int Length(const ArenaBlock& block) { return block.last_step - block.first_step; }

// Bytes of all blocks alive together with each block.
std::vector<int64_t> Pressure(const Blocks& blocks) {
  std::vector<int64_t> pressure(blocks.size(), 0);
  for (size_t i = 0; i < blocks.size(); ++i) {
    for (const ArenaBlock& other : blocks) {
      if (Conflict(blocks[i], other)) pressure[i] += other.bytes;
    }
  }
  return pressure;
}

Order Sorted(size_t size, const std::function<bool(int, int)>& before) {
  Order order(size);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), before);
  return order;
}

std::vector<Order> GreedyOrders(const Blocks& blocks) {
  const std::vector<int64_t> pressure = Pressure(blocks);
  const size_t size = blocks.size();
  const auto area = [&](int i) { return blocks[i].bytes * (Length(blocks[i]) + 1); };
  return {
      Sorted(size, [&](int a, int b) { return blocks[a].bytes > blocks[b].bytes; }),
      Sorted(size, [&](int a, int b) { return pressure[a] > pressure[b]; }),
      Sorted(size, [&](int a, int b) { return area(a) > area(b); }),
      Sorted(size, [&](int a, int b) { return Length(blocks[a]) > Length(blocks[b]); }),
      Sorted(size, [&](int a, int b) { return blocks[a].first_step < blocks[b].first_step; }),
      Sorted(size, [&](int a, int b) { return blocks[a].last_step > blocks[b].last_step; }),
  };
}

// The smallest of what the greedy orders give.
ArenaAssignment PlaceGreedily(const Blocks& blocks, int64_t align, int64_t bound) {
  ArenaAssignment best;
  for (const Order& order : GreedyOrders(blocks)) {
    ArenaAssignment found = PlaceInOrder(blocks, order, align);
    if (best.offsets.empty() || found.bytes < best.bytes) best = std::move(found);
    if (best.bytes == bound) break;
  }
  return best;
}

}  // namespace

int64_t LiveBytesBound(const std::vector<ArenaBlock>& blocks, int64_t align) {
  std::vector<std::pair<int, int64_t>> changes;  // at a step; those that end come first
  for (const ArenaBlock& block : blocks) {
    const int64_t bytes = RoundUp(block.bytes, align);
    changes.emplace_back(block.first_step, bytes);
    changes.emplace_back(block.last_step + 1, -bytes);
  }
  std::sort(changes.begin(), changes.end());
  int64_t live = 0, bound = 0;
  for (const auto& [step, bytes] : changes) bound = std::max(bound, live += bytes);
  return bound;
}

ArenaAssignment PlaceInOrder(const std::vector<ArenaBlock>& blocks, const std::vector<int>& order,
                             int64_t align) {
  ArenaAssignment result;
  result.offsets.assign(blocks.size(), 0);
  std::vector<int> placed;  // by ascending offset
  placed.reserve(blocks.size());
  for (int index : order) {
    const int64_t bytes = RoundUp(blocks[index].bytes, align);
    int64_t offset = 0;
    for (int other : placed) {
      if (!Conflict(blocks[index], blocks[other])) continue;
      if (offset + bytes <= result.offsets[other]) break;
      offset = std::max(offset, result.offsets[other] + RoundUp(blocks[other].bytes, align));
    }
    result.offsets[index] = offset;
    result.bytes = std::max(result.bytes, offset + bytes);
    const auto position =
        std::upper_bound(placed.begin(), placed.end(), offset,
                         [&](int64_t value, int other) { return value < result.offsets[other]; });
    placed.insert(position, index);
  }
  return result;
}

ArenaAssignment AssignArena(const std::vector<ArenaBlock>& blocks, int64_t align) {
  if (blocks.empty()) return {.is_smallest = true};
  ArenaAssignment best = PlaceGreedily(blocks, align, LiveBytesBound(blocks, align));
  ArenaSearch search = SearchArena(blocks, align, best.bytes, kSearchWork);
  if (search.assignment) best = *std::move(search.assignment);
  best.is_smallest = search.complete;
  return best;
}

}  // namespace aotc
