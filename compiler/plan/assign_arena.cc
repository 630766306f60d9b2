#include "compiler/plan/assign_arena.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace aotc {
namespace {

// Up to here all orders are tried: 7! = 5040.
constexpr size_t kExhaustiveBlocks = 7;
// Placements that the search of larger cases may cost.
constexpr int64_t kSearchBudget = 40'000'000;

using Blocks = std::vector<ArenaBlock>;
using Order = std::vector<int>;

int64_t RoundUp(int64_t bytes, int64_t align) { return (bytes + align - 1) / align * align; }

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

class Search {
 public:
  Search(const Blocks& blocks, int64_t align)
      : blocks_(blocks), align_(align), bound_(LiveBytesBound(blocks, align)) {}

  ArenaAssignment Run() {
    for (const Order& order : GreedyOrders(blocks_)) {
      if (Try(order)) best_order_ = order;
      if (Done()) return best_;
    }
    if (blocks_.size() <= kExhaustiveBlocks) {
      TryAllOrders();
    } else {
      MovePeaksForward();
    }
    return best_;
  }

 private:
  bool Done() const { return best_.bytes == bound_; }

  // True if the order is better than the best so far.
  bool Try(const Order& order) {
    ArenaAssignment found = PlaceInOrder(blocks_, order, align_);
    const bool better = best_.offsets.empty() || found.bytes < best_.bytes;
    if (better) best_ = std::move(found);
    return better;
  }

  void TryAllOrders() {
    Order order(blocks_.size());
    std::iota(order.begin(), order.end(), 0);
    do {
      Try(order);
    } while (!Done() && std::next_permutation(order.begin(), order.end()));
  }

  // Hill climb: a block that ends at the peak goes to the front, or swaps with an earlier one.
  void MovePeaksForward() {
    const int64_t size = static_cast<int64_t>(blocks_.size());
    const int64_t rounds = std::min<int64_t>(2000, kSearchBudget / (size * size));
    Order order = best_order_;
    int64_t current = best_.bytes;
    uint64_t state = 0x9e3779b97f4a7c15u;
    for (int64_t round = 0; round < rounds && !Done(); ++round) {
      Order next = order;
      MutateAtPeak(next, state);
      const ArenaAssignment found = PlaceInOrder(blocks_, next, align_);
      if (found.bytes > current) continue;
      order = std::move(next);
      current = found.bytes;
      if (found.bytes < best_.bytes) best_ = found;
    }
  }

  void MutateAtPeak(Order& order, uint64_t& state) const {
    const ArenaAssignment placed = PlaceInOrder(blocks_, order, align_);
    std::vector<int> peaks;
    for (size_t position = 0; position < order.size(); ++position) {
      const int block = order[position];
      const int64_t end = placed.offsets[block] + RoundUp(blocks_[block].bytes, align_);
      if (end == placed.bytes && position > 0) peaks.push_back(static_cast<int>(position));
    }
    const int chosen =
        peaks.empty() ? static_cast<int>(order.size()) - 1 : peaks[Random(state) % peaks.size()];
    const int target = static_cast<int>(Random(state) % static_cast<uint64_t>(chosen));
    std::rotate(order.begin() + target, order.begin() + chosen, order.begin() + chosen + 1);
  }

  // A fixed sequence (xorshift), so that plans repeat.
  static uint64_t Random(uint64_t& state) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state >> 1;
  }

  const Blocks& blocks_;
  const int64_t align_;
  const int64_t bound_;
  ArenaAssignment best_;
  Order best_order_;
};

}  // namespace

int64_t LiveBytesBound(const std::vector<ArenaBlock>& blocks, int64_t align) {
  int64_t bound = 0;
  // The sum only grows where a block begins.
  for (const ArenaBlock& start : blocks) {
    int64_t live = 0;
    for (const ArenaBlock& block : blocks) {
      if (block.first_step <= start.first_step && start.first_step <= block.last_step) {
        live += RoundUp(block.bytes, align);
      }
    }
    bound = std::max(bound, live);
  }
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
  if (blocks.empty()) return {};
  return Search(blocks, align).Run();
}

}  // namespace aotc
