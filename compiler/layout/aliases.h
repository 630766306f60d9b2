// Aliases: outputs of the graph that lie in the memory of inputs, as the user asks for them.
//
//   --alias present_0=past_0:2=1024
//
//   %present_0: f32[1, 12, past + 1, 64] = Concat(%past_0, %k_2)
//   %k_2 = Relayout(%k)        // what is new is made by a kernel of its own, or that of %k
//   %present_0_memory: f32[1, 12, 1024, 64]    // made by nobody; all of these are boxes in it
//
// A pair has one type, or the output is the input and new elements behind it along an axis that
// grows: then both are boxes in a root with a constant extent of that axis.
#ifndef AOTC_COMPILER_LAYOUT_ALIASES_H_
#define AOTC_COMPILER_LAYOUT_ALIASES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/fused_graph.h"
#include "compiler/layout/alias_option.h"

namespace aotc {

// Of a graph whose passes have run. Errors name the flag, what does not fit, and what to do: names
// that are none, types that differ, outputs that are made in another way, memory whose strides
// would vary with a size.
absl::StatusOr<std::vector<Alias>> BindAliases(Graph& graph,
                                               const std::vector<AliasOption>& options);

}  // namespace aotc

#endif  // AOTC_COMPILER_LAYOUT_ALIASES_H_
