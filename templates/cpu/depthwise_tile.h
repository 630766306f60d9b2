// Depthwise convolution: PW output pixels by NV vectors of channels in registers, over the taps of
// a window. Channels lie innermost, in blocks; every tap multiplies lane by lane.
//
//   acc[p, v, lane] = initial[p, v, lane] +
//       sum over h, w of  input[p * PixelStep + h * input_h + w * input_w + v * AOTC_LANES +
//       lane]
//                       * weights[h * weight_h + w * weight_w + v * AOTC_LANES + lane]
//
// 3x3, stride 2, input [block, height, width, 16] with its halo, weights [block, 3, 3, 16]:
//
//   const aotc_window<float> window = {x + (oh * 2 * width + ow * 2) * 16, 3, 3,
//                                      width * 16, 16};                     // steps of the taps
//   const aotc_taps<float> taps = {w, 3 * 16, 16};
//   aotc_depthwise_tile<7, 1, 3, 3, 2 * 16>(window, taps, epilogue);        // 7 pixels
//
// KH and KW are the window's extents where they are known, for unrolled code, else 0 and the
// extents of the window hold: so too for the parts of a window at a border, with both pointers
// advanced. With known KW, no dilation along w and a stride of 1 or 2, each input is loaded once
// for all its taps; that input_w is PixelStep or half of it should be seen at compile time. The
// epilogue is that of epilogue.h, with the pixel for its row. Sizes: 7 pixels by 1 vector, 4x1 on
// SSE2. Pointers aligned to whole vectors are up to twice as fast.
#ifndef AOTC_DEPTHWISE_TILE_H_
#define AOTC_DEPTHWISE_TILE_H_

#include "aotc/vector.h"
#include "aotc/vector_convert.h"
#include "epilogue.h"

// The input of the tile's first pixel, at the first tap.
template <class Element>
struct aotc_window {
  const Element *data;
  int64_t extent_h, extent_w;
  int64_t input_h, input_w;  // elements from a tap to the next
};

template <class Element>
struct aotc_taps {
  const Element *data;
  int64_t weight_h, weight_w;
};

// One tap, for all pixels.
template <int PW, int NV, int PixelStep, class Element, class Weight>
AOTC_INLINE void aotc_depthwise_tap(const Element *input, const Weight *taps,
                                    aotc_vf (&acc)[PW][NV]) {
  aotc_vf weights[NV];
  AOTC_UNROLL(8)
  for (int v = 0; v < NV; ++v) weights[v] = aotc_load(taps + v * AOTC_LANES);
  AOTC_UNROLL(32)
  for (int i = 0; i < PW * NV; ++i) {
    const int p = i / NV, v = i % NV;
    acc[p][v] += aotc_load(input + p * PixelStep + v * AOTC_LANES) * weights[v];
  }
}

// Vector v of a row of KW neighbouring taps: each input goes to all pixels that it is a tap of.
template <int PW, int NV, int KW, int Stride, int Pixel, class Element>
AOTC_INLINE void aotc_depthwise_neighbours(const Element *input, const aotc_vf (&weights)[KW],
                                           int v, aotc_vf (&acc)[PW][NV]) {
  AOTC_UNROLL(64)
  for (int x = 0; x < (PW - 1) * Stride + KW; ++x) {
    aotc_vf value = aotc_load(input + x * Pixel);
    aotc_pin(value);  // one load: as a memory operand it would be read for each tap
    AOTC_UNROLL(16)
    for (int w = 0; w < KW; ++w) {
      const int at = x - w;
      if (at >= 0 && at % Stride == 0 && at / Stride < PW) {
        acc[at / Stride][v] += value * weights[w];
      }
    }
  }
}

// A row of KW taps, which are neighbours with PixelStep = Stride * input_w.
template <int PW, int NV, int KW, int Stride, int Pixel, class Element, class Weight>
AOTC_INLINE void aotc_depthwise_shared(const Element *input, const Weight *row, int64_t weight_w,
                                       aotc_vf (&acc)[PW][NV]) {
  AOTC_UNROLL(8)
  for (int v = 0; v < NV; ++v) {
    aotc_vf weights[KW];
    AOTC_UNROLL(16)
    for (int w = 0; w < KW; ++w) weights[w] = aotc_load(row + w * weight_w + v * AOTC_LANES);
    aotc_depthwise_neighbours<PW, NV, KW, Stride, Pixel>(input + v * AOTC_LANES, weights, v, acc);
  }
}

// Row h of the window.
template <int PW, int NV, int KW, int PixelStep, class Element, class Weight>
AOTC_INLINE void aotc_depthwise_row(const aotc_window<Element> &window,
                                    const aotc_taps<Weight> &taps, int64_t h,
                                    aotc_vf (&acc)[PW][NV]) {
  const Element *input = window.data + h * window.input_h;
  const Weight *row = taps.data + h * taps.weight_h;
  const int known = KW > 0 ? KW : 1;
  if (KW > 0 && window.input_w == PixelStep) {
    aotc_depthwise_shared<PW, NV, known, 1, PixelStep>(input, row, taps.weight_w, acc);
  } else if (KW > 0 && window.input_w * 2 == PixelStep) {
    aotc_depthwise_shared<PW, NV, known, 2, PixelStep / 2>(input, row, taps.weight_w, acc);
  } else {
    const int64_t extent_w = KW > 0 ? KW : window.extent_w;
    AOTC_NO_UNROLL
    for (int64_t w = 0; w < extent_w; ++w) {
      aotc_depthwise_tap<PW, NV, PixelStep>(input + w * window.input_w, row + w * taps.weight_w,
                                            acc);
    }
  }
}

// Inlined into the loop over pixels, which may then keep small windows' weights in registers.
template <int PW, int NV, int KH, int KW, int PixelStep, class Element, class Weight,
          class Epilogue>
AOTC_INLINE void aotc_depthwise_tile(const aotc_window<Element> &window,
                                     const aotc_taps<Weight> &taps, Epilogue &epilogue) {
  aotc_vf acc[PW][NV];
  AOTC_UNROLL(32)
  for (int i = 0; i < PW * NV; ++i) acc[i / NV][i % NV] = epilogue.initial(i / NV, i % NV);
  if (KH == 3) {
    AOTC_UNROLL(3)
    for (int h = 0; h < 3; ++h) {
      aotc_depthwise_row<PW, NV, KW, PixelStep>(window, taps, h, acc);
    }
  } else {
    const int64_t extent_h = KH > 0 ? KH : window.extent_h;
    AOTC_NO_UNROLL
    for (int64_t h = 0; h < extent_h; ++h) {
      aotc_depthwise_row<PW, NV, KW, PixelStep>(window, taps, h, acc);
    }
  }
  AOTC_UNROLL(32)
  for (int i = 0; i < PW * NV; ++i) epilogue(i / NV, i % NV, acc[i / NV][i % NV]);
}

#endif  // AOTC_DEPTHWISE_TILE_H_
