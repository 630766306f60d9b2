#include "compiler/plan/pool_fill.h"

#include <algorithm>
#include <utility>

#include "compiler/plan/search_arena.h"
#include "compiler/support/rounding.h"

namespace aotc {
namespace {

// What one search for a new assignment may touch: a few hundredths of a second.
constexpr int64_t kRepackWork = 20'000'000;

size_t StepCount(const std::vector<PooledBlock>& blocks) {
  int count = 0;
  for (const PooledBlock& block : blocks) count = std::max(count, block.place.last_step + 1);
  return static_cast<size_t>(count);
}

bool Conflict(const ArenaBlock& a, const ArenaBlock& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

}  // namespace

PoolFill::PoolFill(const std::vector<PooledBlock>& blocks, PoolLimit limit, int64_t align)
    : blocks_(blocks),
      limit_(limit ? PoolLimit(*limit / align * align) : limit),
      align_(align),
      live_(StepCount(blocks), 0),
      offsets_(blocks.size(), 0) {}

int64_t PoolFill::Bytes(int block) const { return RoundUp(blocks_[block].place.bytes, align_); }

bool PoolFill::Add(int block, int64_t& work) {
  if (limit_) {
    if (!MayFit(block)) return false;
    if (const std::optional<int64_t> gap = LowestGap(block)) {
      offsets_[block] = *gap;
    } else if (!Repack(block, work)) {
      return false;
    }
  }
  Take(block);
  return true;
}

// At no step more bytes are alive than the pool has.
bool PoolFill::MayFit(int block) const {
  const ArenaBlock& place = blocks_[block].place;
  const int64_t room = *limit_ - Bytes(block);
  return std::all_of(live_.begin() + place.first_step, live_.begin() + place.last_step + 1,
                     [&](int64_t bytes) { return bytes <= room; });
}

std::optional<int64_t> PoolFill::LowestGap(int block) const {
  int64_t offset = 0;
  for (const int other : members_) {
    if (!Conflict(blocks_[block].place, blocks_[other].place)) continue;
    if (offset + Bytes(block) <= offsets_[other]) break;
    offset = std::max(offset, offsets_[other] + Bytes(other));
  }
  if (offset + Bytes(block) > *limit_) return std::nullopt;
  return offset;
}

bool PoolFill::Repack(int block, int64_t& work) {
  std::vector<int> wanted = members_;
  wanted.push_back(block);
  std::vector<ArenaBlock> places;
  for (const int index : wanted) places.push_back(blocks_[index].place);
  int64_t share = std::min(work, kRepackWork);
  work -= share;
  const std::optional<ArenaAssignment> found = FitArena(places, align_, *limit_, share);
  work += std::max<int64_t>(share, 0);
  if (!found) return false;
  for (size_t i = 0; i < wanted.size(); ++i) offsets_[wanted[i]] = found->offsets[i];
  std::sort(members_.begin(), members_.end(),
            [&](int a, int b) { return std::pair(offsets_[a], a) < std::pair(offsets_[b], b); });
  return true;
}

void PoolFill::Take(int block) {
  const ArenaBlock& place = blocks_[block].place;
  for (int step = place.first_step; step <= place.last_step; ++step) live_[step] += Bytes(block);
  const auto position =
      std::upper_bound(members_.begin(), members_.end(), offsets_[block],
                       [&](int64_t offset, int other) { return offset < offsets_[other]; });
  members_.insert(position, block);
}

}  // namespace aotc
