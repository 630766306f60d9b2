// The phases of a transposed convolution as convolutions of their own, each with the taps that it
// has, whose results are the pixels of the whole in turn.
//
//   %y = ConvTranspose(%x, %w) {strides=[2, 2]}                    %w: [C, M, 3, 3]
//
//   %p00 = Conv(%x, %w00)                                          %w00: [M, C, 2, 2]
//   %p01 = Conv(%x, %w01)                                          %w01: [M, C, 2, 1]  ...
//   %p0 = Interleave(%p00, %p01) {axis=3}
//   %p1 = Interleave(%p10, %p11) {axis=3}
//   %y = Interleave(%p0, %p1) {axis=2}
//
// Element o of the result, of phase o mod s, reads the inputs (o + pad) div s - j for the taps
// (o + pad) mod s + s * j: a convolution without holes and without zeros in their place.
#ifndef AOTC_COMPILER_CANONICALIZE_PHASES_APART_H_
#define AOTC_COMPILER_CANONICALIZE_PHASES_APART_H_

#include <cstdint>

#include "compiler/ir/graph_rebuild.h"

namespace aotc {

// Replaces the node's result. False, and nothing is emitted: it is no ConvTranspose of constant
// weights, its channels are no whole blocks of `block`, it has dilations or many phases, or a phase
// has no taps or reads less than the input.
bool EmitPhasesApart(Rebuilder& rebuilder, const Node& node, int64_t block);

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_PHASES_APART_H_
