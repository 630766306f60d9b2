// Resize where only a run knows its floats: how it lies becomes integers first, which are sizes.
//
//   %d = Shape(%x)                                   8 5
//   %s = ResizeScales(%d, %scales)                   5/4 3/5 by columns: [[5 3] [4 5] [10 3]]
//   %y = ResizeTo(%x, %s)                            10 by 3, element i at (i + 1/2) * 4/5 - 1/2
#ifndef AOTC_COMPILER_OPS_RESIZE_OF_RUN_H_
#define AOTC_COMPILER_OPS_RESIZE_OF_RUN_H_

#include "absl/status/status.h"
#include "compiler/ir/graph_rebuild.h"
#include "compiler/ops/op.h"

namespace aotc {

inline constexpr std::string_view kResizeTo = "ResizeTo";
// Attribute of it: lengths are those of scales, and align_corners counts their fractions.
inline constexpr std::string_view kKeepsFraction = "keeps_fraction";

// (dims: i64[n], scales: f32[n]) -> i64[3, n]: numerators and denominators of the scales, lengths
// of the result. The numerator is 0 where a scale is none.
absl::Status ResizeScales(OpContext& op);
// The same of the sizes that are asked for and attribute `policy`, the keep_aspect_ratio_policy.
absl::Status ResizeSizes(OpContext& op);
// roi: floats [2n] -> i64[3, n]: numerators of starts and of lengths, and their denominators. The
// denominator is 0 where the region is none.
absl::Status ResizeRegions(OpContext& op);

// The definition of a Resize in terms of these.
absl::Status ExpandResize(Rebuilder& rebuilder, const Node& node);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_RESIZE_OF_RUN_H_
