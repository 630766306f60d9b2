// Depthwise convolution on integers: u8 inputs times s8 weights into i32, PW output pixels by NV
// vectors of channels in registers.
//
//   acc[p, v, lane] = initial[p, v, lane] +
//       sum over h, w of  input[p * PixelStep + h * input_h + w * input_w + v * AOTC_LANES + lane]
//                       * weights[h * weight_h + w / 4 * weight_w + (v * AOTC_LANES + lane) * 4 +
//                       w % 4]
//
// As depthwise_tile.h, whose window and taps it takes, but for the weights: four neighbouring taps
// of a row lie together, zeros behind the last. 3x3, stride 2, channels in blocks of 16:
//
//   const aotc_window<uint8_t> window = {x + (oh * 2 * width + ow * 2) * 16, 3, 3, width * 16, 16};
//   const aotc_taps<int8_t> taps = {w, 16 * 4, 16 * 4};                      // [3][1][16][4]
//   aotc_depthwise_tile_int8<7, 1, 3, 3, 2 * 16>(window, taps, epilogue);    // 7 pixels
//
// The inputs of four taps are the bytes of a lane, so that one dot product (aotc/dot.h) does a row
// of a small window. With known KW, no dilation along w and a stride of 1 or 2, each input is
// loaded once for all its taps. The epilogue is that of contract_tile_int8.h, with the pixel for
// its row. Results are exact, the same on every ISA.
#ifndef AOTC_DEPTHWISE_TILE_INT8_H_
#define AOTC_DEPTHWISE_TILE_INT8_H_

#include "aotc/dot.h"
#include "aotc/vector.h"
#include "aotc/vector_convert.h"
#include "contract_tile_int8.h"
#include "depthwise_tile.h"

// Makes room in the lowest byte of each lane for the input in front of those that are there.
AOTC_INLINE aotc_vi aotc_put_before(aotc_vi bytes, const uint8_t *input) {
  return (aotc_vi)((aotc_vu)bytes << 8) | aotc_load(input);
}

// Vector v of a row of KW neighbouring taps, Pixel elements apart, for all pixels.
template <int PW, int NV, int KW, int Stride, int Pixel>
AOTC_INLINE void aotc_depthwise_neighbours_int8(const uint8_t *input, const int8_t *row,
                                                int64_t weight_w, int v, aotc_vi (&acc)[PW][NV]) {
  const int groups = (KW + 3) / 4;
  aotc_dot_s8 weights[groups];
  AOTC_UNROLL(8)
  for (int g = 0; g < groups; ++g) {
    weights[g] = aotc_dot_prepare_s8(aotc_load_s8x4(row + g * weight_w + v * AOTC_LANES * 4));
  }
  aotc_vi bytes = {};  // the inputs at x to x + 3
  AOTC_UNROLL(64)
  for (int x = (PW - 1) * Stride + KW - 1; x >= 0; --x) {
    bytes = aotc_put_before(bytes, input + x * Pixel + v * AOTC_LANES);
    AOTC_UNROLL(8)
    for (int g = 0; g < groups; ++g) {
      const int at = x - g * 4;
      if (at >= 0 && at % Stride == 0 && at / Stride < PW) {
        acc[at / Stride][v] = aotc_dot(acc[at / Stride][v], aotc_dot_prepare_u8(bytes), weights[g]);
      }
    }
  }
}

// A row of taps that lie anywhere.
template <int PW, int NV, int PixelStep>
AOTC_INLINE void aotc_depthwise_apart_int8(const uint8_t *input, int64_t input_w, int64_t extent_w,
                                           const int8_t *row, int64_t weight_w,
                                           aotc_vi (&acc)[PW][NV]) {
  AOTC_NO_UNROLL
  for (int64_t w = 0; w < extent_w; w += 4) {
    const int64_t last = w + 3 < extent_w ? w + 3 : extent_w - 1;
    AOTC_UNROLL(32)
    for (int i = 0; i < PW * NV; ++i) {
      const int p = i / NV, v = i % NV;
      const int8_t *taps = row + w / 4 * weight_w + v * AOTC_LANES * 4;
      aotc_vi bytes = {};
      AOTC_NO_UNROLL
      for (int64_t tap = last; tap >= w; --tap) {
        bytes = aotc_put_before(bytes, input + p * PixelStep + tap * input_w + v * AOTC_LANES);
      }
      acc[p][v] = aotc_dot(acc[p][v], aotc_dot_prepare_u8(bytes),
                           aotc_dot_prepare_s8(aotc_load_s8x4(taps)));
    }
  }
}

// Row h of the window.
template <int PW, int NV, int KW, int PixelStep>
AOTC_INLINE void aotc_depthwise_row_int8(const aotc_window<uint8_t> &window,
                                         const aotc_taps<int8_t> &taps, int64_t h,
                                         aotc_vi (&acc)[PW][NV]) {
  const uint8_t *input = window.data + h * window.input_h;
  const int8_t *row = taps.data + h * taps.weight_h;
  const int known = KW > 0 ? KW : 1;
  const bool each = KW > 0 && window.input_w == PixelStep;
  const bool every_other = KW > 0 && window.input_w * 2 == PixelStep;
  if (!each && !every_other) {
    aotc_depthwise_apart_int8<PW, NV, PixelStep>(
        input, window.input_w, KW > 0 ? KW : window.extent_w, row, taps.weight_w, acc);
    return;
  }
  AOTC_UNROLL(8)
  for (int v = 0; v < NV; ++v) {
    if (each) {
      aotc_depthwise_neighbours_int8<PW, NV, known, 1, PixelStep>(input, row, taps.weight_w, v,
                                                                  acc);
    } else {
      aotc_depthwise_neighbours_int8<PW, NV, known, 2, PixelStep / 2>(input, row, taps.weight_w, v,
                                                                      acc);
    }
  }
}

template <int PW, int NV, int KH, int KW, int PixelStep, class Epilogue>
AOTC_INLINE void aotc_depthwise_tile_int8(const aotc_window<uint8_t> &window,
                                          const aotc_taps<int8_t> &taps, Epilogue &epilogue) {
  typename aotc_own_epilogue<Epilogue>::type own = epilogue;
  aotc_vi acc[PW][NV];
  AOTC_UNROLL(32)
  for (int i = 0; i < PW * NV; ++i) acc[i / NV][i % NV] = own.initial(i / NV, i % NV);
  if (KH == 3) {
    AOTC_UNROLL(3)
    for (int h = 0; h < 3; ++h) {
      aotc_depthwise_row_int8<PW, NV, KW, PixelStep>(window, taps, h, acc);
    }
  } else {
    const int64_t extent_h = KH > 0 ? KH : window.extent_h;
    AOTC_NO_UNROLL
    for (int64_t h = 0; h < extent_h; ++h) {
      aotc_depthwise_row_int8<PW, NV, KW, PixelStep>(window, taps, h, acc);
    }
  }
  AOTC_UNROLL(32)
  for (int i = 0; i < PW * NV; ++i) own(i / NV, i % NV, acc[i / NV][i % NV]);
}

#endif  // AOTC_DEPTHWISE_TILE_INT8_H_
