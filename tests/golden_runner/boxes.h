// Values that lie in boxes of others, put together and taken apart element by element.
//
//   PutBox(a, {0, 0}, y);   // y[i, j] = a[i, j]
//   PutBox(b, {0, 4}, y);   // y[i, j + 4] = b[i, j]
//   TakeBox(y, {0, 4}, {2, 3});
#ifndef AOTC_TESTS_GOLDEN_RUNNER_BOXES_H_
#define AOTC_TESTS_GOLDEN_RUNNER_BOXES_H_

#include <vector>

#include "compiler/eval/evaluate.h"
#include "compiler/ir/fused_graph.h"

namespace aotc {

// Where the box begins, per logical axis.
std::vector<int64_t> LogicalStart(const Graph& graph, const ValueView& box,
                                  const SymbolValues& symbols);
void PutBox(const Constant& part, const std::vector<int64_t>& start, Constant& whole);
Constant TakeBox(const Constant& whole, const std::vector<int64_t>& start,
                 const std::vector<int64_t>& dims);

}  // namespace aotc

#endif  // AOTC_TESTS_GOLDEN_RUNNER_BOXES_H_
