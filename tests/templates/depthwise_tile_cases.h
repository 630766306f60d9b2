// What depthwise_tile_kernels.cc computes for depthwise_tile_test.cc.
#ifndef AOTC_TESTS_TEMPLATES_DEPTHWISE_TILE_CASES_H_
#define AOTC_TESTS_TEMPLATES_DEPTHWISE_TILE_CASES_H_

#include <stdint.h>

// y[block, oh, ow, 16] = min(max(taps + bias[block, 16], 0), 6), unpadded.
struct DepthwiseArguments {
  const void* x;      // [blocks, height, width, 16] of f32 or f16
  const float* taps;  // [blocks, kh, kw, 16]
  const float* bias;  // [blocks, 16]
  float* y;
  int64_t blocks, height, width, kh, kw, stride, dilation;
  bool half;
};

struct DepthwiseKernels {
  int lanes;
  void (*convolve)(const DepthwiseArguments*);  // stride 1 or 2; 3x3 and 5x5 by fixed extents
};

#endif  // AOTC_TESTS_TEMPLATES_DEPTHWISE_TILE_CASES_H_
