// Makes one convolution or matrix product of several that read one value, with their weights side
// by side, and parts the result.
//
//   %q = MatMul(%x, %wq)
//   %k = MatMul(%x, %wk)      =>      %qk = MatMul(%x, %wqwk), %q = Slice(%qk), %k = Slice(%qk)
//
// Biases and activations that all of them have are computed before the parting. It is done where
// products of activations read all parts, which they do in place (queries, keys and values), and
// where the parts are contiguous (one row, one row-major image), and so views, and kernels are
// saved: an elementwise op behind a part would have been computed with it, but is not with all of
// them. What a Concat reads stays out: alone it is written in the result of that. Images in blocks
// of channels stay as they are: one convolution in place of two saves no time there, and its parts
// take memory as long as either is read. The setting merge.copied-parts=1 does it always.
#ifndef AOTC_COMPILER_OPTIMIZE_MERGE_SIBLINGS_H_
#define AOTC_COMPILER_OPTIMIZE_MERGE_SIBLINGS_H_

#include "compiler/pass/pass.h"

namespace aotc {

inline constexpr ConfigKey kMergeCopiedParts = {
    "merge.copied-parts", 0, 0, 1, "1: siblings are merged even where parting them takes a copy"};

absl::StatusOr<Graph> MergeSiblings(const Graph& graph, PassContext& context);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_MERGE_SIBLINGS_H_
