// What depthwise_tile_int8_kernels.cc computes for depthwise_tile_int8_test.cc.
#ifndef AOTC_TESTS_TEMPLATES_DEPTHWISE_TILE_INT8_CASES_H_
#define AOTC_TESTS_TEMPLATES_DEPTHWISE_TILE_INT8_CASES_H_

#include <stdint.h>

// y[block, oh, ow, 16] = sums of taps + bias[block, 16], unpadded.
struct DepthwiseInt8Arguments {
  const uint8_t* x;     // [blocks, height, width, 16]
  const int8_t* taps;   // [blocks, kh, kw / 4, 16, 4], rounded up, zeros behind the last
  const int32_t* bias;  // [blocks, 16]
  int32_t* y;
  int64_t blocks, height, width, kh, kw, stride, dilation;
};

struct DepthwiseInt8Kernels {
  int lanes;
  // Stride 1 or 2; 3x3, 5x5 and 1x2 by fixed extents.
  void (*convolve)(const DepthwiseInt8Arguments*);
};

#endif  // AOTC_TESTS_TEMPLATES_DEPTHWISE_TILE_INT8_CASES_H_
