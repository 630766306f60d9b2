// Elements of 4 bits, two in a byte, the first in its low half: u4, i4 and the float f4e2m1.
//
//   int8_t x = aotc_load_i4(weights, 7);   // high half of weights[3], -8 .. 7
#ifndef AOTC_NIBBLES_H_
#define AOTC_NIBBLES_H_

#include <stdint.h>

#include "aotc/attributes.h"
#include "aotc/half.h"

AOTC_INLINE uint8_t aotc_load_u4(const uint8_t *elements, int64_t index) {
  return (uint8_t)(elements[index >> 1] >> (index & 1) * 4 & 15);
}

AOTC_INLINE int8_t aotc_load_i4(const uint8_t *elements, int64_t index) {
  return (int8_t)((aotc_load_u4(elements, index) ^ 8) - 8);
}

// 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives.
AOTC_INLINE float aotc_load_f4e2m1(const uint8_t *elements, int64_t index) {
  const uint32_t code = aotc_load_u4(elements, index);
  const uint32_t exponent = code >> 1 & 3u, half = code & 1u;
  uint32_t bits = (exponent + 126u) << 23 | half << 22;
  if (exponent == 0) bits = half * 0x3f000000u;
  return aotc_f32_of_bits((code & 8u) << 28 | bits);
}

#endif  // AOTC_NIBBLES_H_
