#include "compiler/plan/skyline_search.h"

#include <algorithm>

namespace aotc {
namespace {

// States that are remembered at most: 16 bytes each.
constexpr size_t kMostStates = 2'000'000;

// The finaliser of SplitMix64.
uint64_t Scramble(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

SkylineSearch::SkylineSearch(std::vector<SectionBlock> blocks, int64_t capacity,
                             const SkylineOptions& options)
    : SectionSearch(std::move(blocks), capacity, options.work),
      lowest_first_(options.lowest_first),
      twin_(blocks_.size(), -1),
      height_(section_count(), 0),
      top_(section_count(), -1),
      rest_(section_count(), 0),
      lowest_(section_count(), 0) {
  for (const std::vector<int>& begun : begins_) {
    for (size_t i = 0; i < begun.size(); ++i) {
      const SectionBlock& block = blocks_[begun[i]];
      rest_[block.first] ^= Scramble(begun[i]);
      for (size_t k = 0; k < i; ++k) {
        const SectionBlock& other = blocks_[begun[k]];
        if (other.last == block.last && other.bytes == block.bytes) twin_[begun[i]] = begun[k];
      }
    }
  }
}

bool SkylineSearch::SolvePart(int first, int last) {
  constexpr int kSectionWork = 4;  // of the valleys and the state, against one step of FloorsFit
  work_ -= kSectionWork * (last - first + 1);
  if (work_ <= 0) return false;
  const State state = StateOf(first, last);
  if (failed_.contains(state)) return false;
  const Valley valley = BestValley(first, last);
  if (valley.choices > 0 && FloorsFit(first, last) && Branch(valley, first, last)) return true;
  if (work_ > 0 && failed_.size() < kMostStates) failed_.insert(state);
  return false;
}

bool SkylineSearch::Branch(const Valley& valley, int first, int last) {
  const size_t mark = changes_.size();
  const int64_t ground = height_[valley.first];
  for (const int block : begins_[valley.first]) {
    if (!MayStand(block, valley)) continue;
    if (Place(block, ground) && SolveRange(first, last)) return true;
    TakeBack(mark);
    if (work_ <= 0) return false;
  }
  if (!valley.may_gap) return false;
  Lift(valley.first, valley.gap, -1);
  if (SolveRange(first, last)) return true;
  TakeBack(mark);
  return false;
}

bool SkylineSearch::IsBetter(const Valley& valley, const Valley& best) const {
  if (best.last < 0 || valley.choices == 0) return true;
  if (lowest_first_) return height_[valley.first] < height_[best.first];
  return valley.choices < best.choices;
}

// The valley to settle next; one without a choice where there is one.
SkylineSearch::Valley SkylineSearch::BestValley(int first, int last) const {
  Valley best;
  for (int begin = first; begin <= last && (best.last < 0 || best.choices > 0);) {
    int end = begin;
    while (end < last && height_[end + 1] == height_[begin]) ++end;
    const bool walled = (begin == first || height_[begin - 1] > height_[begin]) &&
                        (end == last || height_[end + 1] > height_[begin]);
    if (walled) {
      Valley valley{.first = begin, .last = end};
      Measure(valley, first, last);
      if (IsBetter(valley, best)) best = valley;
    }
    begin = end + 1;
  }
  return best;
}

// What is left at each section fits above the lowest place that a block may take there: on the
// highest ground of its sections.
bool SkylineSearch::FloorsFit(int first, int last) {
  std::fill(lowest_.begin() + first, lowest_.begin() + last + 1, capacity_);
  for (int begin = first; begin <= last; ++begin) {
    for (const int block : begins_[begin]) {
      if (placed_[block]) continue;
      const int end = blocks_[block].last;
      work_ -= end - begin + 1;
      const int64_t floor = *std::max_element(height_.begin() + begin, height_.begin() + end + 1);
      for (int s = begin; s <= end; ++s) lowest_[s] = std::min(lowest_[s], floor);
    }
  }
  for (int s = first; s <= last; ++s) {
    if (lowest_[s] + left_[s] > capacity_) return false;
  }
  return true;
}

// Counts the choices at the first section. A block that does not stand on the ground there stands
// on a neighbour of the valley, or on a block within it that is still to be placed.
void SkylineSearch::Measure(Valley& valley, int first, int last) const {
  for (const int block : begins_[valley.first]) valley.choices += MayStand(block, valley);
  valley.gap = capacity_;
  if (valley.first > first) valley.gap = std::min(valley.gap, height_[valley.first - 1]);
  if (valley.last < last) valley.gap = std::min(valley.gap, height_[valley.last + 1]);
  if (height_[valley.first] + 1 + left_[valley.first] > capacity_) return;
  for (int s = valley.first + 1; s <= valley.last; ++s) {
    for (const int block : begins_[s]) {
      if (placed_[block] || blocks_[block].last > valley.last) continue;
      valley.gap = std::min(valley.gap, height_[s] + blocks_[block].bytes);
    }
  }
  valley.may_gap = valley.gap + left_[valley.first] <= capacity_;
  valley.choices += valley.may_gap;
}

// Blocks of equal lifetimes that lie on one another stand in order, equal blocks too.
bool SkylineSearch::MayStand(int block, const Valley& valley) const {
  const SectionBlock& it = blocks_[block];
  if (placed_[block] || it.last > valley.last) return false;
  if (twin_[block] >= 0 && !placed_[twin_[block]]) return false;
  const int below = top_[valley.first];
  return below < block || blocks_[below].first != it.first || blocks_[below].last != it.last;
}

// False where a section has no room any more for what is left.
bool SkylineSearch::Place(int block, int64_t height) {
  const SectionBlock& it = blocks_[block];
  changes_.push_back({.block = block});
  Take(block);
  offsets_[block] = height;
  rest_[it.first] ^= Scramble(block);
  bool fits = true;
  for (int s = it.first; s <= it.last; ++s) {
    Lift(s, height + it.bytes, block);
    fits = fits && height_[s] + left_[s] <= capacity_;
  }
  work_ -= it.last - it.first + 1;
  return fits;
}

void SkylineSearch::Lift(int section, int64_t height, int top) {
  changes_.push_back({.section = section, .height = height_[section], .top = top_[section]});
  height_[section] = height;
  top_[section] = top;
}

void SkylineSearch::TakeBack(size_t mark) {
  for (; changes_.size() > mark; changes_.pop_back()) {
    const Change& change = changes_.back();
    if (change.block < 0) {
      height_[change.section] = change.height;
      top_[change.section] = change.top;
      continue;
    }
    PutBack(change.block);
    rest_[blocks_[change.block].first] ^= Scramble(change.block);
  }
}

// What decides whether a part can be solved: its skyline and the blocks to place.
SkylineSearch::State SkylineSearch::StateOf(int first, int last) const {
  State state{Scramble(first), Scramble(last)};
  for (int s = first; s <= last; ++s) {
    state.first = Scramble(state.first ^ height_[s]) + rest_[s];
    state.second = Scramble(state.second + rest_[s]) ^ (height_[s] * 0x9e3779b97f4a7c15u);
  }
  return state;
}

}  // namespace aotc
