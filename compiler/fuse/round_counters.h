// Values that count the rounds of a loop: what indexes with one of them needs no check in the run.
#ifndef AOTC_COMPILER_FUSE_ROUND_COUNTERS_H_
#define AOTC_COMPILER_FUSE_ROUND_COUNTERS_H_

#include <map>

#include "compiler/ir/graph.h"

namespace aotc {

// Values that count, and more than each of them ever is.
using RoundCounters = std::map<ValueId, Expr>;

// Adds the carried values of a Repeat that start at 0 and grow by 1 in each of a known number of
// rounds. Other nodes have none.
void AddRoundCounters(const Graph& graph, const Node& node, RoundCounters& counters);

}  // namespace aotc

#endif  // AOTC_COMPILER_FUSE_ROUND_COUNTERS_H_
