#include "compiler/plan/search_arena.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace aotc {
namespace {

// Each block is a level of the recursion.
constexpr size_t kMostBlocks = 2000;

// A block over the sections of time that matter: those whose set of live blocks is in no other's.
struct SectionBlock {
  int64_t bytes = 0;
  int first = 0;  // section, inclusive
  int last = 0;   // section, inclusive
  int index = 0;  // in the caller's blocks
};

bool Conflict(const SectionBlock& a, const SectionBlock& b) {
  return a.first <= b.last && b.first <= a.last;
}

// Steps at which some block ends after some block has begun: live sets are largest there.
std::vector<int> SectionSteps(const std::vector<ArenaBlock>& blocks) {
  std::vector<std::pair<int, int>> events;  // step, 0 for a beginning and 1 for an end
  for (const ArenaBlock& block : blocks) {
    if (block.bytes == 0) continue;
    events.push_back({block.first_step, 0});
    events.push_back({block.last_step, 1});
  }
  std::sort(events.begin(), events.end());
  std::vector<int> steps;
  for (size_t i = 1; i < events.size(); ++i) {
    if (events[i - 1].second == 0 && events[i].second == 1) steps.push_back(events[i].first);
  }
  return steps;
}

std::vector<SectionBlock> ToSections(const std::vector<ArenaBlock>& blocks, int64_t align) {
  const std::vector<int> steps = SectionSteps(blocks);
  std::vector<SectionBlock> result;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].bytes == 0) continue;
    const auto first = std::lower_bound(steps.begin(), steps.end(), blocks[i].first_step);
    const auto behind = std::upper_bound(steps.begin(), steps.end(), blocks[i].last_step);
    result.push_back({(blocks[i].bytes + align - 1) / align * align,
                      static_cast<int>(first - steps.begin()),
                      static_cast<int>(behind - steps.begin()) - 1, static_cast<int>(i)});
  }
  return result;
}

// Depth-first search for offsets below a capacity.
class CapacitySearch {
 public:
  // `blocks` in the order in which equal offsets are tried.
  CapacitySearch(std::vector<SectionBlock> blocks, int64_t capacity, int64_t work)
      : blocks_(std::move(blocks)), capacity_(capacity), work_(work) {
    const size_t count = blocks_.size();
    floors_.assign(count, 0);
    placed_.assign(count, false);
    for (size_t b = 0; b < count; ++b) {
      const size_t sections = static_cast<size_t>(blocks_[b].last) + 1;
      if (members_.size() < sections) members_.resize(sections);
      for (int s = blocks_[b].first; s <= blocks_[b].last; ++s) {
        members_[static_cast<size_t>(s)].push_back(b);
      }
    }
    left_.assign(members_.size(), 0);
    lowest_.assign(members_.size(), 0);
    for (const SectionBlock& block : blocks_) {
      for (int s = block.first; s <= block.last; ++s) left_[static_cast<size_t>(s)] += block.bytes;
    }
  }

  // True if offsets were found; else complete() tells whether there are none.
  bool Run() {
    for (const int64_t bytes : left_) {
      if (bytes > capacity_) return false;
    }
    Part all(blocks_.size());
    std::iota(all.begin(), all.end(), 0);
    return SolveAll(all, 0, 0);
  }
  bool complete() const { return work_ > 0; }
  int64_t work_left() const { return work_; }
  const std::vector<SectionBlock>& blocks() const { return blocks_; }
  const std::vector<int64_t>& offsets() const { return floors_; }

 private:
  using Part = std::vector<size_t>;  // numbers of blocks still to place, ascending

  struct Change {
    size_t block = 0;
    int64_t floor = 0;  // before it was lifted; negative: the block was placed
  };

  // Places all blocks at `low` or above; at `low`, only those from number `from` on. Blocks that no
  // third one links in time are solved apart, so that none is undone for the other's sake.
  bool SolveAll(const Part& part, int64_t low, size_t from) {
    Part by_time = part;
    std::sort(by_time.begin(), by_time.end(), [&](size_t a, size_t b) {
      return std::pair(blocks_[a].first, a) < std::pair(blocks_[b].first, b);
    });
    size_t begin = 0;
    while (begin < by_time.size()) {
      size_t end = begin;
      int last = blocks_[by_time[begin]].last;
      while (end < by_time.size() && blocks_[by_time[end]].first <= last) {
        last = std::max(last, blocks_[by_time[end++]].last);
      }
      Part linked(by_time.begin() + static_cast<long>(begin),
                  by_time.begin() + static_cast<long>(end));
      std::sort(linked.begin(), linked.end());
      if (!Solve(linked, low, from)) return false;
      begin = end;
    }
    return true;
  }

  bool Solve(const Part& part, int64_t low, size_t from) {
    for (const size_t b : Candidates(part, low, from)) {
      const size_t mark = changes_.size();
      const int64_t offset = floors_[b];
      Part rest;
      std::copy_if(part.begin(), part.end(), std::back_inserter(rest),
                   [&](size_t other) { return other != b; });
      if (Place(b, rest) && SolveAll(rest, offset, b + 1)) return true;
      TakeBack(mark);
      if (work_ <= 0) return false;
    }
    return false;
  }

  // Blocks that may come next, the lowest first.
  std::vector<size_t> Candidates(const Part& part, int64_t low, size_t from) {
    int64_t lowest_end = std::numeric_limits<int64_t>::max();
    for (const size_t b : part) lowest_end = std::min(lowest_end, floors_[b] + blocks_[b].bytes);
    std::vector<size_t> found;
    for (const size_t b : part) {
      if (floors_[b] < low || (floors_[b] == low && b < from)) continue;
      if (floors_[b] < lowest_end && !HasTwinBefore(b)) found.push_back(b);
    }
    work_ -= static_cast<int64_t>(part.size());
    std::stable_sort(found.begin(), found.end(),
                     [&](size_t a, size_t b) { return floors_[a] < floors_[b]; });
    return found;
  }

  // An equal block of a lower number waits: it may as well come first.
  bool HasTwinBefore(size_t b) const {
    const SectionBlock& block = blocks_[b];
    for (const size_t a : members_[static_cast<size_t>(block.first)]) {
      if (a >= b) return false;
      const SectionBlock& other = blocks_[a];
      if (!placed_[a] && other.first == block.first && other.last == block.last &&
          other.bytes == block.bytes)
        return true;
    }
    return false;
  }

  // Puts the block on its floor and lifts those of `rest` above it. False where they cannot all
  // fit any more.
  bool Place(size_t b, const Part& rest) {
    const SectionBlock& block = blocks_[b];
    const int64_t end = floors_[b] + block.bytes;
    changes_.push_back({b, -1});
    placed_[b] = true;
    for (int s = block.first; s <= block.last; ++s) left_[static_cast<size_t>(s)] -= block.bytes;
    bool fits = end <= capacity_;
    for (const size_t other : rest) {
      if (floors_[other] >= end || !Conflict(block, blocks_[other])) continue;
      changes_.push_back({other, floors_[other]});
      floors_[other] = end;
      fits = fits && end + blocks_[other].bytes <= capacity_;
    }
    work_ -= static_cast<int64_t>(rest.size());
    return fits && SectionsFit(floors_[b], rest);
  }

  // What is left at each section fits above the lowest floor there, which is `low` at least.
  bool SectionsFit(int64_t low, const Part& rest) {
    for (const size_t b : rest) {
      for (int s = blocks_[b].first; s <= blocks_[b].last; ++s) {
        lowest_[static_cast<size_t>(s)] = capacity_;
      }
    }
    for (const size_t b : rest) {
      const int64_t floor = std::max(floors_[b], low);
      work_ -= blocks_[b].last - blocks_[b].first + 1;
      for (int s = blocks_[b].first; s <= blocks_[b].last; ++s) {
        int64_t& lowest = lowest_[static_cast<size_t>(s)];
        lowest = std::min(lowest, floor);
      }
    }
    for (const size_t b : rest) {
      for (int s = blocks_[b].first; s <= blocks_[b].last; ++s) {
        const size_t section = static_cast<size_t>(s);
        if (lowest_[section] + left_[section] > capacity_) return false;
      }
    }
    return true;
  }

  void TakeBack(size_t mark) {
    for (; changes_.size() > mark; changes_.pop_back()) {
      const auto [b, floor] = changes_.back();
      if (floor >= 0) {
        floors_[b] = floor;
        continue;
      }
      const SectionBlock& block = blocks_[b];
      placed_[b] = false;
      for (int s = block.first; s <= block.last; ++s) left_[static_cast<size_t>(s)] += block.bytes;
    }
  }

  const std::vector<SectionBlock> blocks_;
  const int64_t capacity_;
  int64_t work_;
  std::vector<int64_t> floors_ = {};               // per block; once placed, its offset
  std::vector<bool> placed_ = {};                  // per block
  std::vector<std::vector<size_t>> members_ = {};  // per section: its blocks, ascending
  std::vector<int64_t> left_ = {};                 // per section: bytes still to place
  std::vector<int64_t> lowest_ = {};               // per section, of SectionsFit
  std::vector<Change> changes_ = {};               // to be taken back
};

using Less = std::function<bool(const SectionBlock&, const SectionBlock&)>;

int64_t Area(const SectionBlock& block) { return block.bytes * (block.last - block.first + 1); }

// Which of several blocks at the same offset is tried first; no order is best for all.
std::array<Less, 3> Orders() {
  return {
      [](const auto& a, const auto& b) { return a.last - a.first > b.last - b.first; },
      [](const auto& a, const auto& b) { return Area(a) > Area(b); },
      [](const auto& a, const auto& b) { return a.bytes > b.bytes; },
  };
}

enum class Verdict { kFound, kNone, kUnknown };

class Search {
 public:
  Search(const std::vector<ArenaBlock>& blocks, int64_t align)
      : count_(blocks.size()), blocks_(ToSections(blocks, align)) {}

  // Whether the blocks fit; tries the orders in turn, with more and more work each.
  Verdict Fit(int64_t capacity, int64_t work) {
    constexpr int64_t kFirstShare = 4'000'000;
    for (int64_t share = kFirstShare; work > 0; share *= 4) {
      for (const Less& less : Orders()) {
        std::vector<SectionBlock> blocks = blocks_;
        std::stable_sort(blocks.begin(), blocks.end(), less);
        const int64_t given = std::min(share, std::max<int64_t>(work, 0));
        CapacitySearch search(std::move(blocks), capacity, given);
        const bool found = search.Run();
        work -= given - search.work_left();
        if (found) {
          Keep(search);
          return Verdict::kFound;
        }
        if (search.complete()) return Verdict::kNone;
      }
    }
    return Verdict::kUnknown;
  }
  const ArenaAssignment& found() const { return found_; }

 private:
  void Keep(const CapacitySearch& search) {
    found_ = {std::vector<int64_t>(count_, 0), 0};
    for (size_t b = 0; b < search.blocks().size(); ++b) {
      const SectionBlock& block = search.blocks()[b];
      found_.offsets[static_cast<size_t>(block.index)] = search.offsets()[b];
      found_.bytes = std::max(found_.bytes, search.offsets()[b] + block.bytes);
    }
  }

  const size_t count_;
  const std::vector<SectionBlock> blocks_;
  ArenaAssignment found_ = {};
};

}  // namespace

ArenaSearch SearchArena(const std::vector<ArenaBlock>& blocks, int64_t align, int64_t bytes,
                        int64_t work) {
  const int64_t bound = LiveBytesBound(blocks, align);
  if (bytes <= bound) return {.complete = true};
  if (blocks.size() > kMostBlocks) return {};
  Search search(blocks, align);
  // Mostly the bound is reached, and what stays above it is best lowered step by step.
  const Verdict at_bound = search.Fit(bound, work / 2);
  if (at_bound == Verdict::kFound) return {search.found(), true};
  const int64_t least = at_bound == Verdict::kNone ? bound + align : bound;
  ArenaSearch best;
  Verdict verdict = Verdict::kFound;
  while (bytes > least && verdict == Verdict::kFound) {
    verdict = search.Fit(bytes - align, work / 2);
    if (verdict != Verdict::kFound) break;
    best.assignment = search.found();
    bytes = best.assignment->bytes;
  }
  best.complete = bytes <= least || verdict == Verdict::kNone;
  return best;
}

}  // namespace aotc
