// Sizes that only a run knows, as symbols of the graph.
//
//   *SettleSizes(graph, node, kernel, {.region = graph.main}, diagnostics);    // true: build again
//
// * What an op requires of sizes, and cannot prove, is a check of the last symbol that it names.
// * A size of an output that may be anything becomes a symbol, with the bound that is derived, else
//   that of --bound, else what the model declares.
#ifndef AOTC_COMPILER_CANONICALIZE_RUN_SIZES_H_
#define AOTC_COMPILER_CANONICALIZE_RUN_SIZES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/canonicalize/item_rooms.h"
#include "compiler/canonicalize/size_sources.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/op.h"
#include "compiler/support/diagnostics.h"

namespace aotc {

// Where a node stands.
struct SizeScope {
  RegionId region = {};
  bool bounded = true;  // the symbols have the ranges that they will have in a run
};
// Gives the graph the checks and symbols that a kernel of a node asks for. In a branch or body
// these belong to that: to sizes that become known in it, else to a DefineSizes in front of the
// node. True where there were any: the kernel has to be built again. Error: a size without a bound,
// where the symbols have bounds.
absl::StatusOr<bool> SettleSizes(Graph& graph, NodeId node, const NodeKernel& kernel,
                                 SizeScope scope, Diagnostics& diagnostics);

// What has to hold where the node runs, of sizes that it knows.
absl::Status RequireAt(Graph& graph, NodeId node, RegionId region, const SizeCheck& check);

// Whether --bound says anything of a value.
bool HasBounds(const Graph& graph);
// What --bound says of the result of an op on each element it says of its operand too.
void BoundOperands(Graph& graph);
// Narrows the ranges of symbols that are elements of tensors (of inputs only, where `computed` is
// false) to those at which what `others` are worked out as may be within their ranges. True where
// one has changed.
bool NarrowStatedSizes(Graph& graph, const std::vector<Symbol>& others, bool computed);

// The size of an axis of a result, which may be anything: a symbol where only a run knows it, as
// above.
absl::StatusOr<Expr> SettledSize(Graph& graph, NodeId node, OpenSize open, SizeScope scope,
                                 Diagnostics& diagnostics);

// Of one walk over a graph.
struct SizeWalk {
  bool bounded = true;      // as in SizeScope
  SizeSources wanted = {};  // values whose elements have to be symbols: walk again then
  // Per Repeat of the old graph how sizes change in its rounds (infer_repeat.h): walk again then.
  std::map<NodeId, std::vector<int64_t>> growth = {};
  // Results of nodes that have to be written as others, as a run gives what they ask for, with the
  // ranks of their operands, -1 for one that is absent: then too.
  std::map<ValueId, std::vector<int64_t>> expanded = {};
  // An If whose branches give results of two ranks (continue_in_branches.h): then too.
  NodeId of_two_ranks = {};
  // Of each branch that is being walked, the innermost last: why no run can take it, or OK.
  std::vector<absl::Status> branches = {};
  ItemRooms rooms = {};  // of sequences
};

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_RUN_SIZES_H_
