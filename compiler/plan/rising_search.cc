#include "compiler/plan/rising_search.h"

#include <algorithm>
#include <limits>

namespace aotc {

RisingSearch::RisingSearch(std::vector<SectionBlock> blocks, int64_t capacity, int64_t work)
    : blocks_(std::move(blocks)), capacity_(capacity), work_(work) {
  int sections = 0;
  for (const SectionBlock& block : blocks_) sections = std::max(sections, block.last + 1);
  offsets_.assign(blocks_.size(), 0);
  placed_.assign(blocks_.size(), 0);
  begins_.resize(sections);
  blocks_at_.resize(sections);
  height_.assign(sections, 0);
  left_.assign(sections, 0);
  crossing_.assign(sections, 0);
  top_.assign(sections, 0);
  for (int b = 0; b < static_cast<int>(blocks_.size()); ++b) {
    begins_[blocks_[b].first].push_back(b);
    for (int s = blocks_[b].first; s <= blocks_[b].last; ++s) {
      blocks_at_[s].push_back(b);
      left_[s] += blocks_[b].bytes;
      crossing_[s] += s > blocks_[b].first;
    }
  }
}

bool RisingSearch::Run() {
  for (const int64_t bytes : left_) {
    if (bytes > capacity_) return false;
  }
  return SolveRange(0, static_cast<int>(left_.size()) - 1, {});
}

// Solves the parts of a range that no block links; all or none are placed.
bool RisingSearch::SolveRange(int first, int last, Rank placed) {
  const size_t mark = changes_.size();
  for (int begin = first; begin <= last;) {
    int end = begin;
    while (end < last && crossing_[end + 1] > 0) ++end;
    if (left_[begin] > 0 && !SolvePart(begin, end, placed)) {
      TakeBack(mark);
      return false;
    }
    begin = end + 1;
  }
  return true;
}

bool RisingSearch::SolvePart(int first, int last, Rank placed) {
  if (work_ <= 0) return false;
  const std::vector<int> blocks = ToPlace(first, last);
  if (!FloorsFit(blocks, placed.offset)) return false;
  int64_t lowest_top = std::numeric_limits<int64_t>::max();
  for (const int block : blocks) {
    lowest_top = std::min(lowest_top, offsets_[block] + blocks_[block].bytes);
  }
  const size_t mark = changes_.size();
  for (const int block : blocks) {
    const int64_t offset = offsets_[block];
    if (offset >= lowest_top) return false;
    if (offset < placed.offset || (offset == placed.offset && block < placed.block)) continue;
    if (Place(block) && SolveRange(first, last, {offset, block})) return true;
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
// stacked: no order needs less there. All will stand at `least` or higher.
bool RisingSearch::FloorsFit(const std::vector<int>& blocks, int64_t least) {
  for (const int block : blocks) {
    const SectionBlock& it = blocks_[block];
    std::fill(top_.begin() + it.first, top_.begin() + it.last + 1, least);
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
  changes_.push_back({What::kPlaced, block});
  placed_[block] = 1;
  bool fits = true;
  for (int s = it.first; s <= it.last; ++s) {
    left_[s] -= it.bytes;
    crossing_[s] -= s > it.first;
    changes_.push_back({What::kHeight, s, height_[s]});
    height_[s] = top;
    fits = fits && top + left_[s] <= capacity_;
  }
  work_ -= it.last - it.first + 1;
  if (!fits) return false;
  for (int s = it.first; s <= it.last; ++s) {
    work_ -= static_cast<int64_t>(blocks_at_[s].size());
    for (const int other : blocks_at_[s]) {
      if (placed_[other] || offsets_[other] >= top) continue;
      changes_.push_back({What::kOffset, other, offsets_[other]});
      offsets_[other] = top;
    }
  }
  return true;
}

void RisingSearch::TakeBack(size_t mark) {
  for (; changes_.size() > mark; changes_.pop_back()) {
    const Change& change = changes_.back();
    if (change.what == What::kOffset) offsets_[change.index] = change.before;
    if (change.what == What::kHeight) height_[change.index] = change.before;
    if (change.what != What::kPlaced) continue;
    const SectionBlock& it = blocks_[change.index];
    placed_[change.index] = 0;
    for (int s = it.first; s <= it.last; ++s) {
      left_[s] += it.bytes;
      crossing_[s] += s > it.first;
    }
  }
}

}  // namespace aotc
