#include "compiler/plan/rising_search.h"

#include <algorithm>
#include <limits>

namespace aotc {

RisingSearch::RisingSearch(std::vector<SectionBlock> blocks, int64_t capacity, int64_t work)
    : SectionSearch(std::move(blocks), capacity, work),
      blocks_at_(section_count()),
      top_(section_count(), 0) {
  for (int b = 0; b < static_cast<int>(blocks_.size()); ++b) {
    for (int s = blocks_[b].first; s <= blocks_[b].last; ++s) blocks_at_[s].push_back(b);
  }
}

bool RisingSearch::SolvePart(int first, int last) {
  if (work_ <= 0) return false;
  const Rank placed = placed_last_;
  const std::vector<int> blocks = ToPlace(first, last);
  if (!FloorsFit(blocks)) return false;
  int64_t lowest_top = std::numeric_limits<int64_t>::max();
  for (const int block : blocks) {
    lowest_top = std::min(lowest_top, offsets_[block] + blocks_[block].bytes);
  }
  const size_t mark = changes_.size();
  for (const int block : blocks) {
    const int64_t offset = offsets_[block];
    if (offset >= lowest_top) return false;
    if (offset < placed.offset || (offset == placed.offset && block < placed.block)) continue;
    placed_last_ = {offset, block};
    const bool found = Place(block) && SolveRange(first, last);
    placed_last_ = placed;
    if (found) return true;
    TakeBack(mark);
    if (work_ <= 0) return false;
  }
  return false;
}

// The blocks of a part, what may stand lowest first.
std::vector<int> RisingSearch::ToPlace(int first, int last) const {
  std::vector<int> blocks;
  for (int s = first; s <= last; ++s) {
    for (const int block : begins_[s]) {
      if (!placed_[block]) blocks.push_back(block);
    }
  }
  std::sort(blocks.begin(), blocks.end(),
            [&](int a, int b) { return std::pair(offsets_[a], a) < std::pair(offsets_[b], b); });
  return blocks;
}

// At each section, the blocks in the order of their lowest offsets stay below the capacity when
// stacked: no order needs less there. All will stand as high as the block placed last, or higher.
bool RisingSearch::FloorsFit(const std::vector<int>& blocks) {
  for (const int block : blocks) {
    const SectionBlock& it = blocks_[block];
    std::fill(top_.begin() + it.first, top_.begin() + it.last + 1, placed_last_.offset);
  }
  constexpr int kSectionWork = 3;  // twice here, and once of the order, against a step of Place
  for (const int block : blocks) {
    const SectionBlock& it = blocks_[block];
    work_ -= kSectionWork * (it.last - it.first + 1);
    for (int s = it.first; s <= it.last; ++s) {
      top_[s] = std::max(top_[s], offsets_[block]) + it.bytes;
      if (top_[s] > capacity_) return false;
    }
  }
  return true;
}

// Places a block where it may stand lowest, and raises what overlaps with it in time. False where a
// section has no room any more for what is left.
bool RisingSearch::Place(int block) {
  const SectionBlock& it = blocks_[block];
  const int64_t top = offsets_[block] + it.bytes;
  changes_.push_back({.block = block, .is_placed = true});
  Take(block);
  bool fits = true;
  for (int s = it.first; s <= it.last; ++s) fits = fits && top + left_[s] <= capacity_;
  work_ -= it.last - it.first + 1;
  if (!fits) return false;
  for (int s = it.first; s <= it.last; ++s) {
    work_ -= static_cast<int64_t>(blocks_at_[s].size());
    for (const int other : blocks_at_[s]) {
      if (placed_[other] || offsets_[other] >= top) continue;
      changes_.push_back({.block = other, .offset = offsets_[other]});
      offsets_[other] = top;
    }
  }
  return true;
}

void RisingSearch::TakeBack(size_t mark) {
  for (; changes_.size() > mark; changes_.pop_back()) {
    const Change& change = changes_.back();
    if (change.is_placed) {
      PutBack(change.block);
    } else {
      offsets_[change.block] = change.offset;
    }
  }
}

}  // namespace aotc
