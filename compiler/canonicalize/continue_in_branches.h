// What follows an If whose branches give results of two ranks, once for each branch: then every
// value has one rank, and the branches have to agree only at the end.
//
//   %y = If(%c) { %a: f32[] ... } { %b: f32[n] ... }      %z = If(%c) { ... %a; Shape(%a) }
//   %z = Shape(%y)                                    =>              { ... %b; Shape(%b) }
//
// What does not depend on it goes before it. What is behind an If that ends a branch itself is
// behind the If of that branch, which goes first.
#ifndef AOTC_COMPILER_CANONICALIZE_CONTINUE_IN_BRANCHES_H_
#define AOTC_COMPILER_CANONICALIZE_CONTINUE_IN_BRANCHES_H_

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace aotc {

// False where nothing follows, or what follows defines sizes, which are defined once. (Independent
// nodes are before it even then.)
absl::StatusOr<bool> ContinueInBranches(Graph& graph, NodeId node);

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_CONTINUE_IN_BRANCHES_H_
