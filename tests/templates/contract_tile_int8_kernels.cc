// Integer matmuls as emitted code writes them, built once per ISA. See contract_tile_int8_cases.h.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tests/templates/contract_tile_int8_cases.h"
#include "tests/templates/isa.h"
// The target region opens after every C header.
#include "aotc/target_begin.h"
#include "aotc/vector_convert.h"
#include "templates/cpu/contract_tile_int8.h"
#if defined(AOTC_WITH_AMX_INT8)
#include "templates/cpu/contract_tile_amx.h"
#endif

namespace {

#if defined(AOTC_WITH_AVX512VNNI)
enum { kRows = 14, kVectors = 2 };
#elif defined(AOTC_WITH_AVXVNNI)
enum { kRows = 6, kVectors = 2 };
#elif AOTC_LANES == 16
enum { kRows = 8, kVectors = 2 };
#else
enum { kRows = 3, kVectors = 2 };
#endif

struct requantise : aotc_epilogue_int8 {
  const Int8Arguments* of;
  int64_t m0, n0;

  AOTC_MEMBER aotc_vi initial(int, int v) const {
    return aotc_load(of->bias + n0 + v * AOTC_LANES);
  }
  AOTC_MEMBER void operator()(int m, int v, aotc_vi acc) const {
    const int64_t column = n0 + v * AOTC_LANES;
    if (column >= of->n) return;
    const int64_t left = of->n - column, count = left < AOTC_LANES ? left : AOTC_LANES;
    const int64_t at = (m0 + m) * of->n + column;
    aotc_store_first(of->sums + at, acc, count);
    const aotc_vf positive = aotc_to_f32(aotc_max(acc, aotc_vi{}));
    aotc_store_first(of->quantised + at, aotc_round(positive * aotc_load(of->scale + column)),
                     count);
  }
};

template <int Rows, class Input, class Element>
static void run_tile(const Int8Arguments& of, int64_t m0, int64_t n0) {
  const Input rows = {(const Element*)of.a + m0 * of.a_stride, of.a_stride};
  const aotc_panel<int8_t> panel = {of.packed_b + (n0 / 32 * of.k4 * 32 + n0 % 32) * 4};
  requantise epilogue;
  epilogue.of = &of, epilogue.m0 = m0, epilogue.n0 = n0;
  constexpr int kSplit = Rows == 1 ? 3 : 1;
  aotc_contract_tile_int8<Rows, kVectors, kSplit>(rows, panel, aotc_nest_dense4(of.k4, 32),
                                                  epilogue);
}

template <class Input, class Element>
static void run_matmul(const Int8Arguments* of) {
  for (int64_t n0 = 0; n0 < of->n; n0 += kVectors * AOTC_LANES) {
    int64_t m0 = 0;
    for (; m0 + kRows <= of->m; m0 += kRows) run_tile<kRows, Input, Element>(*of, m0, n0);
    for (; m0 < of->m; ++m0) run_tile<1, Input, Element>(*of, m0, n0);
  }
}

#if defined(AOTC_WITH_AMX_INT8)
template <int Rows>
static void run_amx_tile(const Int8Arguments& of, int64_t m0, int64_t n0) {
  const aotc_rows_u8_strided rows = {(const uint8_t*)of.a + m0 * of.a_stride, of.a_stride};
  const aotc_panel<int8_t> panel = {of.packed_b + n0 * of.k4 * 4};
  requantise epilogue;
  epilogue.of = &of, epilogue.m0 = m0, epilogue.n0 = n0;
  aotc_amx_begin(Rows, of.k4);
  aotc_contract_tile_amx<Rows, 2>(rows, panel, aotc_nest_dense4(of.k4, 32), epilogue);
  aotc_amx_end();
}

static void matmul_amx(const Int8Arguments* of) {
  for (int64_t n0 = 0; n0 < of->n; n0 += 32) {
    int64_t m0 = 0;
    for (; m0 + 14 <= of->m; m0 += 14) run_amx_tile<14>(*of, m0, n0);
    for (; m0 < of->m; ++m0) run_amx_tile<1>(*of, m0, n0);
  }
}
#define MATMUL_AMX matmul_amx
#else
#define MATMUL_AMX nullptr
#endif

const Int8Kernels kernels = {AOTC_LANES, run_matmul<aotc_rows_u8_strided, uint8_t>,
                             run_matmul<aotc_rows_s8_strided, int8_t>, MATMUL_AMX};

}  // namespace

extern "C" const Int8Kernels* AOTC_TEST_EXPORT(int8)() { return &kernels; }

#include "aotc/target_end.h"
