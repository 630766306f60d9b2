// The contraction tile on integers: u8 rows times s8 weights into i32, four steps of k at a time.
//
//   acc[m, v, lane] = initial + sum over k4, j < 4 of  input(m, k4, j) * weights[k4, v, lane, j]
//
// As contract_tile.h, whose nest it walks; here a step is a group of four inputs, contiguous bytes:
//
//   const aotc_rows_u8<512> rows = {a + m0 * 512};          // a is u8 [m, 512]
//   const aotc_panel<int8_t> panel = {packed + n0 * 512};   // [n/32][k/4][32][4]
//   aotc_contract_tile_int8<14, 2>(rows, panel, aotc_nest_dense4(128, 32), epilogue);
//
// k is a multiple of 4: weights beyond the logical k are 0 (the input may hold anything there, but
// must be readable). Strides of the nest count bytes. Results are exact, the same on every ISA.
// Epilogue: derives from aotc_epilogue_int8; requantisation is an ordinary expression in it:
//
//   AOTC_MEMBER void operator()(int m, int v, aotc_vi acc) const {
//     const aotc_vf real = aotc_to_f32(acc + aotc_load(bias + v * AOTC_LANES)) * scale;
//     aotc_store(y + m * 32 + v * AOTC_LANES, aotc_round(real));  // saturates
//   }
//
// Few accumulators want KU > 1, as in contract_tile.h: that many consecutive groups go to
// accumulators of their own.
//
// Sizes: 14x2 with VNNI (6x2 on AVX2), 8x2 on AVX-512 without it, 3x2 on AVX2 and SSE2.
#ifndef AOTC_CONTRACT_TILE_INT8_H_
#define AOTC_CONTRACT_TILE_INT8_H_

#include "aotc/dot.h"
#include "aotc/vector.h"
#include "contract_nest.h"
#include "epilogue.h"

// Input: any type with `int32_t load4(int m, int64_t offset) const`, four bytes of row m.
template <int64_t RowStride>
struct aotc_rows_u8 {
  const uint8_t *data;
  AOTC_MEMBER int32_t load4(int m, int64_t offset) const {
    int32_t four;
    memcpy(&four, data + m * RowStride + offset, sizeof four);
    return four;
  }
};

struct aotc_rows_u8_strided {
  const uint8_t *data;
  int64_t row_stride;
  AOTC_MEMBER int32_t load4(int m, int64_t offset) const {
    int32_t four;
    memcpy(&four, data + m * row_stride + offset, sizeof four);
    return four;
  }
};

// Signed rows, as u8 with 128 added: the sum is too large by 128 times the column's weights, which
// the packed bias subtracts.
struct aotc_rows_s8_strided {
  const int8_t *data;
  int64_t row_stride;
  AOTC_MEMBER int32_t load4(int m, int64_t offset) const {
    uint32_t four;
    memcpy(&four, data + m * row_stride + offset, sizeof four);
    return (int32_t)(four ^ 0x80808080u);
  }
};

struct aotc_epilogue_int8 {
  AOTC_MEMBER aotc_vi initial(int, int) const { return aotc_vi{}; }
};

// `groups` groups of four contiguous inputs; panels of `columns` columns.
AOTC_INLINE aotc_nest aotc_nest_dense4(int64_t groups, int64_t columns) {
  return aotc_nest{{1, 1, 1, groups}, {0, 0, 0, 4}, {0, 0, 0, columns * 4}};
}

template <int MR, int NV, class Input>
AOTC_INLINE void aotc_contract_step_int8(const Input &input, int64_t offset, const int8_t *row,
                                         aotc_vi (&acc)[MR][NV]) {
  aotc_dot_s8 weights[NV];
  AOTC_UNROLL(16)
  for (int v = 0; v < NV; ++v) {
    weights[v] = aotc_dot_prepare_s8(aotc_load_s8x4(row + v * AOTC_LANES * 4));
    aotc_prefetch_weights(row + v * AOTC_LANES * 4);
  }
  AOTC_UNROLL(32)
  for (int m = 0; m < MR; ++m) {
    const aotc_dot_u8 four = aotc_dot_prepare_u8(input.load4(m, offset));
    AOTC_UNROLL(16)
    for (int v = 0; v < NV; ++v) acc[m][v] = aotc_dot(acc[m][v], four, weights[v]);
  }
}

template <int MR, int NV, int KU, class Input>
AOTC_INLINE void aotc_contract_loop_int8(const Input &input, int64_t offset, const int8_t *row,
                                         const aotc_nest &nest, aotc_vi (&acc)[KU][MR][NV]) {
  const int64_t input_stride = nest.input_stride[3], weight_stride = nest.weight_stride[3];
  int64_t steps = nest.extent[3];
  if (KU > 1) {
    AOTC_NO_UNROLL
    for (; steps >= KU; steps -= KU) {
      AOTC_UNROLL(8)
      for (int u = 0; u < KU; ++u) {
        aotc_contract_step_int8<MR, NV>(input, offset, row, acc[u]);
        offset += input_stride;
        row += weight_stride;
      }
    }
  }
  AOTC_NO_UNROLL
  for (; steps > 0; --steps) {
    aotc_contract_step_int8<MR, NV>(input, offset, row, acc[0]);
    offset += input_stride;
    row += weight_stride;
  }
}

template <int MR, int NV, int KU, class Input>
AOTC_INLINE void aotc_contract_reduce_int8(const Input &input, aotc_panel<int8_t> weights,
                                           const aotc_nest &nest, aotc_vi (&acc)[KU][MR][NV]) {
  AOTC_NO_UNROLL
  for (int64_t i0 = 0; i0 < nest.extent[0]; ++i0) {
    AOTC_NO_UNROLL
    for (int64_t i1 = 0; i1 < nest.extent[1]; ++i1) {
      AOTC_NO_UNROLL
      for (int64_t i2 = 0; i2 < nest.extent[2]; ++i2) {
        const int64_t offset = aotc_nest_input(nest, i0, i1, i2);
        const int8_t *row = weights.data + aotc_nest_weight(nest, i0, i1, i2);
        aotc_contract_loop_int8<MR, NV, KU>(input, offset, row, nest, acc);
      }
    }
  }
}

template <int MR, int NV, int KU = 1, class Input, class Epilogue>
AOTC_KERNEL void aotc_contract_tile_int8(const Input &input, aotc_panel<int8_t> weights,
                                         const aotc_nest &nest, Epilogue &epilogue) {
  typename aotc_own_epilogue<Epilogue>::type own = epilogue;
  aotc_vi acc[KU][MR][NV];
  AOTC_UNROLL(128)
  for (int i = 0; i < KU * MR * NV; ++i) {
    const int m = i / NV % MR, v = i % NV;
    acc[i / (MR * NV)][m][v] = i < MR * NV ? own.initial(m, v) : aotc_vi{};
  }
  aotc_contract_reduce_int8<MR, NV, KU>(input, weights, nest, acc);
  AOTC_UNROLL(128)
  for (int i = MR * NV; i < KU * MR * NV; ++i) {
    acc[0][i / NV % MR][i % NV] += acc[i / (MR * NV)][i / NV % MR][i % NV];
  }
  AOTC_UNROLL(128)
  for (int i = 0; i < MR * NV; ++i) own(i / NV, i % NV, acc[0][i / NV][i % NV]);
}

#endif  // AOTC_CONTRACT_TILE_INT8_H_
