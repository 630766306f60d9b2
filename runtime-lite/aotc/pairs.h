// Pairs of 16-bit integers in each i32 lane, multiplied and added.
//
//   const aotc_vi x = aotc_pair(aotc_load(a), aotc_load(b));   // bytes, widened
//   acc = aotc_add(acc, aotc_multiply_add_pairs(x, y));   // x.low * y.low + x.high * y.high more
#ifndef AOTC_PAIRS_H_
#define AOTC_PAIRS_H_

#include "aotc/vector.h"

// Numbers of 16 bits, signed: `low` in the lower half of each lane.
AOTC_INLINE aotc_vi aotc_pair(aotc_vi low, aotc_vi high) {
  return (low & 0xffff) | (aotc_vi)((aotc_vu)high << 16);
}
AOTC_INLINE int32_t aotc_pair(int32_t low, int32_t high) {
  return (int32_t)(((uint32_t)low & 0xffffu) | (uint32_t)high << 16);
}

// The sum of both products; only where all four numbers are -32768 it is beyond i32, and wraps.
AOTC_INLINE aotc_vi aotc_multiply_add_pairs(aotc_vi a, aotc_vi b) {
#if defined(AOTC_AVX)
  __asm__("vpmaddwd %2, %1, %0" : "=" AOTC_REGISTER(a) : AOTC_REGISTER(a), AOTC_REGISTER(b));
  return a;
#elif defined(AOTC_ISA_X86_64)
  __asm__("pmaddwd %1, %0" : "+" AOTC_REGISTER(a) : AOTC_REGISTER(b));
  return a;
#else
  return aotc_add((a << 16 >> 16) * (b << 16 >> 16), (a >> 16) * (b >> 16));
#endif
}

#endif  // AOTC_PAIRS_H_
