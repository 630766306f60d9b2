// Combines one value of every thread, in a warp or in a block, by an associative combiner over a
// tuple of accumulators. Example, the sum and the largest of a row, 256 threads to a block:
//
//   struct sum_and_max {                                     // in an unnamed namespace
//     struct state { float sum, max; };
//     AOTC_MEMBER state identity() const { return {0, -INFINITY}; }
//     AOTC_MEMBER state combine(state a, state b) const {
//       return {a.sum + b.sum, fmaxf(a.max, b.max)};
//     }
//   };
//   sum_and_max::state mine = combiner.identity();
//   for (int64_t i = threadIdx.x; i < columns; i += 256) {
//     mine = combiner.combine(mine, {row[i], row[i]});
//   }
//   const sum_and_max::state all = aotc_block_reduce<256>(mine, combiner);
//
// All lanes of the warp, or all threads of the block, take part and get the same result. `combine`
// gets the value of the lower threads first; the order of combination is the same in every run.
// With elements dealt out as above it is not theirs: ties must be broken by the state itself.
#ifndef AOTC_CUDA_BLOCK_REDUCE_CUH_
#define AOTC_CUDA_BLOCK_REDUCE_CUH_

#include <string.h>

#include "aotc/cuda.h"

// `value` of the lane whose number differs in the bits of `mask`, word by word.
template <class State>
AOTC_DEVICE State aotc_shuffle_xor_state(const State &value, unsigned mask) {
  enum { words = (sizeof(State) + 3) / 4 };
  uint32_t buffer[words] = {};
  memcpy(buffer, &value, sizeof value);
  AOTC_UNROLL(8)
  for (int i = 0; i < words; ++i) buffer[i] = aotc_shuffle_xor(buffer[i], mask);
  State other;
  memcpy(&other, buffer, sizeof other);
  return other;
}

// Combines over the 32 lanes of a warp, or over groups of `Lanes` (a power of two) neighbours.
template <int Lanes = 32, class State, class Combiner>
AOTC_DEVICE State aotc_warp_reduce(State value, const Combiner &combiner) {
  static_assert(Lanes > 0 && Lanes <= 32 && (Lanes & (Lanes - 1)) == 0, "a power of two up to 32");
  const unsigned lane = aotc_lane();
  AOTC_UNROLL(5)
  for (unsigned mask = 1; mask < Lanes; mask *= 2) {
    const State other = aotc_shuffle_xor_state(value, mask);
    value = (lane & mask) == 0 ? combiner.combine(value, other) : combiner.combine(other, value);
  }
  return value;
}

// Combines over a block of `Threads` threads in one dimension, a multiple of 32. It may be called
// again without a barrier between.
template <int Threads, class State, class Combiner>
AOTC_DEVICE State aotc_block_reduce(State value, const Combiner &combiner) {
  static_assert(Threads % 32 == 0 && Threads <= 1024, "whole warps");
  enum { warps = Threads / 32 };
  value = aotc_warp_reduce(value, combiner);
  if (warps == 1) return value;
  AOTC_SHARED(State, partial, warps);
  AOTC_SHARED(State, total, 1);
  const unsigned lane = aotc_lane(), warp = threadIdx.x / 32;
  if (lane == 0) partial[warp] = value;
  aotc_syncthreads();
  if (warp == 0) {
    State mine = combiner.identity();
    if (lane < warps) mine = partial[lane];
    mine = aotc_warp_reduce(mine, combiner);
    if (lane == 0) total[0] = mine;
  }
  aotc_syncthreads();
  return total[0];
}

#endif  // AOTC_CUDA_BLOCK_REDUCE_CUH_
