#include "compiler/plan/step_graph.h"

#include <algorithm>
#include <numeric>

namespace aotc {
namespace {

// The finaliser of SplitMix64.
uint64_t Scramble(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// One bit per step.
using StepSet = std::vector<uint64_t>;

void Join(StepSet& set, const StepSet& other) {
  for (size_t word = 0; word < set.size(); ++word) set[word] |= other[word];
}

bool Contains(const StepSet& set, int step) { return set[step / 64] >> step % 64 & 1; }

// Per step: itself and all that must come before it. `order` keeps the dependencies.
std::vector<StepSet> Ancestors(const StepGraph& graph, const std::vector<int>& order) {
  std::vector<StepSet> ancestors(order.size(), StepSet((order.size() + 63) / 64, 0));
  for (int step : order) {
    ancestors[step][step / 64] |= uint64_t{1} << step % 64;
    for (int earlier : graph.before[step]) Join(ancestors[step], ancestors[earlier]);
  }
  return ancestors;
}

// Per step: the bytes that it touches, less those that it may write in place.
std::vector<int64_t> TouchedBytes(const StepGraph& graph) {
  std::vector<int64_t> sums;
  for (size_t step = 0; step < graph.touched.size(); ++step) {
    int64_t bytes = 0;
    for (int buffer : graph.touched[step]) bytes += graph.bytes[buffer];
    for (const auto& [to, from] : graph.in_place[step]) bytes -= graph.bytes[to];
    sums.push_back(bytes);
  }
  return sums;
}

// Adds, per step, the bytes of buffers that other steps touch before and after it in every order.
void AddBytesAcross(const StepGraph& graph, std::vector<int64_t>& sums) {
  std::vector<int> order(graph.before.size());
  std::iota(order.begin(), order.end(), 0);
  const std::vector<StepSet> before = Ancestors(graph, order);
  std::ranges::reverse(order);
  const std::vector<StepSet> after = Ancestors(Reversed(graph), order);
  std::vector<std::vector<int>> users(graph.bytes.size());
  for (size_t step = 0; step < graph.touched.size(); ++step) {
    for (int buffer : graph.touched[step]) users[buffer].push_back(static_cast<int>(step));
  }
  for (size_t buffer = 0; buffer < users.size(); ++buffer) {
    if (users[buffer].size() < 2) continue;
    StepSet early = before[users[buffer][0]], late = after[users[buffer][0]];
    for (int user : users[buffer]) {
      Join(early, before[user]);
      Join(late, after[user]);
    }
    // Counted already, as touched.
    for (int user : users[buffer]) early[user / 64] &= ~(uint64_t{1} << user % 64);
    for (int step : order) {
      if (Contains(early, step) && Contains(late, step)) sums[step] += graph.bytes[buffer];
    }
  }
}

}  // namespace

int64_t PeakOf(const StepGraph& graph, const std::vector<int>& order) {
  StepProgress progress(graph);
  int64_t peak = 0;
  for (int step : order) {
    peak = std::max(peak, progress.During(step));
    progress.Run(step);
  }
  return peak;
}

int64_t LeastPeak(const StepGraph& graph) {
  constexpr size_t kMostSteps = 4096;  // the work grows with their square
  std::vector<int64_t> sums = TouchedBytes(graph);
  if (sums.size() <= kMostSteps) AddBytesAcross(graph, sums);
  return sums.empty() ? 0 : std::max<int64_t>(0, *std::ranges::max_element(sums));
}

StepGraph Reversed(const StepGraph& graph) {
  StepGraph reversed = graph;
  for (std::vector<int>& before : reversed.before) before.clear();
  for (size_t step = 0; step < graph.before.size(); ++step) {
    for (int earlier : graph.before[step]) {
      reversed.before[earlier].push_back(static_cast<int>(step));
    }
    for (auto& [to, from] : reversed.in_place[step]) std::swap(to, from);
  }
  return reversed;
}

StepProgress::StepProgress(const StepGraph& graph)
    : graph_(graph),
      successors_(graph.before.size()),
      waiting_(graph.before.size()),
      uses_left_(graph.bytes.size()),
      live_(graph.bytes.size()) {
  for (size_t step = 0; step < graph.before.size(); ++step) {
    waiting_[step] = static_cast<int>(graph.before[step].size());
    if (waiting_[step] == 0) ready_.insert(static_cast<int>(step));
    for (int earlier : graph.before[step]) successors_[earlier].push_back(static_cast<int>(step));
    for (int buffer : graph.touched[step]) ++uses_left_[buffer];
  }
}

int64_t StepProgress::During(int step) const {
  int64_t bytes = live_bytes_;
  for (int buffer : graph_.touched[step]) bytes += live_[buffer] ? 0 : graph_.bytes[buffer];
  return bytes - Shared(step);
}

int64_t StepProgress::Growth(int step) const {
  int64_t growth = 0;
  for (int buffer : graph_.touched[step]) {
    if (!live_[buffer]) growth += graph_.bytes[buffer];
    if (uses_left_[buffer] == 1) growth -= graph_.bytes[buffer];
  }
  return growth;
}

void StepProgress::Run(int step) {
  live_bytes_ += Growth(step);
  born_.emplace_back();
  for (int buffer : graph_.touched[step]) {
    if (!live_[buffer]) born_.back().push_back(buffer);
    live_[buffer] = 1;
    --uses_left_[buffer];
  }
  for (int later : successors_[step]) {
    if (--waiting_[later] == 0) ready_.insert(later);
  }
  ready_.erase(step);
  order_.push_back(step);
  Mark(step);
}

// A buffer takes, and gives, its memory at most once.
int64_t StepProgress::Shared(int step) const {
  int64_t bytes = 0;
  std::vector<int> used;
  for (const auto& [to, from] : graph_.in_place[step]) {
    if (live_[to] || uses_left_[from] != 1) continue;
    const auto is_used = [&](int buffer) { return std::ranges::find(used, buffer) != used.end(); };
    if (is_used(to) || is_used(from)) continue;
    used.insert(used.end(), {to, from});
    bytes += graph_.bytes[to];
  }
  return bytes;
}

void StepProgress::TakeBack() {
  const int step = order_.back();
  order_.pop_back();
  Mark(step);
  for (int buffer : graph_.touched[step]) ++uses_left_[buffer];
  for (int buffer : born_.back()) live_[buffer] = 0;
  born_.pop_back();
  live_bytes_ -= Growth(step);
  for (int later : successors_[step]) {
    if (waiting_[later]++ == 0) ready_.erase(later);
  }
  ready_.insert(step);
}

void StepProgress::Mark(int step) {
  const uint64_t mark = Scramble(static_cast<uint64_t>(step));
  hash_.first ^= mark;
  hash_.second ^= Scramble(mark);
}

}  // namespace aotc
