// A run of neighbouring outputs of a depthwise convolution in one thread: taps and inputs are held
// in registers, each input is read once for all outputs that it serves.
//
//   acc[w] = sum over kh < KH, kw < KW of input(kh, w * StrideW + kw * DilationW) * filter(kh, kw)
//   epilogue(w, acc[w])    for w in w_begin .. w_begin + Outputs, below w_end
//
// Example, a 3x3 filter with stride 1, four outputs a thread:
//
//   aotc_depthwise_tile<3, 3, 1, 1, 4>(input, filter, epilogue, w_begin, width);
//
// input(kh, x): the element of the row that tap row kh meets, x counted from the left end of the
//   padding; 0 outside of the image. Called for what outputs below w_end need only. Image, channel
//   and output row belong to the accessor.
// filter(kh, kw): the tap of the channel. Threads are independent of one another.
#ifndef AOTC_CUDA_DEPTHWISE_TILE_CUH_
#define AOTC_CUDA_DEPTHWISE_TILE_CUH_

#include "aotc/cuda.h"

template <int KH, int KW, int StrideW, int DilationW, int Outputs, class Input, class Filter,
          class Epilogue, class Index>
AOTC_DEVICE void aotc_depthwise_tile(const Input &input, const Filter &filter,
                                     const Epilogue &epilogue, Index w_begin,
                                     decltype(Index{}) w_end) {
  enum { span = (Outputs - 1) * StrideW + (KW - 1) * DilationW + 1 };
  // What outputs at and behind w_end would read does not exist.
  const Index x_begin = w_begin * StrideW;
  const Index x_end = (w_end - 1) * StrideW + (KW - 1) * DilationW + 1;
  float acc[Outputs] = {};
  AOTC_UNROLL(8)
  for (int kh = 0; kh < KH; ++kh) {
    float row[span];
    AOTC_UNROLL(32)
    for (int x = 0; x < span; ++x) row[x] = x_begin + x < x_end ? input(kh, x_begin + x) : 0.0f;
    AOTC_UNROLL(8)
    for (int kw = 0; kw < KW; ++kw) {
      const float tap = filter(kh, kw);
      AOTC_UNROLL(16)
      for (int i = 0; i < Outputs; ++i) acc[i] += row[i * StrideW + kw * DilationW] * tap;
    }
  }
  AOTC_UNROLL(16)
  for (int i = 0; i < Outputs; ++i) {
    if (w_begin + i < w_end) epilogue(w_begin + i, acc[i]);
  }
}

#endif  // AOTC_CUDA_DEPTHWISE_TILE_CUH_
