// Vectors of f32 and i32 from and to narrower elements: f16, bf16, 8-bit and 16-bit integers.
//
//   aotc_vf x = aotc_load((const aotc_f16 *)half_values);
//   aotc_store((aotc_bf16 *)out, x);           // nearest, ties to even
//   aotc_vi q = aotc_load(quantized_u8);       // widened
//   aotc_store(out_s8, aotc_round(x));         // floats saturate, integers are cut
//
// Same numbers as half.h, bit for bit.
#ifndef AOTC_VECTOR_CONVERT_H_
#define AOTC_VECTOR_CONVERT_H_

#include "aotc/half.h"
#include "aotc/vector.h"

typedef uint16_t aotc_vu16 __attribute__((vector_size(AOTC_LANES * 2)));
typedef int16_t aotc_vi16 __attribute__((vector_size(AOTC_LANES * 2)));
typedef uint8_t aotc_vu8 __attribute__((vector_size(AOTC_LANES)));
typedef int8_t aotc_vi8 __attribute__((vector_size(AOTC_LANES)));

// ---- f16 and bf16, as vectors of 16-bit patterns ---

AOTC_INLINE aotc_vf aotc_widen_f16(aotc_vu16 halves) {
  aotc_vf vector;
#if defined(AOTC_AVX)
  __asm__("vcvtph2ps %1, %0" : "=" AOTC_REGISTER(vector) : AOTC_REGISTER(halves));
#else
  const aotc_vi bits = __builtin_convertvector(halves, aotc_vi);
  const aotc_vi sign = (bits & 0x8000) << 16;
  const aotc_vi magnitude = (bits & 0x7fff) << 13;
  const aotc_vi quiet = magnitude > 0x0f800000 ? aotc_vi{} + 0x00400000 : aotc_vi{};
  const aotc_vi special = (magnitude + 0x70000000) | quiet;
  const aotc_vi tiny = aotc_bits(aotc_to_f32(bits & 0x7fff) * aotc_broadcast(0x1p-24f));
  aotc_vi result = magnitude + 0x38000000;
  result = magnitude < 0x00800000 ? tiny : result;
  result = magnitude >= 0x0f800000 ? special : result;
  vector = aotc_from_bits(result | sign);
#endif
  return vector;
}

AOTC_INLINE aotc_vu16 aotc_narrow_f16(aotc_vf vector) {
#if defined(AOTC_AVX)
  aotc_vu16 halves;
  __asm__("vcvtps2ph $0, %1, %0" : "=" AOTC_REGISTER(halves) : AOTC_REGISTER(vector));
  return halves;
#else
  const aotc_vi bits = aotc_bits(vector);
  const aotc_vi sign = (bits >> 16) & 0x8000;
  const aotc_vi magnitude = bits & 0x7fffffff;
  const aotc_vf shifted = aotc_from_bits(magnitude) + aotc_broadcast(0.5f);
  aotc_vi result = (magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  result = magnitude < 0x38800000 ? aotc_bits(shifted) - 0x3f000000 : result;
  result = magnitude >= 0x477ff000 ? aotc_vi{} + 0x7c00 : result;
  result = magnitude > 0x7f800000 ? (((magnitude >> 13) & 0x3ff) | 0x7e00) : result;
  return __builtin_convertvector(result | sign, aotc_vu16);
#endif
}

AOTC_INLINE aotc_vf aotc_widen_bf16(aotc_vu16 bfloats) {
  const aotc_vi bits = __builtin_convertvector(bfloats, aotc_vi) << 16;
  const aotc_vi quiet = (bits & INT32_MAX) > 0x7f800000 ? aotc_vi{} + 0x00400000 : aotc_vi{};
  return aotc_from_bits(bits | quiet);
}

AOTC_INLINE aotc_vu16 aotc_narrow_bf16(aotc_vf vector) {
  const aotc_vu bits = (aotc_vu)vector;
  const aotc_vi rounded = (aotc_vi)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
  const aotc_vi quiet = (aotc_vi)(bits >> 16) | 0x40;
  const aotc_vi is_nan = (aotc_vi)(bits & 0x7fffffffu) > 0x7f800000;
  return __builtin_convertvector(is_nan ? quiet : rounded, aotc_vu16);
}

// ---- Loads and stores of AOTC_LANES elements ---

template <class Vector, class Element>
AOTC_INLINE Vector aotc_copy_in(const Element *from) {
  static_assert(sizeof(Vector) == AOTC_LANES * sizeof(Element), "one element a lane");
  Vector vector;
  memcpy(&vector, from, sizeof vector);
  return vector;
}

AOTC_INLINE aotc_vf aotc_load(const aotc_f16 *from) {
  return aotc_widen_f16(aotc_copy_in<aotc_vu16>(from));
}
AOTC_INLINE aotc_vf aotc_load(const aotc_bf16 *from) {
  return aotc_widen_bf16(aotc_copy_in<aotc_vu16>(from));
}

// One element in all lanes.
AOTC_INLINE aotc_vf aotc_load_one(const float *from) { return aotc_broadcast(*from); }
#if defined(AOTC_AVX)
AOTC_INLINE aotc_vf aotc_load_one(const aotc_f16 *from) {
  aotc_vu16 halves;
  __asm__("vpbroadcastw %1, %0" : "=" AOTC_REGISTER(halves) : "m"(*from));
  return aotc_widen_f16(halves);
}
// Each lane has it twice; the upper half is the f32. Arithmetic makes a NaN quiet.
AOTC_INLINE aotc_vf aotc_load_one(const aotc_bf16 *from) {
  aotc_vi twice;
  __asm__("vpbroadcastw %1, %0" : "=" AOTC_REGISTER(twice) : "m"(*from));
  return aotc_from_bits(twice & (int32_t)0xffff0000);
}
#else
template <class Element>
AOTC_INLINE aotc_vf aotc_load_one(const Element *from) {
  return aotc_broadcast(aotc_to_f32(*from));
}
#endif

#if defined(AOTC_AVX)
// Instructions by name: GCC 12 converts bytes lane by lane.
struct aotc_lane_bytes {
  uint8_t bytes[AOTC_LANES];
};
AOTC_INLINE aotc_vi aotc_load(const uint8_t *from) {
  aotc_vi vector;
  __asm__("vpmovzxbd %1, %0"
          : "=" AOTC_REGISTER(vector)
          : "m"(*(const aotc_lane_bytes *)(const void *)from));
  return vector;
}
AOTC_INLINE aotc_vi aotc_load(const int8_t *from) {
  aotc_vi vector;
  __asm__("vpmovsxbd %1, %0"
          : "=" AOTC_REGISTER(vector)
          : "m"(*(const aotc_lane_bytes *)(const void *)from));
  return vector;
}
#else
AOTC_INLINE aotc_vi aotc_load(const uint8_t *from) {
  return __builtin_convertvector(aotc_copy_in<aotc_vu8>(from), aotc_vi);
}
AOTC_INLINE aotc_vi aotc_load(const int8_t *from) {
  return __builtin_convertvector(aotc_copy_in<aotc_vi8>(from), aotc_vi);
}
#endif
// Bytes `stride` apart, as masks that are read along another axis than they lie.
AOTC_INLINE aotc_vi aotc_load_strided(const uint8_t *from, int64_t stride) {
  aotc_vi vector = {};
  AOTC_UNROLL(16)
  for (int lane = 0; lane < AOTC_LANES; ++lane) vector[lane] = from[lane * stride];
  return vector;
}
AOTC_INLINE aotc_vi aotc_load_strided_first(const uint8_t *from, int64_t stride, int64_t count) {
  aotc_vi vector = {};
  for (int64_t lane = 0; lane < AOTC_LANES; ++lane) {
    if (lane < count) vector[lane] = from[lane * stride];
  }
  return vector;
}
AOTC_INLINE aotc_vi aotc_load(const uint16_t *from) {
  return __builtin_convertvector(aotc_copy_in<aotc_vu16>(from), aotc_vi);
}
AOTC_INLINE aotc_vi aotc_load(const int16_t *from) {
  return __builtin_convertvector(aotc_copy_in<aotc_vi16>(from), aotc_vi);
}

AOTC_INLINE void aotc_store(aotc_f16 *to, aotc_vf vector) {
  const aotc_vu16 halves = aotc_narrow_f16(vector);
  memcpy(to, &halves, sizeof halves);
}
AOTC_INLINE void aotc_store(aotc_bf16 *to, aotc_vf vector) {
  const aotc_vu16 bfloats = aotc_narrow_bf16(vector);
  memcpy(to, &bfloats, sizeof bfloats);
}
// Integer stores keep the low bits of each lane.
AOTC_INLINE void aotc_store(uint8_t *to, aotc_vi vector) {
#if defined(AOTC_ISA_X86_64_V4)
  __asm__("vpmovdb %1, %0" : "=m"(*(aotc_lane_bytes *)(void *)to) : AOTC_REGISTER(vector));
#elif defined(AOTC_ISA_X86_64_V3)
  // Each half by itself: the words saturate to bytes that they are already.
  aotc_vi low = vector & 255;
  __asm__("vpackusdw %0, %0, %0\n\tvpackuswb %0, %0, %0" : "+" AOTC_REGISTER(low));
  const int32_t halves[2] = {low[0], low[4]};
  memcpy(to, halves, sizeof halves);
#else
  const aotc_vu8 bytes = __builtin_convertvector(vector, aotc_vu8);
  memcpy(to, &bytes, sizeof bytes);
#endif
}
AOTC_INLINE void aotc_store(int8_t *to, aotc_vi vector) { aotc_store((uint8_t *)to, vector); }

// Floats as integers: towards zero, what is out of range becomes the nearest, NaN becomes 0.
AOTC_INLINE void aotc_store(uint8_t *to, aotc_vf vector) { aotc_store(to, aotc_to_u8(vector)); }
AOTC_INLINE void aotc_store(int8_t *to, aotc_vf vector) { aotc_store(to, aotc_to_i8(vector)); }
AOTC_INLINE void aotc_store(int32_t *to, aotc_vf vector) { aotc_store(to, aotc_to_i32(vector)); }

// ---- Tails: the first `count` elements, 0 < count <= AOTC_LANES ---

// Elements narrower than a lane: through a buffer of a whole vector, the size of which compilers
// are told not to doubt.
template <class Element>
AOTC_INLINE auto aotc_load_first(const Element *from, int64_t count) {
  if (count > AOTC_LANES) __builtin_unreachable();
  Element buffer[AOTC_LANES];
  memset(buffer, 0, sizeof buffer);
  memcpy(buffer, from, (size_t)count * sizeof(Element));
  return aotc_load(buffer);
}

template <class Element, class Vector>
AOTC_INLINE void aotc_store_first(Element *to, Vector vector, int64_t count) {
  if (count > AOTC_LANES) __builtin_unreachable();
  Element buffer[AOTC_LANES];
  aotc_store(buffer, vector);
  memcpy(to, buffer, (size_t)count * sizeof(Element));
}

#endif  // AOTC_VECTOR_CONVERT_H_
