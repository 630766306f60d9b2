// The integer contraction tile on AMX: u8 rows times s8 weights into i32, up to 16 rows by three
// vectors of 16 columns, 64 steps of k at a time.
//
//   aotc_amx_begin(14, 140);       // tiles of 14 rows, 140 groups of four in the innermost level
//   aotc_contract_tile_amx<14, 2>(rows, panel, nest, epilogue);      // as contract_tile_int8.h
//   aotc_amx_end();
//
// Operands, nest and epilogue are those of contract_tile_int8.h, but that the innermost level walks
// contiguous groups of four inputs (input_stride[3] is 4): they are read up to 16 at once, and what
// is left of extent[3] is a smaller step, for which `begin` is told extent[3]. Sums are exact, the
// same as by any other instruction. Setting up tiles takes hundreds of cycles: once for many.
#ifndef AOTC_CONTRACT_TILE_AMX_H_
#define AOTC_CONTRACT_TILE_AMX_H_

#include "aotc/vector.h"
#include "contract_tile_int8.h"

// Registers 0 to 2 are sums, 3 holds inputs, 4 and 5 weights; 6 and 7 inputs and weights of what is
// left.
AOTC_INLINE void aotc_amx_begin(int rows, int64_t groups) {
  const int left = (int)(groups % 16);
  struct {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
  } shapes;
  static_assert(sizeof shapes == 64, "as the processor reads it");
  memset(&shapes, 0, sizeof shapes);
  shapes.palette = 1;
  for (int i = 0; i < 6; ++i) {
    shapes.row_bytes[i] = 64;
    shapes.rows[i] = (uint8_t)(i < 4 ? rows : 16);
  }
  if (left > 0) {
    shapes.row_bytes[6] = (uint16_t)(left * 4);
    shapes.rows[6] = (uint8_t)rows;
    shapes.row_bytes[7] = 64;
    shapes.rows[7] = (uint8_t)left;
  }
  __asm__ volatile("ldtilecfg %0" : : "m"(shapes));
}

AOTC_INLINE void aotc_amx_end() { __asm__ volatile("tilerelease"); }

template <int64_t RowStride>
AOTC_INLINE int64_t aotc_row_stride(const aotc_rows_u8<RowStride> &) {
  return RowStride;
}
AOTC_INLINE int64_t aotc_row_stride(const aotc_rows_u8_strided &rows) { return rows.row_stride; }

// sums[v] += inputs * weights[v], with register `a` for the inputs and `b` for the weights.
#define AOTC_AMX_STEP(a, b, b_next)                                                             \
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm" a : : "r"(input), "r"(stride) : "memory");      \
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm" b : : "r"(row), "r"(weight_stride) : "memory"); \
  if (NV > 1) {                                                                                 \
    if (b_next[0] != b[0]) {                                                                    \
      __asm__ volatile("tileloadd 64(%0,%1,1), %%tmm" b_next                                    \
                       :                                                                        \
                       : "r"(row), "r"(weight_stride)                                           \
                       : "memory");                                                             \
    }                                                                                           \
  }                                                                                             \
  __asm__ volatile("tdpbusd %%tmm" b ", %%tmm" a ", %%tmm0" : :);                               \
  if (NV > 1) {                                                                                 \
    if (b_next[0] == b[0]) {                                                                    \
      __asm__ volatile("tileloadd 64(%0,%1,1), %%tmm" b_next                                    \
                       :                                                                        \
                       : "r"(row), "r"(weight_stride)                                           \
                       : "memory");                                                             \
    }                                                                                           \
    __asm__ volatile("tdpbusd %%tmm" b_next ", %%tmm" a ", %%tmm1" : :);                        \
  }                                                                                             \
  if (NV > 2) {                                                                                 \
    __asm__ volatile("tileloadd 128(%0,%1,1), %%tmm" b                                          \
                     :                                                                          \
                     : "r"(row), "r"(weight_stride)                                             \
                     : "memory");                                                               \
    __asm__ volatile("tdpbusd %%tmm" b ", %%tmm" a ", %%tmm2" : :);                             \
  }

template <int NV>
AOTC_INLINE void aotc_amx_whole_step(const uint8_t *input, int64_t stride, const int8_t *row,
                                     int64_t weight_stride) {
  AOTC_AMX_STEP("3", "4", "5")
}

template <int NV>
AOTC_INLINE void aotc_amx_last_step(const uint8_t *input, int64_t stride, const int8_t *row,
                                    int64_t weight_stride) {
  AOTC_AMX_STEP("6", "7", "7")
}
#undef AOTC_AMX_STEP

template <int NV, class Input>
AOTC_INLINE void aotc_amx_reduce(const Input &input, aotc_panel<int8_t> weights,
                                 const aotc_nest &nest) {
  const int64_t stride = aotc_row_stride(input), weight_stride = nest.weight_stride[3];
  AOTC_NO_UNROLL
  for (int64_t i0 = 0; i0 < nest.extent[0]; ++i0) {
    AOTC_NO_UNROLL
    for (int64_t i1 = 0; i1 < nest.extent[1]; ++i1) {
      AOTC_NO_UNROLL
      for (int64_t i2 = 0; i2 < nest.extent[2]; ++i2) {
        const uint8_t *from = input.data + aotc_nest_input(nest, i0, i1, i2);
        const int8_t *row = weights.data + aotc_nest_weight(nest, i0, i1, i2);
        int64_t groups = nest.extent[3];
        AOTC_NO_UNROLL
        for (; groups >= 16; groups -= 16) {
          aotc_amx_whole_step<NV>(from, stride, row, weight_stride);
          from += 64;
          row += 16 * weight_stride;
        }
        if (groups > 0) aotc_amx_last_step<NV>(from, stride, row, weight_stride);
      }
    }
  }
}

template <int MR, int NV, class Input, class Epilogue>
AOTC_KERNEL void aotc_contract_tile_amx(const Input &input, aotc_panel<int8_t> weights,
                                        const aotc_nest &nest, Epilogue &epilogue) {
  static_assert(MR <= 16 && NV <= 3, "tiles have 16 rows, sums three registers");
  __asm__ volatile("tilezero %%tmm0" : :);
  if (NV > 1) __asm__ volatile("tilezero %%tmm1" : :);
  if (NV > 2) __asm__ volatile("tilezero %%tmm2" : :);
  aotc_amx_reduce<NV>(input, weights, nest);
  int32_t sums[NV][16 * 16] __attribute__((aligned(64)));
  const int64_t row_bytes = 64;
  __asm__ volatile("tilestored %%tmm0, (%0,%1,1)" : : "r"(sums[0]), "r"(row_bytes) : "memory");
  if (NV > 1) {
    __asm__ volatile("tilestored %%tmm1, (%0,%1,1)"
                     :
                     : "r"(sums[NV > 1 ? 1 : 0]), "r"(row_bytes)
                     : "memory");
  }
  if (NV > 2) {
    __asm__ volatile("tilestored %%tmm2, (%0,%1,1)"
                     :
                     : "r"(sums[NV > 2 ? 2 : 0]), "r"(row_bytes)
                     : "memory");
  }
  typename aotc_own_epilogue<Epilogue>::type own = epilogue;
  AOTC_UNROLL(16)
  for (int m = 0; m < MR; ++m) {
    AOTC_UNROLL(3)
    for (int v = 0; v < NV; ++v) {
      own(m, v, aotc_add(own.initial(m, v), aotc_load(sums[v] + m * 16)));
    }
  }
}

#endif  // AOTC_CONTRACT_TILE_AMX_H_
