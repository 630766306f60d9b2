// Vectors at the native width of the ISA, as GNU vector types: the fragments of the CPU target.
//
//   #define AOTC_ISA_X86_64_V3
//   #include "aotc/target_begin.h"   // sets AOTC_LANES to 8
//   #include "aotc/vector.h"
//   aotc_vf y = aotc_load(x) * aotc_broadcast(2.0f) + bias;     // operators are the language's
//   aotc_store(out, aotc_max_known(aotc_broadcast(0.0f), y));   // ReLU
//   aotc_store_first(out + 8, y, 3);                            // a tail of 3 lanes
//
// Functions are overloaded with those of scalar_math.h, so that one text serves a scalar and a
// vector. AOTC_LANES is the only width: compilers lower wider vectors many times slower.
#ifndef AOTC_VECTOR_H_
#define AOTC_VECTOR_H_

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "aotc/attributes.h"
#include "aotc/half.h"

#ifndef AOTC_LANES
#error "include aotc/target_begin.h first: it sets AOTC_LANES"
#endif

typedef float aotc_vf __attribute__((vector_size(AOTC_LANES * 4)));
typedef int32_t aotc_vi __attribute__((vector_size(AOTC_LANES * 4)));
typedef uint32_t aotc_vu __attribute__((vector_size(AOTC_LANES * 4)));

// ---- Construction and bits ---

AOTC_INLINE aotc_vf aotc_broadcast(float value) { return value - aotc_vf{}; }
AOTC_INLINE aotc_vi aotc_broadcast(int32_t value) { return value - aotc_vi{}; }

AOTC_INLINE aotc_vi aotc_bits(aotc_vf vector) { return (aotc_vi)vector; }
AOTC_INLINE aotc_vf aotc_from_bits(aotc_vi bits) { return (aotc_vf)bits; }

// 0, 1, 2 ... AOTC_LANES - 1.
AOTC_INLINE aotc_vi aotc_lane_numbers() {
  aotc_vi lanes = {};
  for (int lane = 0; lane < AOTC_LANES; ++lane) lanes[lane] = lane;
  return lanes;
}

// base, base + stride, ...: an index per lane, as i32.
AOTC_INLINE aotc_vi aotc_ramp(int64_t base, int64_t stride) {
  return aotc_broadcast((int32_t)base) + aotc_lane_numbers() * (int32_t)stride;
}

// Makes the compiler hold `vector` in a register here. Without it Clang hoists the broadcasts of a
// register tile and spills, or splits 512-bit vectors in two.
AOTC_INLINE void aotc_pin(aotc_vf &vector) {
#if defined(AOTC_REGISTER)
  __asm__("" : "+" AOTC_REGISTER(vector));
#else
  (void)vector;
#endif
}

AOTC_INLINE void aotc_pin(aotc_vi &vector) {
  aotc_vf same = aotc_from_bits(vector);
  aotc_pin(same);
  vector = aotc_bits(same);
}

// ---- Loads and stores of whole vectors; `from` and `to` need only the alignment of an element ---

AOTC_INLINE aotc_vf aotc_load(const float *from) {
  aotc_vf vector;
  memcpy(&vector, from, sizeof vector);
  return vector;
}

AOTC_INLINE aotc_vi aotc_load(const int32_t *from) {
  aotc_vi vector;
  memcpy(&vector, from, sizeof vector);
  return vector;
}

AOTC_INLINE void aotc_store(float *to, aotc_vf vector) { memcpy(to, &vector, sizeof vector); }
AOTC_INLINE void aotc_store(int32_t *to, aotc_vi vector) { memcpy(to, &vector, sizeof vector); }

// Lanes `stride` elements apart.
template <class Element>
AOTC_INLINE aotc_vf aotc_load_strided(const Element *from, int64_t stride) {
  aotc_vf vector = {};
  AOTC_UNROLL(16)
  for (int lane = 0; lane < AOTC_LANES; ++lane) vector[lane] = aotc_to_f32(from[lane * stride]);
  return vector;
}

// The first `count` of them; the other lanes are 0.
template <class Element>
AOTC_INLINE aotc_vf aotc_load_strided_first(const Element *from, int64_t stride, int64_t count) {
  aotc_vf vector = {};
  for (int64_t lane = 0; lane < AOTC_LANES; ++lane) {
    if (lane < count) vector[lane] = aotc_to_f32(from[lane * stride]);
  }
  return vector;
}

AOTC_INLINE void aotc_store_strided(float *to, aotc_vf vector, int64_t stride) {
  AOTC_UNROLL(16)
  for (int lane = 0; lane < AOTC_LANES; ++lane) to[lane * stride] = vector[lane];
}

// ---- Masks: all bits of a lane set, or none ---

// True in the first `count` lanes; any count, also negative or above AOTC_LANES.
AOTC_INLINE aotc_vi aotc_mask_first(int64_t count) {
  const int64_t capped = count < AOTC_LANES ? count : AOTC_LANES;
  return aotc_lane_numbers() < aotc_broadcast((int32_t)(capped < 0 ? 0 : capped));
}

AOTC_INLINE aotc_vf aotc_select(aotc_vi mask, aotc_vf yes, aotc_vf no) { return mask ? yes : no; }
AOTC_INLINE aotc_vi aotc_select(aotc_vi mask, aotc_vi yes, aotc_vi no) { return mask ? yes : no; }

// ---- Tails: the first `count` elements, 0 < count <= AOTC_LANES; no other byte is touched ---
// Lanes beyond `count` are 0 after a load.

AOTC_INLINE aotc_vf aotc_load_first(const float *from, int64_t count) {
#if defined(AOTC_ISA_X86_64_V4)
  const unsigned short mask = (unsigned short)((1u << count) - 1u);
  return __builtin_ia32_loadups512_mask(from, aotc_vf{}, mask);
#elif defined(AOTC_ISA_X86_64_V3)
  return __builtin_ia32_maskloadps256((const aotc_vf *)from, aotc_mask_first(count));
#else
  aotc_vf vector = {};
  for (int64_t lane = 0; lane < AOTC_LANES; ++lane) {  // compilers see no lane beyond the last
    if (lane < count) vector[lane] = from[lane];
  }
  return vector;
#endif
}

AOTC_INLINE void aotc_store_first(float *to, aotc_vf vector, int64_t count) {
#if defined(AOTC_ISA_X86_64_V4)
  const unsigned short mask = (unsigned short)((1u << count) - 1u);
  __builtin_ia32_storeups512_mask(to, vector, mask);
#elif defined(AOTC_ISA_X86_64_V3)
  __builtin_ia32_maskstoreps256((aotc_vf *)to, aotc_mask_first(count), vector);
#else
  for (int64_t lane = 0; lane < AOTC_LANES; ++lane) {
    if (lane < count) to[lane] = vector[lane];
  }
#endif
}

// Bits travel alike, whatever they mean.
AOTC_INLINE aotc_vi aotc_load_first(const int32_t *from, int64_t count) {
#if defined(AOTC_AVX)
  return aotc_bits(aotc_load_first((const float *)from, count));
#else
  aotc_vi vector = {};
  for (int64_t lane = 0; lane < AOTC_LANES; ++lane) {
    if (lane < count) vector[lane] = from[lane];
  }
  return vector;
#endif
}

AOTC_INLINE void aotc_store_first(int32_t *to, aotc_vi vector, int64_t count) {
#if defined(AOTC_AVX)
  aotc_store_first((float *)to, aotc_from_bits(vector), count);
#else
  for (int64_t lane = 0; lane < AOTC_LANES; ++lane) {
    if (lane < count) to[lane] = vector[lane];
  }
#endif
}

// ---- Minimum and maximum ---

// Where `known` is never NaN (a literal, a bound): one instruction, known > x ? known : x, which
// gives x if that is NaN. GCC does not find the instruction by itself.
AOTC_INLINE aotc_vf aotc_max_known(aotc_vf known, aotc_vf x) {
#if defined(AOTC_AVX)
  __asm__("vmaxps %2, %1, %0" : "=" AOTC_REGISTER(known) : AOTC_REGISTER(known), AOTC_REGISTER(x));
#elif defined(AOTC_ISA_X86_64)
  __asm__("maxps %1, %0" : "+" AOTC_REGISTER(known) : AOTC_REGISTER(x));
#else
  known = known > x ? known : x;
#endif
  return known;
}

AOTC_INLINE aotc_vf aotc_min_known(aotc_vf known, aotc_vf x) {
#if defined(AOTC_AVX)
  __asm__("vminps %2, %1, %0" : "=" AOTC_REGISTER(known) : AOTC_REGISTER(known), AOTC_REGISTER(x));
#elif defined(AOTC_ISA_X86_64)
  __asm__("minps %1, %0" : "+" AOTC_REGISTER(known) : AOTC_REGISTER(x));
#else
  known = known < x ? known : x;
#endif
  return known;
}

// NaN where either operand is NaN, as numpy.maximum and onnxruntime's Max, Min, Relu and Clip.
AOTC_INLINE aotc_vf aotc_max(aotc_vf a, aotc_vf b) {
  const aotc_vf larger = aotc_max_known(a, b);  // b where either is NaN
  return a != a ? a : larger;
}

AOTC_INLINE aotc_vf aotc_min(aotc_vf a, aotc_vf b) {
  const aotc_vf smaller = aotc_min_known(a, b);
  return a != a ? a : smaller;
}

// Lanes wrap.
AOTC_INLINE aotc_vi aotc_add(aotc_vi a, aotc_vi b) { return (aotc_vi)((aotc_vu)a + (aotc_vu)b); }
AOTC_INLINE aotc_vi aotc_sub(aotc_vi a, aotc_vi b) { return (aotc_vi)((aotc_vu)a - (aotc_vu)b); }
AOTC_INLINE aotc_vi aotc_mul(aotc_vi a, aotc_vi b) { return (aotc_vi)((aotc_vu)a * (aotc_vu)b); }
AOTC_INLINE aotc_vi aotc_neg(aotc_vi x) { return (aotc_vi) - (aotc_vu)x; }
AOTC_INLINE aotc_vi aotc_max(aotc_vi a, aotc_vi b) { return a > b ? a : b; }
AOTC_INLINE aotc_vi aotc_min(aotc_vi a, aotc_vi b) { return a < b ? a : b; }

// ---- Elementary functions that need no approximation ---

AOTC_INLINE aotc_vf aotc_abs(aotc_vf x) {
  return aotc_from_bits(aotc_bits(x) & aotc_broadcast(INT32_MAX));
}

// The magnitude of `magnitude` with the sign of `sign`.
AOTC_INLINE aotc_vf aotc_copysign(aotc_vf magnitude, aotc_vf sign) {
  const aotc_vi keep = aotc_broadcast(INT32_MAX);
  return aotc_from_bits((aotc_bits(magnitude) & keep) | (aotc_bits(sign) & ~keep));
}

// Correctly rounded; NaN below 0.
AOTC_INLINE aotc_vf aotc_sqrt(aotc_vf x) {
#if defined(AOTC_AVX)
  __asm__("vsqrtps %1, %0" : "=" AOTC_REGISTER(x) : AOTC_REGISTER(x));
#elif defined(AOTC_ISA_X86_64)
  __asm__("sqrtps %1, %0" : "=" AOTC_REGISTER(x) : AOTC_REGISTER(x));
#else
  for (int lane = 0; lane < AOTC_LANES; ++lane) x[lane] = sqrtf(x[lane]);
#endif
  return x;
}

// Nearest integer, ties to even (ONNX Round). Keeps the sign of zero, infinities and NaN.
AOTC_INLINE aotc_vf aotc_round(aotc_vf x) {
#if defined(AOTC_ISA_X86_64_V4)
  __asm__("vrndscaleps $8, %1, %0" : "=" AOTC_REGISTER(x) : AOTC_REGISTER(x));
  return x;
#elif defined(AOTC_ISA_X86_64_V3)
  __asm__("vroundps $8, %1, %0" : "=" AOTC_REGISTER(x) : AOTC_REGISTER(x));
  return x;
#else
  const aotc_vf large = aotc_broadcast(0x1p23f);  // from here on every f32 is an integer
  const aotc_vf magnitude = aotc_abs(x);
  aotc_vf shifted = magnitude + large;
  aotc_pin(shifted);  // keeps (a + b) - b from being folded under -ffast-math
  const aotc_vf rounded = aotc_copysign(shifted - large, x);
  return magnitude < large ? rounded : x;  // NaN compares false
#endif
}

AOTC_INLINE aotc_vf aotc_floor(aotc_vf x) {
  const aotc_vf rounded = aotc_round(x);
  return rounded > x ? rounded - aotc_broadcast(1.0f) : rounded;
}

AOTC_INLINE aotc_vf aotc_ceil(aotc_vf x) {
  const aotc_vf rounded = aotc_round(x);
  return rounded < x ? aotc_copysign(rounded + aotc_broadcast(1.0f), x) : rounded;
}

// Towards zero; what is out of range becomes the nearest integer, NaN becomes 0.
AOTC_INLINE aotc_vi aotc_to_i32(aotc_vf x) {
  const aotc_vf least = aotc_max_known(aotc_broadcast(-0x1p31f), x);
  const aotc_vf inside = least < 0x1p31f ? least : aotc_vf{};
  return x >= 0x1p31f ? aotc_broadcast(INT32_MAX) : __builtin_convertvector(inside, aotc_vi);
}

// Towards zero after clamping to low .. high; NaN becomes low.
AOTC_INLINE aotc_vi aotc_to_i32_between(aotc_vf x, float low, float high) {
  const aotc_vf above = aotc_max_known(x, aotc_broadcast(low));  // x > low ? x : low
  return __builtin_convertvector(aotc_min_known(aotc_broadcast(high), above), aotc_vi);
}

// Narrower integers are widened in vectors already.
AOTC_INLINE aotc_vi aotc_to_i32(aotc_vi x) { return x; }

// Towards zero, saturated; NaN becomes 0.
AOTC_INLINE aotc_vi aotc_to_u8(aotc_vf x) { return aotc_to_i32_between(x, 0.0f, 255.0f); }
AOTC_INLINE aotc_vi aotc_to_i8(aotc_vf x) {
  return aotc_to_i32_between(x == x ? x : aotc_vf{}, -128.0f, 127.0f);
}

// round(x) + zero, saturated, for 0 <= zero <= 255; NaN becomes 0.
AOTC_INLINE aotc_vi aotc_round_to_u8(aotc_vf x, int32_t zero) {
#if defined(AOTC_AVX) || defined(AOTC_ISA_X86_64)
  const aotc_vf bounded = aotc_min_known(aotc_broadcast((float)(255 - zero)), x);
  aotc_vi rounded;  // ties to even, in the default rounding mode; INT32_MIN where it has no place
#if defined(AOTC_AVX)
  __asm__("vcvtps2dq %1, %0" : "=" AOTC_REGISTER(rounded) : AOTC_REGISTER(bounded));
#else
  __asm__("cvtps2dq %1, %0" : "=" AOTC_REGISTER(rounded) : AOTC_REGISTER(bounded));
#endif
  return aotc_max(rounded + zero, aotc_vi{});
#else
  return aotc_to_u8(aotc_round(x) + aotc_broadcast((float)zero));
#endif
}

AOTC_INLINE aotc_vf aotc_to_f32(aotc_vi x) { return __builtin_convertvector(x, aotc_vf); }

// ---- Across lanes: a balanced tree, so that the result does not depend on the compiler ---

// Lane i holds what lane i ^ Distance held.
template <int Distance, class Vector>
AOTC_INLINE Vector aotc_swap_lanes(Vector x) {
#if defined(__clang__) || __GNUC__ >= 12
#define AOTC_FOUR_LANES(i) \
  (i) ^ Distance, ((i) + 1) ^ Distance, ((i) + 2) ^ Distance, ((i) + 3) ^ Distance
#if AOTC_LANES == 4
  return __builtin_shufflevector(x, x, AOTC_FOUR_LANES(0));
#elif AOTC_LANES == 8
  return __builtin_shufflevector(x, x, AOTC_FOUR_LANES(0), AOTC_FOUR_LANES(4));
#else
  return __builtin_shufflevector(x, x, AOTC_FOUR_LANES(0), AOTC_FOUR_LANES(4), AOTC_FOUR_LANES(8),
                                 AOTC_FOUR_LANES(12));
#endif
#undef AOTC_FOUR_LANES
#else
  Vector swapped = x;
  for (int i = 0; i < AOTC_LANES; ++i) swapped[i] = x[i ^ Distance];
  return swapped;
#endif
}

#define AOTC_DEFINE_REDUCTION(name, type, element, join)              \
  template <int Distance>                                             \
  AOTC_INLINE type name##_step(type a) {                              \
    const type b = aotc_swap_lanes<Distance>(a);                      \
    return (join);                                                    \
  }                                                                   \
  AOTC_INLINE element name(type vector) {                             \
    if (AOTC_LANES > 8) vector = name##_step<AOTC_LANES / 2>(vector); \
    if (AOTC_LANES > 4) vector = name##_step<4>(vector);              \
    return name##_step<1>(name##_step<2>(vector))[0];                 \
  }

AOTC_DEFINE_REDUCTION(aotc_sum_lanes, aotc_vf, float, a + b)
AOTC_DEFINE_REDUCTION(aotc_sum_lanes, aotc_vi, int32_t, aotc_add(a, b))
// NaN where any lane is NaN.
AOTC_DEFINE_REDUCTION(aotc_max_lanes, aotc_vf, float, aotc_max(a, b))
AOTC_DEFINE_REDUCTION(aotc_min_lanes, aotc_vf, float, aotc_min(a, b))
AOTC_DEFINE_REDUCTION(aotc_max_lanes, aotc_vi, int32_t, aotc_max(a, b))
AOTC_DEFINE_REDUCTION(aotc_min_lanes, aotc_vi, int32_t, aotc_min(a, b))
#undef AOTC_DEFINE_REDUCTION

#endif  // AOTC_VECTOR_H_
