#include "compiler/plan/assign_pools.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "compiler/plan/pool_fill.h"

namespace aotc {
namespace {

// What all searches for room may touch: about two seconds.
constexpr int64_t kFillWork = 1'000'000'000;
// Attempts to find room for blocks that had none. Each costs the square of the number of blocks.
constexpr size_t kMostAttempts = 64;
constexpr size_t kAttemptCost = 2'000'000'000;

// Traffic for each byte that a block takes; `for_steps`: and for each step during which it does.
double Heat(const PooledBlock& block, bool for_steps) {
  const double steps = for_steps ? block.place.last_step - block.place.first_step + 1 : 1;
  const double bytes = static_cast<double>(std::max<int64_t>(block.place.bytes, 1));
  return static_cast<double>(block.traffic) / (bytes * steps);
}

std::vector<int> ByHeat(const std::vector<PooledBlock>& blocks, bool for_steps) {
  std::vector<int> order(blocks.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return Heat(blocks[a], for_steps) > Heat(blocks[b], for_steps);
  });
  return order;
}

// What was put where: the pools, and the block that found no room, or -1.
struct Attempt {
  std::vector<PoolFill> pools = {};
  int misfit = -1;
};

class Assigner {
 public:
  Assigner(const std::vector<PooledBlock>& blocks, const std::vector<PoolLimit>& limits,
           int64_t align)
      : blocks_(blocks), limits_(limits), align_(align), by_heat_(ByHeat(blocks, true)) {}

  // The last pool takes what has no room in the others; whether it holds that is seen at the end.
  PoolAssignment Run() {
    PoolAssignment found = FillOpen();
    const int64_t needed = found.filled.back().bytes;
    if (needed <= limits_.back().value_or(needed)) return found;
    found = Promote();
    found.enough = needed;
    return found;
  }

 private:
  // Neither order is always the better one: that which brings more traffic to the fast pools stays.
  PoolAssignment FillOpen() {
    const Attempt by_steps = Fill({}, /*open=*/true);
    std::vector<int> other = ByHeat(blocks_, false);
    std::swap(by_heat_, other);
    const Attempt by_bytes = Fill({}, /*open=*/true);
    if (TrafficOf(by_bytes) > TrafficOf(by_steps)) return Tightened(by_bytes);
    std::swap(by_heat_, other);
    return Tightened(by_steps);
  }

  // Of each pool.
  std::vector<int64_t> TrafficOf(const Attempt& attempt) const {
    std::vector<int64_t> traffic;
    for (const PoolFill& pool : attempt.pools) {
      int64_t& sum = traffic.emplace_back(0);
      for (const int block : pool.members()) sum += blocks_[block].traffic;
    }
    return traffic;
  }

  // Puts `first` into the slowest pools with room for them, and then the others by heat.
  Attempt Fill(const std::vector<int>& first, bool open) {
    Attempt attempt;
    for (size_t p = 0; p < limits_.size(); ++p) {
      const bool bounded = !open || p + 1 < limits_.size();
      attempt.pools.emplace_back(blocks_, bounded ? limits_[p] : std::nullopt, align_);
    }
    std::vector<char> placed(blocks_.size(), 0);
    for (const int block : first) {
      placed[block] = 1;
      if (!AddBackwards(block, attempt)) return attempt;
    }
    for (const int block : by_heat_) {
      if (!placed[block] && !AddForwards(block, attempt)) return attempt;
    }
    return attempt;
  }

  bool AddForwards(int block, Attempt& attempt) {
    for (PoolFill& pool : attempt.pools) {
      if (pool.Add(block, work_)) return true;
    }
    attempt.misfit = block;
    return false;
  }

  bool AddBackwards(int block, Attempt& attempt) {
    for (auto pool = attempt.pools.rbegin(); pool != attempt.pools.rend(); ++pool) {
      if (pool->Add(block, work_)) return true;
    }
    attempt.misfit = block;
    return false;
  }

  // Blocks that found no room come first in the next attempt, the latest before all others.
  PoolAssignment Promote() {
    const size_t cost = blocks_.size() * blocks_.size() + 1;
    const size_t attempts = std::clamp<size_t>(kAttemptCost / cost, 1, kMostAttempts);
    std::vector<int> first;
    PoolAssignment result;
    for (size_t i = 0; i < attempts; ++i) {
      const Attempt attempt = Fill(first, /*open=*/false);
      if (attempt.misfit < 0) return Tightened(attempt);
      result.misfit = attempt.misfit;
      if (!first.empty() && first.front() == attempt.misfit) break;  // it fits into no pool at all
      first.erase(std::remove(first.begin(), first.end(), attempt.misfit), first.end());
      first.insert(first.begin(), attempt.misfit);
    }
    return result;
  }

  ArenaAssignment AsFilled(const PoolFill& pool, const std::vector<int>& members) const {
    ArenaAssignment result;
    for (const int block : members) {
      result.offsets.push_back(pool.offsets()[block]);
      result.bytes = std::max(result.bytes, pool.offsets()[block] + pool.Bytes(block));
    }
    return result;
  }

  // The smallest assignment that is known of each pool.
  PoolAssignment Tightened(const Attempt& attempt) const {
    PoolAssignment result;
    result.pool_of.assign(blocks_.size(), 0);
    result.offsets.assign(blocks_.size(), 0);
    for (size_t p = 0; p < attempt.pools.size(); ++p) {
      std::vector<int> members = attempt.pools[p].members();
      std::sort(members.begin(), members.end());
      std::vector<ArenaBlock> places;
      for (const int block : members) places.push_back(blocks_[block].place);
      ArenaAssignment smallest = AssignArena(places, align_);
      if (smallest.bytes > attempt.pools[p].limit().value_or(smallest.bytes)) {
        smallest = AsFilled(attempt.pools[p], members);
      }
      for (size_t i = 0; i < members.size(); ++i) {
        result.pool_of[members[i]] = static_cast<int>(p);
        result.offsets[members[i]] = smallest.offsets[i];
      }
      result.filled.push_back(std::move(smallest));
      result.lower_bounds.push_back(LiveBytesBound(places, align_));
    }
    return result;
  }

  const std::vector<PooledBlock>& blocks_;
  const std::vector<PoolLimit>& limits_;
  const int64_t align_;
  std::vector<int> by_heat_;
  int64_t work_ = kFillWork;
};

}  // namespace

PoolAssignment AssignPools(const std::vector<PooledBlock>& blocks,
                           const std::vector<PoolLimit>& limits, int64_t align) {
  return Assigner(blocks, limits, align).Run();
}

}  // namespace aotc
