// What contract_tile_kernels.cc computes for contract_tile_test.cc.
#ifndef AOTC_TESTS_TEMPLATES_CONTRACT_TILE_CASES_H_
#define AOTC_TESTS_TEMPLATES_CONTRACT_TILE_CASES_H_

#include <stdint.h>

enum ElementKind { kF32, kF16, kBf16 };

// y[m, n] = relu(a[m, k] * b[k, n] + bias[n] + residual[m, n]); row_max[m] = max over n of y.
struct MatmulArguments {
  ElementKind a_kind;
  const void* a;  // [m, k], rows a_stride elements apart
  ElementKind b_kind;
  const void* packed_b;   // [ceil(n / 32), k, 32]
  const float* bias;      // [ceil(n / 32) * 32]
  const float* residual;  // [m, n]
  float* y;               // [m, n]
  float* row_max;         // [m]
  int64_t m, k, n, a_stride;
  int64_t k_block;  // 0, or the reduction runs in blocks with partial sums kept in y
};

// y[oh, ow, 32] = sum of taps over input[block, height, width, 16], stride `stride`, no padding.
struct ConvArguments {
  const float* input;
  const float* packed;  // [blocks, kh, kw, 16, 32]
  float* y;
  int64_t blocks, height, width, kh, kw, stride;
};

struct ContractKernels {
  int lanes;
  void (*matmul)(const MatmulArguments*);         // the ISA's full tile, single rows at the end
  void (*matmul_rolled)(const MatmulArguments*);  // the same with a rolled epilogue
  void (*gemv)(const MatmulArguments*);           // rows one at a time, four steps in flight
  void (*conv)(const ConvArguments*);
};

#endif  // AOTC_TESTS_TEMPLATES_CONTRACT_TILE_CASES_H_
