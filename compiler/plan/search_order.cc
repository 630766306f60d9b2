#include "compiler/plan/search_order.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"

namespace aotc {
namespace {

// Sets of steps are remembered by two hashes, 16 bytes each.
constexpr size_t kMostSets = 2'000'000;

enum class Verdict { kFound, kNone, kUnknown };

// Whether some order stays at or below a limit.
class LimitSearch {
 public:
  LimitSearch(const StepGraph& graph, int64_t limit, int64_t work)
      : graph_(graph), progress_(graph), limit_(limit), work_(work) {}

  Verdict Run() {
    Enter();
    while (!progress_.done() && work_ > 0) {
      if (levels_.empty()) return Verdict::kNone;
      Advance();
    }
    return progress_.done() ? Verdict::kFound : Verdict::kUnknown;
  }
  int64_t work_left() const { return std::max<int64_t>(work_, 0); }
  const std::vector<int>& order() const { return progress_.order(); }

 private:
  // A set of steps that have run, and those that may run next.
  struct Level {
    size_t base = 0;  // steps in the set
    std::vector<int> moves = {};
    size_t next = 0;  // move to try
  };

  // Opens a level, unless all is done or nothing can come of it.
  void Enter() {
    RunWhatCostsNothing();
    if (progress_.done() || failed_.contains(progress_.hash())) return;
    levels_.push_back({.base = progress_.order().size(), .moves = Moves()});
  }

  void Advance() {
    Level& level = levels_.back();
    progress_.TakeBackTo(level.base);
    if (level.next == level.moves.size()) {
      if (failed_.size() < kMostSets) failed_.insert(progress_.hash());
      levels_.pop_back();
      return;
    }
    progress_.Run(level.moves[level.next++]);
    Enter();
  }

  void RunWhatCostsNothing() {
    const auto is_free = [&](int step) {
      Charge(step);
      return progress_.Growth(step) <= 0 && progress_.During(step) <= limit_;
    };
    while (work_ > 0) {
      const auto step = std::ranges::find_if(progress_.ready(), is_free);
      if (step == progress_.ready().end()) return;
      progress_.Run(*step);
    }
  }

  // Those that stay below the limit, what grows least first.
  std::vector<int> Moves() {
    std::vector<std::pair<int64_t, int>> found;
    for (int step : progress_.ready()) {
      Charge(step);
      if (progress_.During(step) <= limit_) found.emplace_back(progress_.Growth(step), step);
    }
    std::sort(found.begin(), found.end());
    std::vector<int> moves;
    for (const auto& [growth, step] : found) moves.push_back(step);
    return moves;
  }

  void Charge(int step) { work_ -= 1 + static_cast<int64_t>(graph_.touched[step].size()); }

  const StepGraph& graph_;
  StepProgress progress_;
  const int64_t limit_;
  int64_t work_;
  std::vector<Level> levels_ = {};
  absl::flat_hash_set<std::pair<uint64_t, uint64_t>> failed_ = {};
};

// Looks for orders in both directions: where one has to look at many sets, the other often fails,
// or gets through, at once.
class BothWays {
 public:
  BothWays(const StepGraph& graph, int64_t work)
      : forward_(graph), backward_(Reversed(graph)), work_(work) {}

  Verdict Run(int64_t limit) {
    for (const int part : {64, 64, 4, 4}) {
      const StepGraph& graph = backward_is_next_ ? backward_ : forward_;
      const int64_t share = work_ / part + 1;
      LimitSearch search(graph, limit, share);
      const Verdict verdict = search.Run();
      work_ -= share - search.work_left();
      order_ = search.order();
      if (backward_is_next_) std::ranges::reverse(order_);
      if (verdict != Verdict::kUnknown) return verdict;
      backward_is_next_ = !backward_is_next_;
    }
    return Verdict::kUnknown;
  }
  int64_t work_left() const { return work_; }
  const std::vector<int>& order() const { return order_; }

 private:
  const StepGraph& forward_;
  const StepGraph backward_;
  int64_t work_;
  bool backward_is_next_ = false;
  std::vector<int> order_ = {};
};

}  // namespace

OrderSearch SearchOrder(const StepGraph& graph, int64_t peak, int64_t work) {
  int64_t low = LeastPeak(graph);  // no order below it is known, or wanted
  OrderSearch result{.complete = true};
  BothWays search(graph, work);
  while (low < peak && search.work_left() > 0) {
    const int64_t limit = low + (peak - 1 - low) / 2;
    const Verdict verdict = search.Run(limit);
    if (verdict == Verdict::kFound) {
      result.order = search.order();
      peak = PeakOf(graph, *result.order);
      continue;
    }
    low = limit + 1;
    result.complete = result.complete && verdict == Verdict::kNone;
  }
  result.complete = result.complete && low >= peak;
  return result;
}

}  // namespace aotc
