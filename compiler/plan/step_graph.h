// The steps of a program and what they touch, as far as the bytes alive in an order depend on it.
//
//   StepGraph graph = StepGraphOf(program);          // order_steps.h
//   PeakOf(graph, {0, 2, 1});                        // bytes alive at the worst step of that order
//   StepProgress progress(graph);                    // an order under way
//   for (int step : progress.ready()) progress.During(step);
#ifndef AOTC_COMPILER_PLAN_STEP_GRAPH_H_
#define AOTC_COMPILER_PLAN_STEP_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace aotc {

// Buffers and steps are numbers from 0; 0, 1, 2 ... is an order that keeps `before`.
struct StepGraph {
  std::vector<std::vector<int>> before = {};   // per step: the steps that must come earlier
  std::vector<std::vector<int>> touched = {};  // per step: its buffers, each once
  // Per step: a buffer that it may write in place of another, if it is the first to touch the one
  // and the last to touch the other.
  std::vector<std::vector<std::pair<int, int>>> in_place = {};
  std::vector<int64_t> bytes = {};  // per buffer
};

// Largest sum of bytes alive at one step. A buffer lives from the first step that touches it to the
// last.
int64_t PeakOf(const StepGraph& graph, const std::vector<int>& order);

// What no order can stay below: the bytes that are alive at one step in every order, as they are
// touched there, or before and after.
int64_t LeastPeak(const StepGraph& graph);

// The same with time running backwards: its orders, reversed, are those of `graph`, with the same
// bytes alive at each step.
StepGraph Reversed(const StepGraph& graph);

// Steps that have run, what is alive behind them, and what may run next.
class StepProgress {
 public:
  explicit StepProgress(const StepGraph& graph);

  const std::vector<int>& order() const { return order_; }
  const std::set<int>& ready() const { return ready_; }
  bool done() const { return order_.size() == graph_.before.size(); }

  // Of the set of steps that have run, whatever their order.
  std::pair<uint64_t, uint64_t> hash() const { return hash_; }

  // Bytes alive while `step` runs next.
  int64_t During(int step) const;

  // Bytes alive after it less those before.
  int64_t Growth(int step) const;

  void Run(int step);

  // Takes back all steps but the first `count`.
  void TakeBackTo(size_t count) {
    while (order_.size() > count) TakeBack();
  }

 private:
  int64_t Shared(int step) const;
  void TakeBack();
  void Mark(int step);

  const StepGraph& graph_;
  std::vector<std::vector<int>> successors_;
  std::vector<int> waiting_;    // per step: of `before`, those that have not run
  std::vector<int> uses_left_;  // per buffer: steps to run that touch it
  std::vector<char> live_;      // per buffer: some step has touched it
  std::set<int> ready_ = {};
  std::vector<int> order_ = {};
  std::vector<std::vector<int>> born_ =
      {};  // per step that has run: what it was the first to touch
  std::pair<uint64_t, uint64_t> hash_ = {0, 0};
  int64_t live_bytes_ = 0;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_STEP_GRAPH_H_
