// The measured kernels, as emitted code writes them, built once per ISA.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tests/bench/contract_tile_bench.h"
#include "tests/templates/isa.h"
// The target region opens after every C header.
#include "aotc/target_begin.h"
#include "aotc/vector_convert.h"
#include "templates/cpu/contract_tile.h"
#include "templates/cpu/contract_tile_int8.h"

namespace {

#if AOTC_LANES == 16
enum { kRows = 14, kVectors = 2, kPeakRegisters = 24 };
#elif AOTC_LANES == 8
enum { kRows = 6, kVectors = 2, kPeakRegisters = 12 };
#else
enum { kRows = 4, kVectors = 2, kPeakRegisters = 12 };
#endif
#if defined(AOTC_WITH_AVX512VNNI)
enum { kInt8Rows = 14 };
#elif defined(AOTC_WITH_AVXVNNI)
enum { kInt8Rows = 6 };
#elif AOTC_LANES == 16
enum { kInt8Rows = 8 };
#else
enum { kInt8Rows = 3 };
#endif
enum {
  kTileColumns = kVectors * AOTC_LANES,
  kRowsLeft = kBenchRows % kRows + !(kBenchRows % kRows)
};

AOTC_KERNEL int64_t peak(int64_t rounds, float* sink) {
  aotc_vf sums[kPeakRegisters];
  AOTC_UNROLL(32)
  for (int i = 0; i < kPeakRegisters; ++i) sums[i] = aotc_broadcast((float)i);
  aotc_vf factor = aotc_broadcast(0.5f), term = aotc_broadcast(1.0f);
  aotc_pin(factor);
  aotc_pin(term);
  AOTC_NO_UNROLL
  for (int64_t round = 0; round < rounds; ++round) {
    AOTC_UNROLL(32)
    for (int i = 0; i < kPeakRegisters; ++i) {
      sums[i] = sums[i] * factor + term;
      aotc_pin(sums[i]);
    }
  }
  AOTC_UNROLL(32)
  for (int i = 1; i < kPeakRegisters; ++i) sums[0] += sums[i];
  *sink = aotc_sum_lanes(sums[0]);
  return rounds * kPeakRegisters * AOTC_LANES * 2;
}

struct full_epilogue : aotc_epilogue {
  const float *bias, *residual;
  float* y;
  AOTC_MEMBER void operator()(int m, int v, aotc_vf acc) const {
    const int at = m * kBenchColumns + v * AOTC_LANES;
    const aotc_vf sum = acc + aotc_load(bias + v * AOTC_LANES) + aotc_load(residual + at);
    aotc_store(y + at, aotc_max_known(aotc_vf{}, sum));
  }
};

struct Operands {
  const float *a, *packed, *bias, *residual;
  float* y;
};

template <int Rows, int Vectors, int Steps>
static void run_tile(const Operands& of, int64_t m0, int64_t n0) {
  const aotc_rows<float, kBenchDepth> rows = {of.a + m0 * kBenchDepth};
  const aotc_panel<float> panel = {of.packed + n0 / 32 * 32 * kBenchDepth + n0 % 32};
  full_epilogue epilogue;
  epilogue.bias = of.bias + n0;
  epilogue.residual = of.residual + m0 * kBenchColumns + n0;
  epilogue.y = of.y + m0 * kBenchColumns + n0;
  aotc_contract_tile<Rows, Vectors, Steps>(rows, panel, aotc_nest_dense(kBenchDepth, 32), epilogue);
}

static void matmul(const float* a, const float* packed, const float* bias, const float* residual,
                   float* y) {
  const Operands of = {a, packed, bias, residual, y};
  for (int64_t n0 = 0; n0 < kBenchColumns; n0 += kTileColumns) {
    int64_t m0 = 0;
    for (; m0 + kRows <= kBenchRows; m0 += kRows) run_tile<kRows, kVectors, 1>(of, m0, n0);
    if (m0 < kBenchRows) run_tile<kRowsLeft, kVectors, 1>(of, m0, n0);
  }
}

static void gemv(const float* a, const float* packed, const float* bias, const float* residual,
                 float* y) {
  const Operands of = {a, packed, bias, residual, y};
  for (int64_t n0 = 0; n0 < kBenchColumns; n0 += 32) {
    run_tile<1, 32 / AOTC_LANES, AOTC_LANES / 4>(of, 0, n0);
  }
}

struct requantise : aotc_epilogue_int8 {
  const float* scale;
  uint8_t* y;
  AOTC_MEMBER void operator()(int m, int v, aotc_vi acc) const {
    const aotc_vf positive = aotc_to_f32(aotc_max(acc, aotc_vi{}));
    const aotc_vf scaled = positive * aotc_load(scale + v * AOTC_LANES);
    aotc_store(y + m * kBenchColumns + v * AOTC_LANES, aotc_round(scaled));
  }
};

static void matmul_int8(const uint8_t* a, const int8_t* packed, const float* scale, uint8_t* y) {
  for (int64_t n0 = 0; n0 < kBenchColumns; n0 += kTileColumns) {
    const aotc_panel<int8_t> panel = {packed + n0 / 32 * 32 * kBenchDepth + n0 % 32 * 4};
    requantise epilogue;
    epilogue.scale = scale + n0;
    int64_t m0 = 0;
    for (; m0 < kBenchRows; m0 += kInt8Rows) {
      // The last tile goes over rows that were done: the result is the same.
      const int64_t first = m0 + kInt8Rows <= kBenchRows ? m0 : kBenchRows - kInt8Rows;
      const aotc_rows_u8<kBenchDepth> rows = {a + first * kBenchDepth};
      epilogue.y = y + first * kBenchColumns + n0;
      aotc_contract_tile_int8<kInt8Rows, kVectors>(rows, panel,
                                                   aotc_nest_dense4(kBenchDepth / 4, 32), epilogue);
    }
  }
}

const BenchKernels kernels = {AOTC_LANES, peak, matmul, gemv, matmul_int8};

}  // namespace

extern "C" const BenchKernels* AOTC_TEST_EXPORT(bench)() { return &kernels; }

#include "aotc/target_end.h"
