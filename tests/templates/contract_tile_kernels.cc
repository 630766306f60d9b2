// Kernels written as emitted code writes them, built once per ISA. See contract_tile_cases.h.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tests/templates/contract_tile_cases.h"
#include "tests/templates/isa.h"
// The target region opens after every C header.
#include "aotc/target_begin.h"
#include "templates/cpu/contract_tile.h"

namespace {

#if AOTC_LANES == 16
enum { kRows = 14, kVectors = 2 };
#elif AOTC_LANES == 8
enum { kRows = 6, kVectors = 2 };
#else
enum { kRows = 4, kVectors = 2 };
#endif
enum { kTileColumns = kVectors * AOTC_LANES };

struct final_epilogue : aotc_epilogue {
  const MatmulArguments* of;
  int64_t m0, n0;
  bool partial;  // y holds the sums of earlier blocks of k

  AOTC_MEMBER aotc_vf initial(int m, int v) const {
    const int64_t column = n0 + v * AOTC_LANES;
    if (!partial || column >= of->n) return aotc_vf{};
    const int64_t left = of->n - column;
    const float* sums = of->y + (m0 + m) * of->n + column;
    return aotc_load_first(sums, left < AOTC_LANES ? left : AOTC_LANES);
  }

  AOTC_MEMBER void operator()(int m, int v, aotc_vf acc) const {
    const int64_t column = n0 + v * AOTC_LANES;
    if (column >= of->n) return;
    const int64_t left = of->n - column, count = left < AOTC_LANES ? left : AOTC_LANES;
    const int64_t at = (m0 + m) * of->n + column;
    aotc_vf sum = acc + aotc_load(of->bias + column) + aotc_load_first(of->residual + at, count);
    sum = aotc_max_known(aotc_broadcast(0.0f), sum);
    aotc_store_first(of->y + at, sum, count);
    const aotc_vf valid = aotc_select(aotc_mask_first(count), sum, aotc_broadcast(0.0f));
    const float top = aotc_max_lanes(valid);
    if (top > of->row_max[m0 + m]) of->row_max[m0 + m] = top;
  }
};

struct rolled_epilogue : final_epilogue {
  enum { rolled = 1 };
};

// Stores the raw sums of a block of k that is not the last.
struct partial_epilogue : final_epilogue {
  AOTC_MEMBER void operator()(int m, int v, aotc_vf acc) const {
    const int64_t column = n0 + v * AOTC_LANES, left = of->n - column;
    if (left <= 0) return;
    aotc_store_first(of->y + (m0 + m) * of->n + column, acc, left < AOTC_LANES ? left : AOTC_LANES);
  }
};

template <class Final, int Rows, int Steps, class A, class B>
static void run_tile(const MatmulArguments& of, int64_t m0, int64_t n0) {
  const int64_t block = of.k_block > 0 ? of.k_block : of.k;
  int64_t k0 = 0;
  do {
    const int64_t steps = of.k - k0 < block ? of.k - k0 : block;
    const aotc_rows_strided<A> rows = {(const A*)of.a + m0 * of.a_stride + k0, of.a_stride};
    const aotc_panel<B> panel = {(const B*)of.packed_b + n0 / 32 * 32 * of.k + k0 * 32 + n0 % 32};
    const aotc_nest nest = aotc_nest_dense(steps, 32);
    if (k0 + steps < of.k) {
      partial_epilogue epilogue;
      epilogue.of = &of, epilogue.m0 = m0, epilogue.n0 = n0, epilogue.partial = k0 > 0;
      aotc_contract_tile<Rows, kVectors, Steps>(rows, panel, nest, epilogue);
    } else {
      Final epilogue;
      epilogue.of = &of, epilogue.m0 = m0, epilogue.n0 = n0, epilogue.partial = k0 > 0;
      aotc_contract_tile<Rows, kVectors, Steps>(rows, panel, nest, epilogue);
    }
    k0 += steps;
  } while (k0 < of.k);
}

template <class Final, int Rows, int Steps, class A, class B>
static void run_matmul(const MatmulArguments& of) {
  for (int64_t m = 0; m < of.m; ++m) of.row_max[m] = 0.0f;
  for (int64_t n0 = 0; n0 < of.n; n0 += kTileColumns) {
    int64_t m0 = 0;
    for (; m0 + Rows <= of.m; m0 += Rows) run_tile<Final, Rows, Steps, A, B>(of, m0, n0);
    for (; m0 < of.m; ++m0) run_tile<Final, 1, Steps, A, B>(of, m0, n0);
  }
}

template <class Final, int Rows, int Steps>
static void select_kinds(const MatmulArguments* of) {
  if (of->a_kind == kF32 && of->b_kind == kF32) {
    run_matmul<Final, Rows, Steps, float, float>(*of);
  } else if (of->a_kind == kF16 && of->b_kind == kF32) {
    run_matmul<Final, Rows, Steps, aotc_f16, float>(*of);
  } else if (of->a_kind == kF16) {
    run_matmul<Final, Rows, Steps, aotc_f16, aotc_f16>(*of);
  } else {
    run_matmul<Final, Rows, Steps, aotc_bf16, aotc_bf16>(*of);
  }
}

static void matmul(const MatmulArguments* of) { select_kinds<final_epilogue, kRows, 1>(of); }
static void matmul_rolled(const MatmulArguments* of) {
  select_kinds<rolled_epilogue, kRows, 1>(of);
}
static void gemv(const MatmulArguments* of) { select_kinds<final_epilogue, 1, 4>(of); }

struct store_epilogue : aotc_epilogue {
  float* y;
  AOTC_MEMBER void operator()(int m, int v, aotc_vf acc) const {
    aotc_store(y + m * 32 + v * AOTC_LANES, acc);
  }
};

template <int Pixels>
static void conv_pixels(const ConvArguments& of, int64_t oh, int64_t ow, int64_t n0) {
  const int64_t image = of.height * of.width * 16, row = of.width * 16;
  const float* at = of.input + oh * of.stride * row + ow * of.stride * 16;
  const int64_t out_width = (of.width - of.kw) / of.stride + 1;
  const aotc_nest nest = {{of.blocks, of.kh, of.kw, 16},
                          {image, row, 16, 1},
                          {of.kh * of.kw * 512, of.kw * 512, 512, 32}};
  const aotc_rows_strided<float> rows = {at, of.stride * 16};
  const aotc_panel<float> panel = {of.packed + n0};
  store_epilogue epilogue;
  epilogue.y = of.y + (oh * out_width + ow) * 32 + n0;
  aotc_contract_tile<Pixels, kVectors>(rows, panel, nest, epilogue);
}

static void conv(const ConvArguments* of) {
  const int64_t out_height = (of->height - of->kh) / of->stride + 1;
  const int64_t out_width = (of->width - of->kw) / of->stride + 1;
  for (int64_t oh = 0; oh < out_height; ++oh) {
    for (int64_t n0 = 0; n0 < 32; n0 += kTileColumns) {
      int64_t ow = 0;
      for (; ow + kRows <= out_width; ow += kRows) conv_pixels<kRows>(*of, oh, ow, n0);
      for (; ow < out_width; ++ow) conv_pixels<1>(*of, oh, ow, n0);
    }
  }
}

const ContractKernels kernels = {AOTC_LANES, matmul, matmul_rolled, gemv, conv};

}  // namespace

extern "C" const ContractKernels* AOTC_TEST_EXPORT(contract)() { return &kernels; }

#include "aotc/target_end.h"
