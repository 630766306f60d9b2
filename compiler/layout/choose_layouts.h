// The layout phase: one storage layout per value, from what the anchors want.
//
//   Graph laid_out = *ChooseLayouts(graph, {.block = 16});
//
// Contracts come from index maps: a convolution (a contraction whose output columns are axis 1)
// wants its output in channel blocks, its input likewise where it has enough channels, and the
// reach of its taps beyond the input as a halo. Ops that keep axis 1 pass blocks on. Graph inputs
// and outputs are row-major; what is left between the two is the op Relayout.
#ifndef AOTC_COMPILER_LAYOUT_CHOOSE_LAYOUTS_H_
#define AOTC_COMPILER_LAYOUT_CHOOSE_LAYOUTS_H_

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/pass/pass.h"

namespace aotc {

inline constexpr ConfigKey kLeastChannels = {"layout.least-channels", 8, 1, 4096,
                                             "inputs of a tile with fewer channels stay row-major"};

struct LayoutOptions {
  int64_t block = 16;          // channels per block; 0: everything stays row-major
  int64_t least_channels = 8;  // inputs of fewer channels stay row-major
};

absl::StatusOr<Graph> ChooseLayouts(const Graph& graph, const LayoutOptions& options);

// The pass: blocks as the target reads them. A graph that has layouts already keeps them.
absl::StatusOr<Graph> ChooseLayouts(const Graph& graph, PassContext& context);

}  // namespace aotc

#endif  // AOTC_COMPILER_LAYOUT_CHOOSE_LAYOUTS_H_
