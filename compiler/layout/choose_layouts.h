// The layout phase: each anchor gets its contract and each value one storage layout, for the whole
// graph at least cost (choose_contracts.h).
//
//   %x_2: ... layout(0, 1, 2, 3; halo 2:1+1 3:1+1 fill 0) = Relayout(%x)
//   %y: ... layout(0, 1/16, 2, 3, 1%16) = Conv(%x_2, %w) {pads=...} contract(direct, rows -> 16)
//
// The reach of a convolution's taps beyond its operand is a halo of that. What a Concat joins and
// what slices cut has one layout with the whole. Inputs and outputs of the graph are row-major;
// what is left between the two is the op Relayout.
#ifndef AOTC_COMPILER_LAYOUT_CHOOSE_LAYOUTS_H_
#define AOTC_COMPILER_LAYOUT_CHOOSE_LAYOUTS_H_

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/pass/pass.h"

namespace aotc {

// Contracts are the target's; without any all stays row-major. A graph that has layouts already
// keeps them.
absl::StatusOr<Graph> ChooseLayouts(const Graph& graph, PassContext& context);

}  // namespace aotc

#endif  // AOTC_COMPILER_LAYOUT_CHOOSE_LAYOUTS_H_
