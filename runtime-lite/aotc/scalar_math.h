// The operators of plain loops on scalars, overloaded by type; vector_math.h has those on vectors.
//
//   float y = aotc_max_known(0.0f, x);          // ReLU; NaN comes out
//   int64_t q = aotc_floor_div(a, b);           // to minus infinity; 0 where b is 0
//   uint8_t u = aotc_to_u8(aotc_round(x));      // nearest value in range; NaN gives 0
//
// Integers: arithmetic wraps, a zero divisor gives 0, shifts by the width or more give 0 or the
// sign. Results of types narrower than int come back as int and are cut by the caller's cast.
#ifndef AOTC_SCALAR_MATH_H_
#define AOTC_SCALAR_MATH_H_

#include <math.h>
#include <stdint.h>

#include "aotc/attributes.h"
#include "aotc/half.h"

// ---- Floats ---

#define AOTC_DEFINE_UNARY(name, of_float, of_double)   \
  AOTC_INLINE float name(float x) { return of_float; } \
  AOTC_INLINE double name(double x) { return of_double; }

AOTC_DEFINE_UNARY(aotc_abs, fabsf(x), fabs(x))
AOTC_DEFINE_UNARY(aotc_sign,
                  x > 0.0f    ? 1.0f
                  : x < 0.0f  ? -1.0f
                  : x == 0.0f ? 0.0f
                              : x,
                  x > 0    ? 1.0
                  : x < 0  ? -1.0
                  : x == 0 ? 0.0
                           : x)
AOTC_DEFINE_UNARY(aotc_floor, floorf(x), floor(x))
AOTC_DEFINE_UNARY(aotc_ceil, ceilf(x), ceil(x))
AOTC_DEFINE_UNARY(aotc_round, rintf(x), rint(x))  // ties to even, in the default rounding mode
AOTC_DEFINE_UNARY(aotc_trunc, truncf(x), trunc(x))
AOTC_DEFINE_UNARY(aotc_sqrt, sqrtf(x), sqrt(x))
AOTC_DEFINE_UNARY(aotc_exp, expf(x), exp(x))
AOTC_DEFINE_UNARY(aotc_log, logf(x), log(x))
AOTC_DEFINE_UNARY(aotc_sin, sinf(x), sin(x))
AOTC_DEFINE_UNARY(aotc_cos, cosf(x), cos(x))
AOTC_DEFINE_UNARY(aotc_tan, tanf(x), tan(x))
AOTC_DEFINE_UNARY(aotc_asin, asinf(x), asin(x))
AOTC_DEFINE_UNARY(aotc_acos, acosf(x), acos(x))
AOTC_DEFINE_UNARY(aotc_atan, atanf(x), atan(x))
AOTC_DEFINE_UNARY(aotc_sinh, sinhf(x), sinh(x))
AOTC_DEFINE_UNARY(aotc_cosh, coshf(x), cosh(x))
AOTC_DEFINE_UNARY(aotc_tanh, tanhf(x), tanh(x))
AOTC_DEFINE_UNARY(aotc_asinh, asinhf(x), asinh(x))
AOTC_DEFINE_UNARY(aotc_acosh, acoshf(x), acosh(x))
AOTC_DEFINE_UNARY(aotc_atanh, atanhf(x), atanh(x))
AOTC_DEFINE_UNARY(aotc_erf, erff(x), erf(x))
AOTC_DEFINE_UNARY(aotc_sigmoid, 1.0f / (1.0f + expf(-x)), 1.0 / (1.0 + exp(-x)))
#undef AOTC_DEFINE_UNARY

AOTC_INLINE bool aotc_is_nan(float x) { return x != x; }
AOTC_INLINE bool aotc_is_nan(double x) { return x != x; }
AOTC_INLINE bool aotc_is_inf(float x) { return fabsf(x) > 3.402823466e38f; }
AOTC_INLINE bool aotc_is_inf(double x) { return fabs(x) > 1.7976931348623157e308; }

#define AOTC_DEFINE_BINARY(name, of_float, of_double)           \
  AOTC_INLINE float name(float a, float b) { return of_float; } \
  AOTC_INLINE double name(double a, double b) { return of_double; }

// NaN where either operand is NaN.
AOTC_DEFINE_BINARY(aotc_max, a > b || a != a ? a : b, a > b || a != a ? a : b)
AOTC_DEFINE_BINARY(aotc_min, a < b || a != a ? a : b, a < b || a != a ? a : b)
// The same where `a` is never NaN: one instruction.
AOTC_DEFINE_BINARY(aotc_max_known, a > b ? a : b, a > b ? a : b)
AOTC_DEFINE_BINARY(aotc_min_known, a < b ? a : b, a < b ? a : b)
AOTC_DEFINE_BINARY(aotc_div, a / b, a / b)
AOTC_DEFINE_BINARY(aotc_floor_div, floorf(a / b), floor(a / b))
AOTC_DEFINE_BINARY(aotc_trunc_mod, fmodf(a, b), fmod(a, b))
AOTC_DEFINE_BINARY(aotc_pow, powf(a, b), pow(a, b))
AOTC_DEFINE_BINARY(aotc_copysign, copysignf(a, b), copysign(a, b))
#undef AOTC_DEFINE_BINARY

// Remainder with the sign of the divisor.
AOTC_INLINE float aotc_mod(float a, float b) {
  const float rest = fmodf(a, b);
  return rest != 0.0f && (rest < 0.0f) != (b < 0.0f) ? rest + b : rest;
}
AOTC_INLINE double aotc_mod(double a, double b) {
  const double rest = fmod(a, b);
  return rest != 0.0 && (rest < 0.0) != (b < 0.0) ? rest + b : rest;
}

// ---- Integers of any width; templates, so that exact overloads above win for floats ---

// T is the type that arithmetic on both operands gives. Operands are cast to it first, which
// spares the templates warnings about mixed signs; there is none for vectors.
#define AOTC_INTEGER_BINARY                                    \
  template <class A, class B, class T = decltype((A)1 + (B)1)> \
  AOTC_INLINE

template <class T>
AOTC_INLINE bool aotc_is_negative(T x) {
  return x < (T)1 && x != (T)0;  // no comparison that is constant for unsigned types
}

// The same bits, without a sign: arithmetic on these wraps.
template <class T>
AOTC_INLINE auto aotc_unsigned(T x) {
  if constexpr (sizeof(T) > 4) {
    return (uint64_t)x;
  } else {
    return (uint32_t)x;
  }
}

AOTC_INTEGER_BINARY T aotc_add(A a, B b) { return (T)(aotc_unsigned((T)a) + aotc_unsigned((T)b)); }
AOTC_INTEGER_BINARY T aotc_sub(A a, B b) { return (T)(aotc_unsigned((T)a) - aotc_unsigned((T)b)); }
AOTC_INTEGER_BINARY T aotc_mul(A a, B b) { return (T)(aotc_unsigned((T)a) * aotc_unsigned((T)b)); }
template <class T>
AOTC_INLINE T aotc_neg(T x) {
  return (T)(0u - aotc_unsigned(x));
}

template <class T>
AOTC_INLINE T aotc_abs(T x) {
  return aotc_is_negative(x) ? (T)(0u - (uint64_t)x) : x;
}

template <class T>
AOTC_INLINE T aotc_sign(T x) {
  return aotc_is_negative(x) ? (T)-1 : (T)(x != (T)0);
}

AOTC_INTEGER_BINARY T aotc_max(A a, B b) {
  const T x = (T)a, y = (T)b;
  return x > y ? x : y;
}

AOTC_INTEGER_BINARY T aotc_min(A a, B b) {
  const T x = (T)a, y = (T)b;
  return x < y ? x : y;
}

// Truncated quotient.
AOTC_INTEGER_BINARY T aotc_div(A a, B b) {
  const T x = (T)a, y = (T)b;
  if (y == (T)0) return (T)0;
  if (aotc_is_negative(y) && y == (T)-1) return (T)(0u - (uint64_t)x);  // the least integer wraps
  return x / y;
}

// Remainder of the truncated quotient: the sign of `a`.
AOTC_INTEGER_BINARY T aotc_trunc_mod(A a, B b) {
  const T x = (T)a, y = (T)b;
  if (y == (T)0 || (aotc_is_negative(y) && y == (T)-1)) return (T)0;
  return x % y;
}

// Quotient to minus infinity.
AOTC_INTEGER_BINARY T aotc_floor_div(A a, B b) {
  const T rest = aotc_trunc_mod(a, b);
  const bool above = rest != (T)0 && aotc_is_negative(rest) != aotc_is_negative((T)b);
  return aotc_div(a, b) - (T)above;
}

// Remainder of floor_div: the sign of `b`.
AOTC_INTEGER_BINARY T aotc_mod(A a, B b) {
  const T rest = aotc_trunc_mod(a, b);
  const bool other_sign = rest != (T)0 && aotc_is_negative(rest) != aotc_is_negative((T)b);
  return other_sign ? rest + (T)b : rest;
}

// By squaring; with a negative exponent the truncated 1 / a^n.
AOTC_INTEGER_BINARY T aotc_pow(A a, B b) {
  const T base = (T)a;
  if (aotc_is_negative(b)) {
    if (aotc_is_negative(base) && base == (T)-1) return b % 2 == 0 ? (T)1 : (T)-1;
    return base == (T)1 ? (T)1 : (T)0;
  }
  uint64_t result = 1, factor = (uint64_t)base;
  for (uint64_t n = (uint64_t)b; n != 0; n >>= 1, factor *= factor) {
    if ((n & 1) != 0) result *= factor;
  }
  return (T)result;
}

AOTC_INTEGER_BINARY T aotc_shift_left(A a, B b) {
  const uint64_t count = (uint64_t)b;
  return (T)(count > 63 ? 0 : (uint64_t)a << count);
}

AOTC_INTEGER_BINARY T aotc_shift_right(A a, B b) {
  const uint64_t count = (uint64_t)b;
  if (aotc_is_negative(a)) return (T)((int64_t)a >> (count > 63 ? 63 : count));
  return (T)(count > 63 ? 0 : (uint64_t)a >> count);
}
#undef AOTC_INTEGER_BINARY

// ---- Casts: aotc_to_<dtype>(x) of any arithmetic type, f16 or bf16 ---
// Float to integer truncates; what is out of range becomes the nearest value, NaN becomes 0.
// Integer to integer wraps. To a float: nearest, ties to even.

template <class T>
AOTC_INLINE T aotc_saturate(double x) {
  const bool is_signed = (T)-1 < (T)1;
  const int bits = (int)sizeof(T) * 8 - (is_signed ? 1 : 0);
  const T most = (T)(~(uint64_t)0 >> (64 - bits));
  const double limit = 2.0 * (double)((uint64_t)1 << (bits - 1));  // most + 1
  if (x != x) return (T)0;
  if (x >= limit) return most;
  if (x <= (is_signed ? -limit : 0.0)) return is_signed ? (T)~most : (T)0;
  return (T)x;
}

template <class T>
AOTC_INLINE T aotc_cast_to(float x, const T *) {
  return aotc_saturate<T>((double)x);
}
template <class T>
AOTC_INLINE T aotc_cast_to(double x, const T *) {
  return aotc_saturate<T>(x);
}
template <class T>
AOTC_INLINE T aotc_cast_to(aotc_f16 x, const T *) {
  return aotc_saturate<T>(aotc_to_f32(x));
}
template <class T>
AOTC_INLINE T aotc_cast_to(aotc_bf16 x, const T *) {
  return aotc_saturate<T>(aotc_to_f32(x));
}
template <class T, class From>
AOTC_INLINE T aotc_cast_to(From x, const T *) {
  return (T)x;
}

// The bits of `x` as another type of its size.
template <class To, class From>
AOTC_INLINE To aotc_bit_cast(From x) {
  static_assert(sizeof(To) == sizeof(From), "types of one size");
  To bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

#define AOTC_DEFINE_CAST(name, T)               \
  template <class From>                         \
  AOTC_INLINE T name(From x) {                  \
    return aotc_cast_to(x, (const T *)nullptr); \
  }
AOTC_DEFINE_CAST(aotc_to_i8, int8_t)
AOTC_DEFINE_CAST(aotc_to_i16, int16_t)
AOTC_DEFINE_CAST(aotc_to_i32, int32_t)
AOTC_DEFINE_CAST(aotc_to_i64, int64_t)
AOTC_DEFINE_CAST(aotc_to_u8, uint8_t)
AOTC_DEFINE_CAST(aotc_to_u16, uint16_t)
AOTC_DEFINE_CAST(aotc_to_u32, uint32_t)
AOTC_DEFINE_CAST(aotc_to_u64, uint64_t)
#undef AOTC_DEFINE_CAST

template <class From>
AOTC_INLINE float aotc_to_f32(From x) {
  return (float)x;
}

AOTC_INLINE double aotc_to_f64(aotc_f16 x) { return (double)aotc_to_f32(x); }
AOTC_INLINE double aotc_to_f64(aotc_bf16 x) { return (double)aotc_to_f32(x); }
template <class From>
AOTC_INLINE double aotc_to_f64(From x) {
  return (double)x;
}

// The f32 next to `x` whose last bit says that something was cut: rounding it once more to fewer
// bits is as good as rounding `x`.
AOTC_INLINE float aotc_round_to_odd(double x) {
  const float nearest = (float)x;
  if ((double)nearest == x || x != x) return nearest;
  uint32_t bits = aotc_bits_of_f32(nearest);
  const bool beyond = fabs((double)nearest) > fabs(x);
  if (beyond) --bits;  // to the neighbour towards zero
  return aotc_f32_of_bits(bits | 1u);
}

AOTC_INLINE aotc_f16 aotc_to_f16(float x) { return aotc_f16{aotc_f16_from_f32(x)}; }
AOTC_INLINE aotc_bf16 aotc_to_bf16(float x) { return aotc_bf16{aotc_bf16_from_f32(x)}; }
AOTC_INLINE aotc_f16 aotc_to_f16(aotc_bf16 x) { return aotc_to_f16(aotc_to_f32(x)); }
AOTC_INLINE aotc_bf16 aotc_to_bf16(aotc_f16 x) { return aotc_to_bf16(aotc_to_f32(x)); }
template <class From>
AOTC_INLINE aotc_f16 aotc_to_f16(From x) {
  return aotc_to_f16(aotc_round_to_odd(aotc_to_f64(x)));
}
template <class From>
AOTC_INLINE aotc_bf16 aotc_to_bf16(From x) {
  return aotc_to_bf16(aotc_round_to_odd(aotc_to_f64(x)));
}

#endif  // AOTC_SCALAR_MATH_H_
