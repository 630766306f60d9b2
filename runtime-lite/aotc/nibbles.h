// Elements of less than a byte, the first in its lowest bits: u4, i4 and the float f4e2m1, two in a
// byte, and uint2 and int2, four.
//
//   int8_t x = aotc_load_i4(weights, 7);       // high half of weights[3], -8 .. 7
//   float y = aotc_to_f4e2m1(0.7f);            // 0.5f, the nearest, ties to even
//   uint8_t bits = aotc_bits_of_f4e2m1(y);     // 1
//
// A value is an int8_t, a uint8_t or a float that the type holds. There is no store of one: whoever
// writes a byte writes all of its elements.
#ifndef AOTC_NIBBLES_H_
#define AOTC_NIBBLES_H_

#include <stdint.h>

#include "aotc/attributes.h"
#include "aotc/half.h"
#include "aotc/scalar_math.h"

AOTC_INLINE uint8_t aotc_load_u4(const uint8_t *elements, int64_t index) {
  return (uint8_t)(elements[index >> 1] >> (index & 1) * 4 & 15);
}

AOTC_INLINE int8_t aotc_load_i4(const uint8_t *elements, int64_t index) {
  return (int8_t)((aotc_load_u4(elements, index) ^ 8) - 8);
}

AOTC_INLINE uint8_t aotc_load_uint2(const uint8_t *elements, int64_t index) {
  return (uint8_t)(elements[index >> 2] >> (index & 3) * 2 & 3);
}

AOTC_INLINE int8_t aotc_load_int2(const uint8_t *elements, int64_t index) {
  return (int8_t)((aotc_load_uint2(elements, index) ^ 2) - 2);
}

// 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives, by the low four bits.
AOTC_INLINE float aotc_f4e2m1_of_bits(uint8_t code) {
  const uint32_t exponent = code >> 1 & 3u, half = code & 1u;
  uint32_t bits = (exponent + 126u) << 23 | half << 22;
  if (exponent == 0) bits = half * 0x3f000000u;
  return aotc_f32_of_bits((code & 8u) << 28 | bits);
}

AOTC_INLINE uint8_t aotc_bits_of_f4e2m1(float value) {
  const uint32_t sign = aotc_bits_of_f32(value) >> 28 & 8u;
  const uint32_t halves = (uint32_t)(fabsf(value) * 2.0f);  // 0, 1, 2, 3, 4, 6, 8, 12
  const uint32_t code = halves < 4 ? halves : halves < 8 ? 2 + halves / 2 : 4 + halves / 4;
  return (uint8_t)(sign | code);
}

AOTC_INLINE float aotc_load_f4e2m1(const uint8_t *elements, int64_t index) {
  return aotc_f4e2m1_of_bits(aotc_load_u4(elements, index));
}

// Casts: floats truncate, what is beyond the type becomes its nearest value, and NaN 0; integers
// wrap. Floats of 16 bits and fewer are structs.
#define AOTC_DEFINE_CAST(name, T, least, most)                            \
  AOTC_INLINE T name(double x) {                                          \
    const int8_t value = aotc_to_i8(x);                                   \
    return (T)(value<(least) ? (least) : value>(most) ? (most) : value);  \
  }                                                                       \
  AOTC_INLINE T name(float x) { return name((double)x); }                 \
  template <class From>                                                   \
  AOTC_INLINE T name(From x) {                                            \
    if constexpr (__is_class(From)) {                                     \
      return name(aotc_to_f64(x));                                        \
    } else {                                                              \
      const int bits = (int)((uint64_t)x & (uint64_t)((most) - (least))); \
      return (T)(bits > (most) ? bits - ((most) - (least) + 1) : bits);   \
    }                                                                     \
  }
AOTC_DEFINE_CAST(aotc_to_u4, uint8_t, 0, 15)
AOTC_DEFINE_CAST(aotc_to_i4, int8_t, -8, 7)
AOTC_DEFINE_CAST(aotc_to_uint2, uint8_t, 0, 3)
AOTC_DEFINE_CAST(aotc_to_int2, int8_t, -2, 1)
#undef AOTC_DEFINE_CAST

// The nearest value, ties to even; beyond 6 it is 6, and -0 for NaN.
AOTC_INLINE float aotc_to_f4e2m1(double x) {
  const double magnitude = fabs(x);
  const double unit = magnitude < 2.0 ? 0.5 : magnitude < 4.0 ? 1.0 : 2.0;
  double rounded = aotc_round(magnitude / unit) * unit;
  if (rounded > 6.0) rounded = 6.0;
  return (float)(x != x ? -0.0 : copysign(rounded, x));
}
AOTC_INLINE float aotc_to_f4e2m1(float x) { return aotc_to_f4e2m1((double)x); }
template <class From>
AOTC_INLINE float aotc_to_f4e2m1(From x) {
  return aotc_to_f4e2m1(aotc_to_f64(x));
}

#endif  // AOTC_NIBBLES_H_
