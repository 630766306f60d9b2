// Loops over vector functions, built once per ISA. See vector_math_cases.h.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tests/templates/isa.h"
#include "tests/templates/vector_math_cases.h"
// The target region opens after every C header.
#include "aotc/target_begin.h"
#include "aotc/vector_convert.h"
#include "aotc/vector_math.h"

namespace {

#define DEFINE_UNARY(name)                                                              \
  static void run_##name(const float* x, float* y, int64_t count) {                     \
    int64_t i = 0;                                                                      \
    for (; i + AOTC_LANES <= count; i += AOTC_LANES) {                                  \
      aotc_store(y + i, aotc_##name(aotc_load(x + i)));                                 \
    }                                                                                   \
    if (i == count) return;                                                             \
    aotc_store_first(y + i, aotc_##name(aotc_load_first(x + i, count - i)), count - i); \
  }
DEFINE_UNARY(exp)
DEFINE_UNARY(log)
DEFINE_UNARY(tanh)
DEFINE_UNARY(sigmoid)
DEFINE_UNARY(erf)
DEFINE_UNARY(sin)
DEFINE_UNARY(sqrt)
DEFINE_UNARY(round)
DEFINE_UNARY(floor)
DEFINE_UNARY(ceil)
DEFINE_UNARY(trunc)
DEFINE_UNARY(sign)

#define DEFINE_BINARY(name)                                                                      \
  static void run_##name(const float* a, const float* b, float* y, int64_t count) {              \
    for (int64_t i = 0; i < count; i += AOTC_LANES) {                                            \
      const int64_t left = count - i < AOTC_LANES ? count - i : AOTC_LANES;                      \
      aotc_store_first(                                                                          \
          y + i, aotc_##name(aotc_load_first(a + i, left), aotc_load_first(b + i, left)), left); \
    }                                                                                            \
  }
DEFINE_BINARY(max)
DEFINE_BINARY(min)
DEFINE_BINARY(max_known)
DEFINE_BINARY(pow)

template <class From, class To>
static void convert(const From* x, To* y, int64_t count) {
  int64_t i = 0;
  for (; i + AOTC_LANES <= count; i += AOTC_LANES) aotc_store(y + i, aotc_load(x + i));
  if (i == count) return;
  aotc_store_first(y + i, aotc_load_first(x + i, count - i), count - i);
}

static void widen_f16(const uint16_t* x, float* y, int64_t count) {
  convert((const aotc_f16*)x, y, count);
}
static void narrow_f16(const float* x, uint16_t* y, int64_t count) {
  convert(x, (aotc_f16*)y, count);
}
static void widen_bf16(const uint16_t* x, float* y, int64_t count) {
  convert((const aotc_bf16*)x, y, count);
}
static void narrow_bf16(const float* x, uint16_t* y, int64_t count) {
  convert(x, (aotc_bf16*)y, count);
}

static void round_to_u8(const float* x, uint8_t* y, int64_t count, int32_t zero) {
  for (int64_t i = 0; i < count; i += AOTC_LANES) {
    const int64_t left = count - i < AOTC_LANES ? count - i : AOTC_LANES;
    aotc_store_first(y + i, aotc_round_to_u8(aotc_load_first(x + i, left), zero), left);
  }
}

static void reduce(const float* x, float* out) {
  const aotc_vf v = aotc_load(x);
  out[0] = aotc_sum_lanes(v), out[1] = aotc_max_lanes(v), out[2] = aotc_min_lanes(v);
}

static void strided(const float* x, float* y, int64_t stride) {
  aotc_store_strided(y, 2.0f * aotc_load_strided(x, stride), stride);
}

const VectorMathKernels kernels = {AOTC_LANES,
                                   run_exp,
                                   run_log,
                                   run_tanh,
                                   run_sigmoid,
                                   run_erf,
                                   run_sin,
                                   run_sqrt,
                                   run_round,
                                   run_floor,
                                   run_ceil,
                                   run_trunc,
                                   run_sign,
                                   run_max,
                                   run_min,
                                   run_max_known,
                                   run_pow,
                                   widen_f16,
                                   narrow_f16,
                                   widen_bf16,
                                   narrow_bf16,
                                   convert<uint8_t, uint8_t>,
                                   convert<int8_t, int8_t>,
                                   convert<float, uint8_t>,
                                   convert<float, int8_t>,
                                   convert<float, int32_t>,
                                   round_to_u8,
                                   reduce,
                                   strided};

}  // namespace

extern "C" const VectorMathKernels* AOTC_TEST_EXPORT(vector_math)() { return &kernels; }

#include "aotc/target_end.h"
