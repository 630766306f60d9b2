#include "compiler/plan/search_arena.h"

#include <algorithm>
#include <memory>
#include <random>
#include <utility>

#include "compiler/plan/rising_search.h"
#include "compiler/plan/skyline_search.h"
#include "compiler/support/rounding.h"

namespace aotc {
namespace {

// Each block is a level of the recursion.
constexpr size_t kMostBlocks = 2000;

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
    result.push_back({RoundUp(blocks[i].bytes, align), static_cast<int>(first - steps.begin()),
                      static_cast<int>(behind - steps.begin()) - 1, static_cast<int>(i)});
  }
  return result;
}

int64_t Area(const SectionBlock& block) { return block.bytes * (block.last - block.first + 1); }

// Time runs backwards: what stood at the last section stands at the first.
void Mirror(std::vector<SectionBlock>& blocks) {
  int end = 0;
  for (const SectionBlock& block : blocks) end = std::max(end, block.last);
  for (SectionBlock& block : blocks) {
    const int first = block.first;
    block.first = end - block.last;
    block.last = end - first;
  }
}

// How promising a block is to come early: long, large in area, or in bytes.
int64_t Weight(const SectionBlock& block, int kind) {
  if (kind == 0) return block.last - block.first + 1;
  return kind == 1 ? Area(block) : block.bytes;
}

enum class Verdict { kFound, kNone, kUnknown };

class Search {
 public:
  Search(const std::vector<ArenaBlock>& blocks, int64_t align)
      : count_(blocks.size()), blocks_(ToSections(blocks, align)) {}

  // Whether the blocks fit. Most instances are easy in some order and very hard in others, so that
  // many short attempts that differ come before longer ones; uses up `work`.
  Verdict Fit(int64_t capacity, int64_t& work) {
    int64_t share = 200'000;
    for (int attempt = 0; work > 0; ++attempt) {
      if (attempt % kFixedAttempts == kFixedAttempts - 1) share += share / 2;
      for (const bool rising : {false, true}) {
        const int64_t given = std::min(share, work);
        const Verdict verdict = Try(*Attempt(attempt, rising, capacity, given), work);
        if (verdict != Verdict::kUnknown) return verdict;
      }
    }
    return Verdict::kUnknown;
  }
  const ArenaAssignment& found() const { return found_; }

 private:
  static constexpr int kFixedAttempts = 12;  // three weights, two ways to choose, two directions

  std::unique_ptr<SectionSearch> Attempt(int attempt, bool rising, int64_t capacity,
                                         int64_t work) const {
    if (rising) return std::make_unique<RisingSearch>(Ordered(attempt), capacity, work);
    const SkylineOptions options{.work = work, .lowest_first = attempt / 2 % 2 == 1};
    return std::make_unique<SkylineSearch>(Ordered(attempt), capacity, options);
  }

  // By weight, the highest first; later attempts multiply weights by up to 2 at random.
  std::vector<SectionBlock> Ordered(int attempt) const {
    std::minstd_rand random(static_cast<uint32_t>(attempt));
    std::vector<std::pair<int64_t, SectionBlock>> weighted;
    for (const SectionBlock& block : blocks_) {
      const int64_t noise = attempt < kFixedAttempts ? 0 : static_cast<int64_t>(random() % 64);
      weighted.emplace_back(Weight(block, attempt / 4 % 3) * (64 + noise), block);
    }
    std::stable_sort(weighted.begin(), weighted.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<SectionBlock> blocks;
    for (const auto& [weight, block] : weighted) blocks.push_back(block);
    if (attempt % 2 == 1) Mirror(blocks);
    return blocks;
  }

  // Runs a search; takes what it uses from `work`.
  Verdict Try(SectionSearch& search, int64_t& work) {
    work -= search.work_left();
    const bool found = search.Run();
    work += search.work_left();
    if (found) Keep(search);
    if (found) return Verdict::kFound;
    return search.complete() ? Verdict::kNone : Verdict::kUnknown;
  }

  void Keep(const SectionSearch& search) {
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
  int64_t least = LiveBytesBound(blocks, align);  // what nothing can be smaller than
  if (bytes <= least) return {.complete = true};
  if (blocks.size() > kMostBlocks) return {};
  Search search(blocks, align);
  ArenaSearch best;
  // Mostly the bound is reached: that gets half of the work. Otherwise the way there is gone in
  // steps, which become smaller where half of the work left does not do.
  int64_t steps = 1;
  while (bytes > least && work > 0) {
    const int64_t step = std::max(align, (bytes - least) / steps / align * align);
    int64_t share = work / 2 + 1;
    work -= share;
    const Verdict verdict = search.Fit(bytes - step, share);
    work += share;
    if (verdict == Verdict::kFound) {
      best.assignment = search.found();
      bytes = best.assignment->bytes;
    } else if (verdict == Verdict::kNone) {
      least = bytes - step + align;
    } else {
      if (step == align) break;
      steps *= 8;
    }
  }
  best.complete = bytes <= least;
  return best;
}

std::optional<ArenaAssignment> FitArena(const std::vector<ArenaBlock>& blocks, int64_t align,
                                        int64_t capacity, int64_t& work) {
  if (blocks.size() > kMostBlocks) return std::nullopt;
  Search search(blocks, align);
  if (search.Fit(capacity, work) != Verdict::kFound) return std::nullopt;
  return search.found();
}

}  // namespace aotc
