// 8-bit floats: e4m3 and e5m2 as the Open Compute Project has them (fn), the forms with one zero
// and one NaN and without infinities (fnuz), and e8m0, the powers of two.
//
//   aotc_f8e4m3fn y = aotc_to_f8e4m3fn(0.1f);  // nearest, ties to even; above 448: NaN
//   float x = aotc_to_f32(y);
//
// What is beyond the range becomes infinity (f8e5m2), or NaN where there is none: who wants the
// largest value limits before. A NaN loses its sign and payload. e8m0 takes the magnitude, rounded
// up, and limits it to 2^-127 .. 2^127.
#ifndef AOTC_FLOAT8_H_
#define AOTC_FLOAT8_H_

#include <stdint.h>

#include "aotc/attributes.h"
#include "aotc/half.h"
#include "aotc/scalar_math.h"

// `beyond` is the magnitude of what is too large.
typedef struct aotc_float8_format {
  int mantissa_bits, bias;
  uint32_t largest, beyond, nan;
  int has_negative_zero;
} aotc_float8_format;

AOTC_INLINE uint8_t aotc_float8_from_f32(float value, aotc_float8_format format) {
  const uint32_t bits = aotc_bits_of_f32(value), magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return (uint8_t)format.nan;
  const int exponent = (int)(magnitude >> 23) - 127 + format.bias;
  const int first =
      exponent > 1 ? exponent : 1;  // denormals share the exponent of the least normal
  const int shift = 23 - format.mantissa_bits + first - exponent;
  uint32_t code = 0;
  if (shift <= 24) {
    const uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    const uint32_t half = 1u << (shift - 1), rest = mantissa & (2u * half - 1u);
    uint32_t quotient = mantissa >> shift;
    if (rest > half || (rest == half && (quotient & 1u) != 0)) ++quotient;
    code = ((uint32_t)(first - 1) << format.mantissa_bits) + quotient;
  }
  if (code > format.largest) code = format.beyond;
  const uint32_t sign = bits >> 24 & 0x80u;
  return (uint8_t)(code != 0 || format.has_negative_zero ? code | sign : code);
}

AOTC_INLINE float aotc_float8_to_f32(uint8_t bits, aotc_float8_format format) {
  const uint32_t magnitude = bits & 0x7fu, sign = (uint32_t)(bits & 0x80u) << 24;
  const int infinite = magnitude == format.beyond && format.beyond != format.nan;
  if (magnitude > format.largest || (!format.has_negative_zero && bits == 0x80u)) {
    return aotc_f32_of_bits(sign | (infinite ? 0x7f800000u : 0x7fc00000u));
  }
  const uint32_t exponent = magnitude >> format.mantissa_bits;
  const uint32_t mantissa = magnitude & ((1u << format.mantissa_bits) - 1u);
  // Denormals are whole multiples of a power of two.
  const uint32_t unit = (uint32_t)(128 - format.bias - format.mantissa_bits) << 23;
  if (exponent == 0) {
    const float value = (float)mantissa * aotc_f32_of_bits(unit);
    return aotc_f32_of_bits(sign | aotc_bits_of_f32(value));
  }
  const uint32_t biased = exponent + (uint32_t)(127 - format.bias);
  return aotc_f32_of_bits(sign | biased << 23 | mantissa << (23 - format.mantissa_bits));
}

// Exponents, biased by 127; 255 is NaN.
typedef struct aotc_power_format {
  int unused;
} aotc_power_format;

AOTC_INLINE uint8_t aotc_float8_from_f32(float value, aotc_power_format) {
  const uint32_t magnitude = aotc_bits_of_f32(value) & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0xff;
  const uint32_t exponent = magnitude >> 23, fraction = magnitude & 0x7fffffu;
  if (exponent == 0) return fraction > 0x400000u ? 1 : 0;  // units of 2^-149
  const uint32_t code = exponent + (fraction != 0 ? 1u : 0u);
  return (uint8_t)(code < 0xfeu ? code : 0xfeu);
}

AOTC_INLINE float aotc_float8_to_f32(uint8_t bits, aotc_power_format) {
  if (bits == 0xff) return aotc_f32_of_bits(0x7fc00000u);
  return aotc_f32_of_bits(bits == 0 ? 0x400000u : (uint32_t)bits << 23);
}

#define AOTC_DEFINE_FLOAT8(type, convert, ...)                                              \
  typedef struct __attribute__((may_alias)) type {                                          \
    uint8_t bits;                                                                           \
  } type;                                                                                   \
  AOTC_INLINE float aotc_to_f32(type x) { return aotc_float8_to_f32(x.bits, __VA_ARGS__); } \
  AOTC_INLINE double aotc_to_f64(type x) { return (double)aotc_to_f32(x); }                 \
  template <class T>                                                                        \
  AOTC_INLINE T aotc_cast_to(type x, const T *) {                                           \
    return aotc_saturate<T>(aotc_to_f64(x));                                                \
  }                                                                                         \
  AOTC_INLINE type convert(float x) { return type{aotc_float8_from_f32(x, __VA_ARGS__)}; }  \
  template <class From>                                                                     \
  AOTC_INLINE type convert(From x) {                                                        \
    return convert(aotc_round_to_odd(aotc_to_f64(x)));                                      \
  }

AOTC_DEFINE_FLOAT8(aotc_f8e4m3fn, aotc_to_f8e4m3fn, aotc_float8_format{3, 7, 0x7e, 0x7f, 0x7f, 1})
AOTC_DEFINE_FLOAT8(aotc_f8e4m3fnuz, aotc_to_f8e4m3fnuz,
                   aotc_float8_format{3, 8, 0x7f, 0x80, 0x80, 0})
AOTC_DEFINE_FLOAT8(aotc_f8e5m2, aotc_to_f8e5m2, aotc_float8_format{2, 15, 0x7b, 0x7c, 0x7e, 1})
AOTC_DEFINE_FLOAT8(aotc_f8e5m2fnuz, aotc_to_f8e5m2fnuz,
                   aotc_float8_format{2, 16, 0x7f, 0x80, 0x80, 0})
AOTC_DEFINE_FLOAT8(aotc_f8e8m0, aotc_to_f8e8m0, aotc_power_format{0})
#undef AOTC_DEFINE_FLOAT8

#endif  // AOTC_FLOAT8_H_
