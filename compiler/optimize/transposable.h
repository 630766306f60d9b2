// Which ops find their axes wherever they are: a transpose above them can as well be done below.
#ifndef AOTC_COMPILER_OPTIMIZE_TRANSPOSABLE_H_
#define AOTC_COMPILER_OPTIMIZE_TRANSPOSABLE_H_

#include <optional>

#include "absl/functional/function_ref.h"
#include "compiler/ir/graph.h"
#include "compiler/optimize/permutation.h"

namespace aotc {

// The permutation of the transpose that gives an input of a node, if that transpose may move.
using TransposeAbove = absl::FunctionRef<std::optional<Permutation>(size_t index)>;

// The permutation that can be done behind an elementwise op, Concat or Pad instead of before it:
// all its operands are transposed by it, or can be had in the order before the transpose for
// nothing (constants, single elements, what a reshape puts in order). `result` are the dims of the
// node's output.
std::optional<Permutation> PermutationPassed(const Graph& graph, const Node& node,
                                             const Shape& result, TransposeAbove above);

// The axes of a reduction that reads a tensor of `rank`, none negative, in order; nothing where
// `node` is no reduction or does not state them.
std::optional<Permutation> ReducedAxes(const Graph& graph, const Node& node, size_t rank);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_TRANSPOSABLE_H_
