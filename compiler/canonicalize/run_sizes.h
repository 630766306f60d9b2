// Sizes that only a run knows, as symbols of the graph.
//
//   for (size_t input : SizeInputsBehind(graph, value)) NameInputElements(model, input);
//   *SettleSizes(graph, node, kernel, {}, diagnostics);    // true: build the kernel again
//
// * An input of few integers that a shape operand is computed from has symbols for its elements.
// * What an op requires of sizes, and cannot prove, is a check of the last symbol that it names.
// * A size of an output that may be anything becomes a symbol, with the bound that is derived, else
//   that of --bound, else what the model declares.
#ifndef AOTC_COMPILER_CANONICALIZE_RUN_SIZES_H_
#define AOTC_COMPILER_CANONICALIZE_RUN_SIZES_H_

#include <set>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/op.h"
#include "compiler/support/diagnostics.h"

namespace aotc {

// The inputs of the main region, by their positions, that the elements of a value are computed
// from and that are not known; empty where one of them is no tensor of sizes, or the value depends
// on something else that is not known.
std::set<size_t> SizeInputsBehind(const Graph& graph, ValueId value);

// Gives each element of an input of the main region a symbol. Elements that are only positions on
// axes may be any; others lie within 32 bits.
void NameInputElements(Graph& graph, size_t input);

struct SizeScope {
  bool always_runs = true;  // the node is no part of a branch or body
  bool bounded = true;      // the symbols have the ranges that they will have in a run
};
// Gives the graph the checks and symbols that a kernel of a node asks for. True where there were
// any: the kernel has to be built again. Error: a size without a bound, where the symbols have
// bounds; checks or such sizes of a node that does not always run, as a run looks at all of them.
absl::StatusOr<bool> SettleSizes(Graph& graph, const Node& node, const NodeKernel& kernel,
                                 SizeScope scope, Diagnostics& diagnostics);

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_RUN_SIZES_H_
