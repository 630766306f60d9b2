// Values that lie in boxes of others, put together and taken apart element by element.
//
//   PutBox(a, {{0, 0}, {1, 1}}, y);   // y[i, j] = a[i, j]
//   PutBox(b, {{0, 4}, {1, 2}}, y);   // y[i, 2 * j + 4] = b[i, j]
//   TakeBox(y, {{0, 4}, {1, 2}}, {2, 3});
#ifndef AOTC_TESTS_GOLDEN_RUNNER_BOXES_H_
#define AOTC_TESTS_GOLDEN_RUNNER_BOXES_H_

#include <vector>

#include "compiler/eval/evaluate.h"
#include "compiler/ir/fused_graph.h"

namespace aotc {

// Where a box begins, and from one of its elements to the next, per logical axis.
struct LogicalBox {
  std::vector<int64_t> start = {}, step = {};
};

LogicalBox LogicalBoxOf(const Graph& graph, const ValueView& box, const SymbolValues& symbols);
void PutBox(const Constant& part, const LogicalBox& box, Constant& whole);
Constant TakeBox(const Constant& whole, const LogicalBox& box, const std::vector<int64_t>& dims);

}  // namespace aotc

#endif  // AOTC_TESTS_GOLDEN_RUNNER_BOXES_H_
