// Depthwise convolutions of integers as emitted code writes them, built once per ISA.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tests/templates/depthwise_tile_int8_cases.h"
#include "tests/templates/isa.h"
// The target region opens after every C header.
#include "aotc/target_begin.h"
#include "templates/cpu/depthwise_tile_int8.h"

namespace {

enum { kPixels = AOTC_LANES == 4 ? 4 : 7 };

struct store_epilogue : aotc_epilogue_int8 {
  const int32_t* bias;
  int32_t* y;
  AOTC_MEMBER aotc_vi initial(int, int v) const { return aotc_load(bias + v * AOTC_LANES); }
  AOTC_MEMBER void operator()(int p, int v, aotc_vi acc) const {
    aotc_store(y + p * 16 + v * AOTC_LANES, acc);
  }
};

struct Place {
  int64_t block, oh, ow, channel;
};

template <int Pixels, int KH, int KW, int Stride>
static void run_tile(const DepthwiseInt8Arguments& of, const Place& at) {
  const int64_t row = of.width * 16, image = of.height * row;
  const int64_t out_width = (of.width - (of.kw - 1) * of.dilation - 1) / Stride + 1;
  const int64_t out_height = (of.height - (of.kh - 1) * of.dilation - 1) / Stride + 1;
  const uint8_t* x =
      of.x + at.block * image + at.oh * Stride * row + at.ow * Stride * 16 + at.channel;
  const aotc_window<uint8_t> window = {x, of.kh, of.kw, of.dilation * row, of.dilation * 16};
  const int64_t groups = (of.kw + 3) / 4;
  const aotc_taps<int8_t> taps = {of.taps + (at.block * of.kh * groups * 16 + at.channel) * 4,
                                  groups * 64, 64};
  store_epilogue epilogue;
  epilogue.bias = of.bias + at.block * 16 + at.channel;
  epilogue.y = of.y + ((at.block * out_height + at.oh) * out_width + at.ow) * 16 + at.channel;
  aotc_depthwise_tile_int8<Pixels, 1, KH, KW, Stride * 16>(window, taps, epilogue);
}

template <int KH, int KW, int Stride>
static void run_all(const DepthwiseInt8Arguments& of) {
  const int64_t out_width = (of.width - (of.kw - 1) * of.dilation - 1) / Stride + 1;
  const int64_t out_height = (of.height - (of.kh - 1) * of.dilation - 1) / Stride + 1;
  for (Place at = {}; at.block < of.blocks; ++at.block) {
    for (at.oh = 0; at.oh < out_height; ++at.oh) {
      for (at.channel = 0; at.channel < 16; at.channel += AOTC_LANES) {
        at.ow = 0;
        for (; at.ow + kPixels <= out_width; at.ow += kPixels) {
          run_tile<kPixels, KH, KW, Stride>(of, at);
        }
        for (; at.ow < out_width; ++at.ow) run_tile<1, KH, KW, Stride>(of, at);
      }
    }
  }
}

template <int Stride>
static void select_window(const DepthwiseInt8Arguments& of) {
  if (of.kh == 3 && of.kw == 3) return run_all<3, 3, Stride>(of);
  if (of.kh == 5 && of.kw == 5) return run_all<5, 5, Stride>(of);
  if (of.kh == 1 && of.kw == 2) return run_all<1, 2, Stride>(of);
  run_all<0, 0, Stride>(of);
}

static void convolve(const DepthwiseInt8Arguments* of) {
  if (of->stride == 1) return select_window<1>(*of);
  select_window<2>(*of);
}

const DepthwiseInt8Kernels kernels = {AOTC_LANES, convolve};

}  // namespace

extern "C" const DepthwiseInt8Kernels* AOTC_TEST_EXPORT(depthwise_int8)() { return &kernels; }

#include "aotc/target_end.h"
