// Ops that are defined by other ops and read more than their operands: those with regions, as Loop,
// Scan and FlexAttention, and Gradient.
//
//   if (NeedsDefinitions(graph)) graph = *WithDefinitions(graph);    // no Loop, but a Repeat
#ifndef AOTC_COMPILER_EVAL_DEFINITIONS_H_
#define AOTC_COMPILER_EVAL_DEFINITIONS_H_

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace aotc {

bool NeedsDefinitions(const Graph& graph);
// The graph with their definitions in place of such ops. Error: what a definition says of a node.
absl::StatusOr<Graph> WithDefinitions(const Graph& graph);

}  // namespace aotc

#endif  // AOTC_COMPILER_EVAL_DEFINITIONS_H_
