// What contract_tile_int8_kernels.cc computes for contract_tile_int8_test.cc.
#ifndef AOTC_TESTS_TEMPLATES_CONTRACT_TILE_INT8_CASES_H_
#define AOTC_TESTS_TEMPLATES_CONTRACT_TILE_INT8_CASES_H_

#include <stdint.h>

// sums[m, n] = a[m, k] * b[k, n] + bias[n];
// quantised[m, n] = saturate_u8(round(max(sums, 0) * scale[n]))
struct Int8Arguments {
  const void* a;           // [m, k] of u8 or s8, rows a_stride bytes apart
  const int8_t* packed_b;  // [ceil(n / 32), k4, 32, 4], zero beyond k
  const int32_t* bias;     // [ceil(n / 32) * 32]
  const float* scale;      // likewise
  int32_t* sums;
  uint8_t* quantised;
  int64_t m, k4, n, a_stride;
};

struct Int8Kernels {
  int lanes;
  void (*matmul_u8)(const Int8Arguments*);
  void (*matmul_s8)(const Int8Arguments*);   // the bias has the correction for 128 in it
  void (*matmul_amx)(const Int8Arguments*);  // null without AMX
};

#endif  // AOTC_TESTS_TEMPLATES_CONTRACT_TILE_INT8_CASES_H_
