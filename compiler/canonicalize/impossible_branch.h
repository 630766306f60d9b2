// Branches of an If that no run can take, as what they compute does not fit together at the sizes
// that are known: a run that takes one ends with a status.
//
//   ReplaceBranch(graph, branch, other, node, "the inner dims of the operands differ: 2 and 128");
#ifndef AOTC_COMPILER_CANONICALIZE_IMPOSSIBLE_BRANCH_H_
#define AOTC_COMPILER_CANONICALIZE_IMPOSSIBLE_BRANCH_H_

#include <string>

#include "compiler/ir/graph.h"

namespace aotc {

// Leaves nothing of the branch of an If but a DefineSizes whose check never holds, with that
// sentence, and outputs of the types, which are those of the other branch. Dims that only that
// knows are 0.
void ReplaceBranch(Graph& graph, RegionId branch, RegionId other, const Node& node,
                   const std::string& sentence);

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_IMPOSSIBLE_BRANCH_H_
