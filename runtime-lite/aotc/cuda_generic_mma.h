// The mma shapes by shuffles, for processors that lack the instruction: a lane fetches, four lanes
// at a time, the rows of A and the columns of B that its four results need. The registers of all
// three shapes are laid out alike (cuda_lanes.h), so one function serves them.
#ifndef AOTC_CUDA_GENERIC_MMA_H_
#define AOTC_CUDA_GENERIC_MMA_H_

#include <stdint.h>

#include "aotc/attributes.h"
#include "aotc/half.h"

// Included by cuda.h, after shuffles and conversions.

// Products of what one register of A and one of B hold, added to `sum`.
namespace {
struct aotc_dot_f16 {
  AOTC_MEMBER float operator()(uint32_t a, uint32_t b, float sum) const {
    sum += aotc_f16_to_f32(static_cast<uint16_t>(a)) * aotc_f16_to_f32(static_cast<uint16_t>(b));
    return sum + aotc_f16_to_f32(static_cast<uint16_t>(a >> 16)) *
                     aotc_f16_to_f32(static_cast<uint16_t>(b >> 16));
  }
};
struct aotc_dot_tf32 {
  AOTC_MEMBER float operator()(uint32_t a, uint32_t b, float sum) const {
    return sum + aotc_f32_of_bits(a & 0xFFFFE000u) * aotc_f32_of_bits(b & 0xFFFFE000u);
  }
};
template <class A, class B>
struct aotc_dot_bytes {
  AOTC_MEMBER int32_t operator()(uint32_t a, uint32_t b, int32_t sum) const {
    for (int shift = 0; shift < 32; shift += 8) {
      sum += static_cast<A>(a >> shift) * static_cast<B>(b >> shift);
    }
    return sum;
  }
};
}  // namespace

template <typename Dot, typename T>
AOTC_DEVICE void aotc_mma_generic(T d[4], const uint32_t a[4], const uint32_t b[2], const T c[4]) {
  const Dot dot = {};
  const unsigned lane = aotc_lane();
  T sum[4] = {c[0], c[1], c[2], c[3]};
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = lane / 4 * 4 + i;     // holds rows lane/4 and lane/4 + 8 of A
    const unsigned column = lane % 4 * 8 + i;  // holds column 2*(lane%4) of B; 4 on, the next
    for (int half = 0; half < 2; ++half) {
      const uint32_t upper = aotc_shuffle(a[2 * half], row);
      const uint32_t lower = aotc_shuffle(a[2 * half + 1], row);
      const uint32_t left = aotc_shuffle(b[half], column);
      const uint32_t right = aotc_shuffle(b[half], column + 4);
      sum[0] = dot(upper, left, sum[0]);
      sum[1] = dot(upper, right, sum[1]);
      sum[2] = dot(lower, left, sum[2]);
      sum[3] = dot(lower, right, sum[3]);
    }
  }
  for (int i = 0; i < 4; ++i) d[i] = sum[i];
}

#endif  // AOTC_CUDA_GENERIC_MMA_H_
