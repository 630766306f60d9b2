// Copies: kernels that only move elements (slices, transposes, heads split off), which readers can
// do without by reading at the source's own indices.
//
//   %k[i, j] = %qkv[i, j + 64]         // a copy
//   %s[i, t] = reduce sum(d) %q[i, d] * %k[t, d]    =>    ... * %qkv[t, d + 64]
#ifndef AOTC_COMPILER_FUSE_COPIES_H_
#define AOTC_COMPILER_FUSE_COPIES_H_

#include <optional>

#include "compiler/fuse/fuse.h"
#include "compiler/ir/kernel.h"

namespace aotc {

// One pointwise stage that makes the one output of the one input.
bool IsPointwiseOfOne(const Kernel& kernel);

// One pointwise stage whose body is an element of the one input, between tensors whose axes lie in
// one order, none in blocks or with a halo.
bool IsCopy(const Kernel& kernel);

// The view that a kernel is: its one output is one input, element by element, at a fixed distance.
std::optional<ValueView> AsView(const Graph& graph, const FusedKernel& fused);

// (x - zero) * scale of a narrow integer: a few operators for what is several times as long in
// memory.
bool IsDequantization(const Kernel& kernel);

// The same of constants alone, with scales for columns or blocks: weights as a model stores them.
bool IsScaledWeights(const Kernel& kernel);

// The part of a kernel that makes `value` alone, where that is a copy, a cast to a type that is no
// narrower or a dequantisation: what readers of the value can do for themselves.
std::optional<FusedKernel> CopyPart(const FusedKernel& fused, ValueId value);

// Whether every stage that reads `tensor` walks neighbours of it in some loop that it can run in
// vectors or by neighbouring threads: the innermost one, that of a reduction, or any of a
// contraction, which may also gather the steps of its only reduction.
bool ReadsNeighbours(const Kernel& kernel, TensorId tensor);

// Whether the consumer reads what a cast in the producer rounds: a variable of an iteration would
// hold it as it was before.
bool ReadsRounded(const FusedKernel& producer, const FusedKernel& consumer);

}  // namespace aotc

#endif  // AOTC_COMPILER_FUSE_COPIES_H_
