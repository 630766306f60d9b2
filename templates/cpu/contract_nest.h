// The reduction of a contraction as a nest of loops which walks both operands.
//
//   aotc_nest nest = aotc_nest_dense(k, 32);   // matmul: k steps, panel rows of 32 weights
//
//   // 3x3 convolution over 4 channel blocks of 16, input [block, height, width, 16]:
//   aotc_nest nest = {{4, 3, 3, 16},                                    // block, kh, kw, channel
//                     {height * width * 16, width * 16, 16, 1},         // steps of the input
//                     {9 * 16 * 32, 3 * 16 * 32, 16 * 32, 32}};         // steps of the weights
//
// A box inside the nest (taps that fall into the image, a block of K) is another nest with smaller
// extents and advanced pointers: that is how borders and K blocks are made.
#ifndef AOTC_CONTRACT_NEST_H_
#define AOTC_CONTRACT_NEST_H_

#include <stdint.h>

#include "aotc/attributes.h"

// Packed weights at the tile's first column: Element is float, aotc_f16, aotc_bf16 or int8_t.
template <class Element>
struct aotc_panel {
  const Element *data;
};

// Level 0 is outermost. Strides count elements of the operand per step of the level.
struct aotc_nest {
  int64_t extent[4];
  int64_t input_stride[4];
  int64_t weight_stride[4];
};

// One loop of `steps` over contiguous inputs and weight rows `row` elements apart.
AOTC_INLINE aotc_nest aotc_nest_dense(int64_t steps, int64_t row) {
  return aotc_nest{{1, 1, 1, steps}, {0, 0, 0, 1}, {0, 0, 0, row}};
}

// Two loops: `outer` steps by `input_stride`, in each `inner` contiguous inputs; weights dense.
AOTC_INLINE aotc_nest aotc_nest_blocked(int64_t outer, int64_t input_stride, int64_t inner,
                                        int64_t row) {
  return aotc_nest{{1, 1, outer, inner}, {0, 0, input_stride, 1}, {0, 0, inner * row, row}};
}

// Offsets of the operands at the start of the innermost loop.
AOTC_INLINE int64_t aotc_nest_input(const aotc_nest &nest, int64_t i0, int64_t i1, int64_t i2) {
  return i0 * nest.input_stride[0] + i1 * nest.input_stride[1] + i2 * nest.input_stride[2];
}

AOTC_INLINE int64_t aotc_nest_weight(const aotc_nest &nest, int64_t i0, int64_t i1, int64_t i2) {
  return i0 * nest.weight_stride[0] + i1 * nest.weight_stride[1] + i2 * nest.weight_stride[2];
}

// Asks for the weights of some 60 steps later: weights that come from memory are read once, and a
// tile would else wait for them on its first walk along a panel. (To gcc __builtin_prefetch is a
// call that may throw.)
AOTC_INLINE void aotc_prefetch_weights(const void *now) {
#if defined(AOTC_ISA_GENERIC)
  (void)now;
#else
  __asm__ volatile("prefetcht1 8192(%0)" : : "r"(now));
#endif
}

// Asks for the element of the input at `offset`, which may lie beyond its end. What another worker
// has just written comes from that one's cache, which takes as long as memory does.
template <class Element>
AOTC_INLINE void aotc_prefetch_input(const Element *data, int64_t offset) {
#if defined(AOTC_ISA_GENERIC)
  (void)data;
  (void)offset;
#else
  __asm__ volatile("prefetcht0 (%0,%1)" : : "r"(data), "r"(offset * (int64_t)sizeof(Element)));
#endif
}

// Where the walk along the rows of a tile goes from block to block, asks for the next one.
template <int MR, class Input>
AOTC_INLINE void aotc_prefetch_block(const Input &input, const aotc_nest &nest, int64_t offset) {
  if (nest.extent[1] > 1 || nest.extent[2] == 1) return;
  AOTC_UNROLL(32)
  for (int m = 0; m < MR; ++m) input.prefetch(m, offset + nest.input_stride[2]);
}

#endif  // AOTC_CONTRACT_NEST_H_
