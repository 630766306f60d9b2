// What contract_tile_bench_kernels.cc runs for contract_tile_bench.cc.
#ifndef AOTC_TESTS_BENCH_CONTRACT_TILE_BENCH_H_
#define AOTC_TESTS_BENCH_CONTRACT_TILE_BENCH_H_

#include <stdint.h>

static const int kBenchRows = 200, kBenchColumns = 512, kBenchDepth = 512;

struct BenchKernels {
  int lanes;
  // Multiply-adds on independent registers; returns how many floating-point operations it did.
  int64_t (*peak)(int64_t rounds, float* sink);
  // y = relu(a * b + bias + residual), b packed [n/32][k][32].
  void (*matmul)(const float* a, const float* packed, const float* bias, const float* residual,
                 float* y);
  // y = relu(a[0, :] * b + bias + residual[0, :]): one row.
  void (*gemv)(const float* a, const float* packed, const float* bias, const float* residual,
               float* y);
  // y = saturate_u8(round(relu(a * b) * scale)), b packed [n/32][k/4][32][4].
  void (*matmul_int8)(const uint8_t* a, const int8_t* packed, const float* scale, uint8_t* y);
};

#endif  // AOTC_TESTS_BENCH_CONTRACT_TILE_BENCH_H_
