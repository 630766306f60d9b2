// f16 (IEEE binary16) and bf16 as 16-bit integers, converted one at a time.
//
//   uint16_t h = aotc_f16_from_f32(0.1f);  // 0x2e66, nearest, ties to even
//   float x = aotc_f16_to_f32(h);
//
// Both directions keep infinities, denormals and the sign of zero. A NaN stays one: its payload is
// cut or extended, its quiet bit set, as the processor's own conversions do (a GPU's drop it).
// aotc_f16 and aotc_bf16 only tell the two formats apart where functions are overloaded on the
// element type.
#ifndef AOTC_HALF_H_
#define AOTC_HALF_H_

#include <stdint.h>
#include <string.h>

#include "aotc/attributes.h"

typedef struct __attribute__((may_alias)) aotc_f16 {
  uint16_t bits;
} aotc_f16;

typedef struct __attribute__((may_alias)) aotc_bf16 {
  uint16_t bits;
} aotc_bf16;

AOTC_INLINE uint32_t aotc_bits_of_f32(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

AOTC_INLINE float aotc_f32_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

AOTC_INLINE float aotc_f16_to_f32(uint16_t half) {
#if defined(__CUDA_ARCH__)
  float converted;
  asm("cvt.f32.f16 %0, %1;" : "=f"(converted) : "h"(half));
  return converted;
#else
  const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
  const uint32_t magnitude = (uint32_t)(half & 0x7fffu) << 13;
  if (magnitude >= 0x0f800000u) {  // infinity and NaN
    const uint32_t quiet = magnitude > 0x0f800000u ? 0x00400000u : 0u;
    return aotc_f32_of_bits(sign | quiet | (magnitude + 0x70000000u));
  }
  if (magnitude < 0x00800000u) {  // zero and denormals: units of 2^-24
    const float value = (float)(half & 0x7fffu) * 0x1p-24f;
    return aotc_f32_of_bits(sign | aotc_bits_of_f32(value));
  }
  return aotc_f32_of_bits(sign | (magnitude + 0x38000000u));  // exponent bias 15 becomes 127
#endif
}

AOTC_INLINE uint16_t aotc_f16_from_f32(float value) {
#if defined(__CUDA_ARCH__)
  uint16_t converted;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(converted) : "f"(value));
  return converted;
#else
  const uint32_t bits = aotc_bits_of_f32(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return (uint16_t)(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  if (magnitude >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u);  // 65520 and above round up
  if (magnitude < 0x38800000u) {  // below 2^-14: adding 0.5 rounds to units of 2^-24
    const float shifted = aotc_f32_of_bits(magnitude) + 0.5f;
    return (uint16_t)(sign | (aotc_bits_of_f32(shifted) - 0x3f000000u));
  }
  const uint32_t odd = (magnitude >> 13) & 1u;
  return (uint16_t)(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
#endif
}

AOTC_INLINE float aotc_bf16_to_f32(uint16_t bfloat) {
  const uint32_t bits = (uint32_t)bfloat << 16;
  const uint32_t quiet = (bits & 0x7fffffffu) > 0x7f800000u ? 0x00400000u : 0u;
  return aotc_f32_of_bits(bits | quiet);
}

AOTC_INLINE uint16_t aotc_bf16_from_f32(float value) {
  const uint32_t bits = aotc_bits_of_f32(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)((bits >> 16) | 0x40u);
  return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// The element as an f32, whatever its type is.
AOTC_INLINE float aotc_to_f32(float value) { return value; }

#ifdef __cplusplus
AOTC_INLINE float aotc_to_f32(aotc_f16 value) { return aotc_f16_to_f32(value.bits); }
AOTC_INLINE float aotc_to_f32(aotc_bf16 value) { return aotc_bf16_to_f32(value.bits); }
#endif

#endif  // AOTC_HALF_H_
