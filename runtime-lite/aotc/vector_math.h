// exp, log, tanh, sigmoid, erf on vectors of f32, and a lane at a time what has no vector form.
//
//   aotc_vf gelu = 0.5f * x * (1.0f + aotc_erf(x * 0.70710678f));
//
// Largest errors found over all exponents: exp 1 ulp, log 1 ulp, tanh 1.3 ulp, sigmoid 2.3 ulp, erf
// 1.2 ulp. Infinities, NaN, denormal arguments and results, and the sign of zero are those of libm.
// The polynomials are minimax fits of our own with coefficients rounded to f32 one by one.
#ifndef AOTC_VECTOR_MATH_H_
#define AOTC_VECTOR_MATH_H_

#include "aotc/scalar_math.h"
#include "aotc/vector.h"

// coefficients[0] + coefficients[1] * x + ...
template <int Count>
AOTC_INLINE aotc_vf aotc_polynomial(aotc_vf x, const float (&coefficients)[Count]) {
  aotc_vf sum = aotc_broadcast(coefficients[Count - 1]);
  AOTC_UNROLL(16)
  for (int i = Count - 2; i >= 0; --i) sum = sum * x + coefficients[i];
  return sum;
}

// x * 2^n for whole n of -252 .. 254, with one rounding where the result is denormal; `shifted` is
// n + 0x1.8p23.
AOTC_INLINE aotc_vf aotc_scale(aotc_vf x, aotc_vf n, aotc_vf shifted) {
#if defined(AOTC_ISA_X86_64_V4)
  (void)shifted;
  __asm__("vscalefps %1, %0, %0" : "+" AOTC_REGISTER(x) : AOTC_REGISTER(n));
  return x;
#else
  (void)n;
  const aotc_vi whole = aotc_bits(shifted) - 0x4b400000, half = whole >> 1;
  const aotc_vf first = (aotc_vf)((aotc_vu)(half + 127) << 23);
  const aotc_vf second = (aotc_vf)((aotc_vu)(whole - half + 127) << 23);
  return x * first * second;
#endif
}

AOTC_INLINE aotc_vf aotc_exp(aotc_vf x) {
  // Beyond these the result is 0 or infinity all the same. NaN passes.
  const aotc_vf high = aotc_min_known(aotc_broadcast(89.0f), x);
  const aotc_vf clamped = aotc_max_known(aotc_broadcast(-105.0f), high);
  // exp(x) = 2^n * exp(r), |r| <= ln(2) / 2; n * 0x1.63p-1 is exact.
  const aotc_vf magic = aotc_broadcast(0x1.8p23f);
  aotc_vf shifted = clamped * 0x1.715476p0f + magic;
  aotc_pin(shifted);
  const aotc_vf n = shifted - magic;
  const aotc_vf r = clamped - n * 0x1.63p-1f + n * 0x1.bd0106p-13f;
  static const float kCoefficients[] = {0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558b4p-5f,
                                        0x1.12399cp-7f, 0x1.6a48fcp-10f};
  const aotc_vf result = aotc_polynomial(r, kCoefficients) * (r * r) + r + 1.0f;
  return aotc_scale(result, n, shifted);
}

AOTC_INLINE aotc_vf aotc_log(aotc_vf x) {
  const aotc_vf zero = {};
  const aotc_vi tiny = x < 0x1p-126f;  // denormals, and what is not positive
  const aotc_vf scaled = tiny ? x * 0x1p25f : x;
  // x = 2^n * (1 + f), f of sqrt(1/2) - 1 .. sqrt(2) - 1
  const aotc_vi offset = (aotc_vi)((aotc_vu)scaled - 0x3f3504f3u);
  const aotc_vf n = aotc_to_f32((offset >> 23) - (tiny & 25));
  const aotc_vf f = aotc_from_bits((offset & 0x007fffff) + 0x3f3504f3) - 1.0f;
  static const float kCoefficients[] = {0x1.555548p-2f,  -0x1.000006p-2f, 0x1.99a476p-3f,
                                        -0x1.555c44p-3f, 0x1.233ba2p-3f,  -0x1.fc28cap-4f,
                                        0x1.e6c00ap-4f,  -0x1.de01d8p-4f, 0x1.147334p-4f};
  const aotc_vf square = f * f;
  const aotc_vf tail = aotc_polynomial(f, kCoefficients) * (square * f) - n * 0x1.bd0106p-13f;
  aotc_vf result = (tail - 0.5f * square) + f + n * 0x1.63p-1f;
  result = x < zero ? aotc_broadcast(NAN) : result;
  result = x == zero ? aotc_broadcast(-INFINITY) : result;
  return x < INFINITY ? result : x;  // infinity and NaN
}

AOTC_INLINE aotc_vf aotc_tanh(aotc_vf x) {
  const aotc_vf magnitude = aotc_abs(x), square = x * x;
  const aotc_vf large = 1.0f - 2.0f / (aotc_exp(magnitude + magnitude) + 1.0f);
  static const float kCoefficients[] = {-0x1.55553ep-2f, 0x1.1109bep-3f, -0x1.b89abap-5f,
                                        0x1.54c3c2p-6f, -0x1.828776p-8f};
  const aotc_vf small = aotc_polynomial(square, kCoefficients) * (square * x) + x;
  return aotc_copysign(magnitude < 0.6f ? small : large, x);  // also of -0
}

AOTC_INLINE aotc_vf aotc_sigmoid(aotc_vf x) {
  const aotc_vf small = aotc_exp(-aotc_abs(x));  // never overflows; keeps denormal results
  const aotc_vf quotient = 1.0f / (1.0f + small);
  return x >= 0.0f ? quotient : small * quotient;
}

AOTC_INLINE aotc_vf aotc_erf(aotc_vf x) {
  const aotc_vf magnitude = aotc_abs(x), square = x * x;
  // erf = 1 - exp(polynomial); from 3.95 on it is 1.
  static const float kLarge[] = {-0x1.bb27fp-13f, -0x1.20ab2p+0f,  -0x1.464af4p-1f, -0x1.a9509ep-4f,
                                 0x1.6b6ab2p-6f,  -0x1.8d60ccp-9f, 0x1.9875aap-13f};
  const aotc_vf clamped = aotc_min_known(aotc_broadcast(3.95f), magnitude);
  const aotc_vf large = 1.0f - aotc_exp(aotc_polynomial(clamped, kLarge));
  static const float kSmall[] = {0x1.06eba8p-3f, -0x1.81274p-2f,   0x1.ce2d64p-4f, -0x1.b8011ap-6f,
                                 0x1.544a1ap-8f, -0x1.a60a2ep-11f, 0x1.4f676p-14f};
  const aotc_vf small = aotc_polynomial(square, kSmall) * x + x;
  return magnitude < 0.93f ? small : aotc_copysign(large, x);
}

AOTC_INLINE aotc_vf aotc_trunc(aotc_vf x) { return aotc_copysign(aotc_floor(aotc_abs(x)), x); }

AOTC_INLINE aotc_vf aotc_sign(aotc_vf x) {
  const aotc_vf one = aotc_broadcast(1.0f);
  const aotc_vf sign = x != 0.0f ? aotc_copysign(one, x) : aotc_broadcast(0.0f);
  return x == x ? sign : x;
}

AOTC_INLINE aotc_vi aotc_is_nan(aotc_vf x) { return x != x; }
AOTC_INLINE aotc_vi aotc_is_inf(aotc_vf x) { return aotc_abs(x) == INFINITY; }

// A lane at a time, through libm.
#define AOTC_DEFINE_LANEWISE(name)                                                \
  AOTC_INLINE aotc_vf name(aotc_vf x) {                                           \
    for (int lane = 0; lane < AOTC_LANES; ++lane) x[lane] = name((float)x[lane]); \
    return x;                                                                     \
  }
AOTC_DEFINE_LANEWISE(aotc_sin)
AOTC_DEFINE_LANEWISE(aotc_cos)
AOTC_DEFINE_LANEWISE(aotc_tan)
AOTC_DEFINE_LANEWISE(aotc_asin)
AOTC_DEFINE_LANEWISE(aotc_acos)
AOTC_DEFINE_LANEWISE(aotc_atan)
AOTC_DEFINE_LANEWISE(aotc_sinh)
AOTC_DEFINE_LANEWISE(aotc_cosh)
AOTC_DEFINE_LANEWISE(aotc_asinh)
AOTC_DEFINE_LANEWISE(aotc_acosh)
AOTC_DEFINE_LANEWISE(aotc_atanh)
#undef AOTC_DEFINE_LANEWISE

AOTC_INLINE aotc_vf aotc_pow(aotc_vf x, aotc_vf y) {
  for (int lane = 0; lane < AOTC_LANES; ++lane) {
    x[lane] = aotc_pow((float)x[lane], (float)y[lane]);
  }
  return x;
}

#endif  // AOTC_VECTOR_MATH_H_
