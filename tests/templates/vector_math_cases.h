// What vector_math_kernels.cc computes for vector_math_test.cc.
#ifndef AOTC_TESTS_TEMPLATES_VECTOR_MATH_CASES_H_
#define AOTC_TESTS_TEMPLATES_VECTOR_MATH_CASES_H_

#include <stdint.h>

typedef void (*UnaryKernel)(const float* x, float* y, int64_t count);
typedef void (*BinaryKernel)(const float* a, const float* b, float* y, int64_t count);

// Every kernel goes over whole vectors, then loads and stores a tail of the lanes left.
struct VectorMathKernels {
  int lanes;
  UnaryKernel exp, log, tanh, sigmoid, erf, sin, sqrt, round, floor, ceil, trunc, sign;
  BinaryKernel max, min, max_known, pow;
  void (*widen_f16)(const uint16_t* x, float* y, int64_t count);
  void (*narrow_f16)(const float* x, uint16_t* y, int64_t count);
  void (*widen_bf16)(const uint16_t* x, float* y, int64_t count);
  void (*narrow_bf16)(const float* x, uint16_t* y, int64_t count);
  void (*copy_u8)(const uint8_t* x, uint8_t* y, int64_t count);
  void (*copy_i8)(const int8_t* x, int8_t* y, int64_t count);
  void (*to_u8)(const float* x, uint8_t* y, int64_t count);
  void (*to_i8)(const float* x, int8_t* y, int64_t count);
  void (*to_i32)(const float* x, int32_t* y, int64_t count);
  void (*round_to_u8)(const float* x, uint8_t* y, int64_t count, int32_t zero);
  // sum, maximum, minimum of the lanes of one vector
  void (*reduce)(const float* x, float* sum_max_min);
  void (*strided)(const float* x, float* y, int64_t stride);  // y[i * stride] = 2 * x[i * stride]
};

#endif  // AOTC_TESTS_TEMPLATES_VECTOR_MATH_CASES_H_
