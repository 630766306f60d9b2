// The contraction tile: MR rows by NV vectors of columns, accumulated in registers over a nest of
// up to four loops, then handed to an epilogue. Matmul, GEMV and direct convolution call it; what
// differs is where the rows lie and which nest walks them.
//
//   acc[m, v, lane] = initial[m, v, lane] + sum over k of  input(m, k) * weights[k, v, lane]
//
// A kernel file that computes relu(a[m,k] * b[k,n] + bias[n]), 14 rows by 32 columns at a time:
//
//   namespace {                                             // members must not be weak symbols
//   struct relu_epilogue : aotc_epilogue {
//     const float *bias;                                    // at the tile's first column
//     float *y;                                             // at the tile's first element
//     AOTC_MEMBER void operator()(int m, int v, aotc_vf acc) const {
//       const aotc_vf sum = acc + aotc_load(bias + v * AOTC_LANES);
//       aotc_store(y + m * 40 + v * AOTC_LANES, aotc_max_known(aotc_vf{}, sum));
//     }
//   };
//   }  // namespace
//   const aotc_rows<float, 512> rows = {a + m0 * 512};                       // row stride 512
//   const aotc_panel<float> panel = {packed + n0 * 512};                     // [n/32][k][32]
//   relu_epilogue epilogue; epilogue.bias = bias + n0; epilogue.y = y + m0 * 40 + n0;
//   aotc_contract_tile<14, 2>(rows, panel, aotc_nest_dense(512, 32), epilogue);
//
// Input: any type with `aotc_vf load(int m, int64_t offset) const`, row m's value in all lanes, and
//   `void prefetch(int m, int64_t offset) const`, which asks for it; offset is the sum of the steps
//   of the nest times its input strides. aotc_rows is the usual one.
// Weights: (k, v, lane) lies at data[sum of steps times weight strides + v * AOTC_LANES + lane], as
//   f32, f16 or bf16, or as 8 or 4 bits with scales (contract_weights.h). Panels of 32 columns
//   serve AVX-512 with NV 2, AVX2 with NV 2 or 4, SSE2 with NV 2, 4 or 8.
// Epilogue: derives from aotc_epilogue, is called once per (m, v) with constants for both, and may
//   keep results (row statistics). Tails of columns: aotc_store_first. Tails of rows: a smaller MR.
// Sizes: MR * NV accumulators, NV weights and a broadcast must fit the registers (32 with AVX-512,
//   else 16): 14x2, 8x3, 6x4 on AVX-512, 6x2 on AVX2 and SSE2. Few accumulators want KU > 1: that
//   many consecutive steps go to accumulators of their own, added at the end. One row (GEMV) is
//   best with all 32 columns of its panel: NV = 32 / AOTC_LANES, KU = AOTC_LANES / 4.
#ifndef AOTC_CONTRACT_TILE_H_
#define AOTC_CONTRACT_TILE_H_

#include "aotc/vector.h"
#include "aotc/vector_convert.h"
#include "contract_nest.h"
#include "contract_weights.h"
#include "epilogue.h"

// Rows a constant `RowStride` elements apart: pixels of a convolution, rows of a static matrix.
template <class Element, int64_t RowStride>
struct aotc_rows {
  const Element *data;
  AOTC_MEMBER aotc_vf load(int m, int64_t offset) const {
    return aotc_load_one(data + m * RowStride + offset);
  }
  AOTC_MEMBER void prefetch(int m, int64_t offset) const {
    aotc_prefetch_input(data, m * RowStride + offset);
  }
};

// Rows whose distance is known when the kernel runs.
template <class Element>
struct aotc_rows_strided {
  const Element *data;
  int64_t row_stride;
  AOTC_MEMBER aotc_vf load(int m, int64_t offset) const {
    return aotc_load_one(data + m * row_stride + offset);
  }
  AOTC_MEMBER void prefetch(int m, int64_t offset) const {
    aotc_prefetch_input(data, m * row_stride + offset);
  }
};

// One step of the reduction, given its weight row.
template <int MR, int NV, class Input, class Row>
AOTC_INLINE void aotc_contract_step(const Input &input, int64_t offset, const Row &row,
                                    aotc_vf (&acc)[MR][NV]) {
  aotc_vf weights[NV];
  AOTC_UNROLL(16)
  for (int v = 0; v < NV; ++v) {
    weights[v] = row.load(v);
    row.prefetch(v);
  }
  AOTC_UNROLL(32)
  for (int m = 0; m < MR; ++m) {
    aotc_vf broadcast = input.load(m, offset);
    aotc_pin(broadcast);
    AOTC_UNROLL(16)
    for (int v = 0; v < NV; ++v) acc[m][v] += broadcast * weights[v];
  }
}

// The innermost loop, KU steps at a time.
template <int MR, int NV, int KU, class Input, class Row>
AOTC_INLINE void aotc_contract_loop(const Input &input, int64_t offset, Row row,
                                    const aotc_nest &nest, aotc_vf (&acc)[KU][MR][NV]) {
  const int64_t input_stride = nest.input_stride[3], weight_stride = nest.weight_stride[3];
  int64_t steps = nest.extent[3];
  if (KU > 1) {
    AOTC_NO_UNROLL
    for (; steps >= KU; steps -= KU) {
      AOTC_UNROLL(8)
      for (int u = 0; u < KU; ++u) {
        aotc_contract_step<MR, NV>(input, offset, row, acc[u]);
        offset += input_stride;
        row.advance(weight_stride);
      }
    }
  }
  AOTC_NO_UNROLL
  for (; steps > 0; --steps) {
    aotc_contract_step<MR, NV>(input, offset, row, acc[0]);
    offset += input_stride;
    row.advance(weight_stride);
  }
}

// Hands the accumulators to the epilogue.
template <int MR, int NV, class Epilogue>
AOTC_INLINE void aotc_contract_finish(const aotc_vf (&acc)[MR][NV], Epilogue &epilogue) {
  if (Epilogue::rolled) {
    float memory[MR * NV * AOTC_LANES];
    AOTC_UNROLL(128)
    for (int i = 0; i < MR * NV; ++i) aotc_store(memory + i * AOTC_LANES, acc[i / NV][i % NV]);
    AOTC_NO_UNROLL
    for (int i = 0; i < MR * NV; ++i) {
      epilogue(i / NV, i % NV, aotc_load(memory + i * AOTC_LANES));
    }
    return;
  }
  AOTC_UNROLL(32)
  for (int m = 0; m < MR; ++m) {
    AOTC_UNROLL(16)
    for (int v = 0; v < NV; ++v) epilogue(m, v, acc[m][v]);
  }
}

// The reduction proper: all levels of the nest.
template <int MR, int NV, int KU, class Input, class Weights>
AOTC_INLINE void aotc_contract_reduce(const Input &input, const Weights &weights,
                                      const aotc_nest &nest, aotc_vf (&acc)[KU][MR][NV]) {
  AOTC_NO_UNROLL
  for (int64_t i0 = 0; i0 < nest.extent[0]; ++i0) {
    AOTC_NO_UNROLL
    for (int64_t i1 = 0; i1 < nest.extent[1]; ++i1) {
      AOTC_NO_UNROLL
      for (int64_t i2 = 0; i2 < nest.extent[2]; ++i2) {
        const int64_t offset = aotc_nest_input(nest, i0, i1, i2);
        const auto row = aotc_weights_at<NV>(weights, nest, i0, i1, i2);
        aotc_prefetch_block<MR>(input, nest, offset);
        aotc_contract_loop<MR, NV, KU>(input, offset, row, nest, acc);
      }
    }
  }
}

template <int MR, int NV, int KU = 1, class Input, class Weights, class Epilogue>
AOTC_KERNEL void aotc_contract_tile(const Input &input, const Weights &weights,
                                    const aotc_nest &nest, Epilogue &epilogue) {
  aotc_vf acc[KU][MR][NV];
  AOTC_UNROLL(128)
  for (int i = 0; i < KU * MR * NV; ++i) {
    const int m = i / NV % MR, v = i % NV;
    acc[i / (MR * NV)][m][v] = i < MR * NV ? epilogue.initial(m, v) : aotc_vf{};
  }
  aotc_contract_reduce<MR, NV, KU>(input, weights, nest, acc);
  AOTC_UNROLL(128)
  for (int i = MR * NV; i < KU * MR * NV; ++i) {
    acc[0][i / NV % MR][i % NV] += acc[i / (MR * NV)][i / NV % MR][i % NV];
  }
  aotc_contract_finish<MR, NV>(acc[0], epilogue);
}

#endif  // AOTC_CONTRACT_TILE_H_
