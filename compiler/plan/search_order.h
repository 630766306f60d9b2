// Search for an order of the steps that needs fewer bytes at its peak: exact where it comes to its
// end, which it does on graphs that are small or narrow; else the best that a fixed amount of work
// finds.
//
//   OrderSearch found = SearchOrder(graph, PeakOf(graph, given), kWork);
//   found.order      // lower than the peak given, or none
//   found.complete   // no order is lower
//
// Whether an order stays below a limit is decided depth first over the sets of steps that may have
// run (what is alive depends on the set alone), each looked at once. A step that ends at least as
// many bytes as it begins runs at once where the limit allows: any order can be changed so without
// a higher peak. Both directions of time are searched. The limit is found by bisection.
#ifndef AOTC_COMPILER_PLAN_SEARCH_ORDER_H_
#define AOTC_COMPILER_PLAN_SEARCH_ORDER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/plan/step_graph.h"

namespace aotc {

struct OrderSearch {
  std::optional<std::vector<int>> order = {};
  bool complete = false;
};

// Looks for an order with a peak below `peak`. `work` bounds the buffers that may be looked at.
OrderSearch SearchOrder(const StepGraph& graph, int64_t peak, int64_t work);

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_SEARCH_ORDER_H_
