// Depthwise convolutions as emitted code writes them, built once per ISA.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tests/templates/depthwise_tile_cases.h"
#include "tests/templates/isa.h"
// The target region opens after every C header.
#include "aotc/target_begin.h"
#include "templates/cpu/depthwise_tile.h"

namespace {

enum { kPixels = AOTC_LANES == 4 ? 4 : 7 };

struct clip_epilogue : aotc_epilogue {
  const float* bias;
  float* y;
  AOTC_MEMBER aotc_vf initial(int, int v) const { return aotc_load(bias + v * AOTC_LANES); }
  AOTC_MEMBER void operator()(int p, int v, aotc_vf acc) const {
    const aotc_vf low = aotc_max_known(aotc_vf{}, acc);
    aotc_store(y + p * 16 + v * AOTC_LANES, aotc_min_known(aotc_broadcast(6.0f), low));
  }
};

struct Place {
  int64_t block, oh, ow, channel;
};

template <int Pixels, int K, int Stride, class Element>
static void run_tile(const DepthwiseArguments& of, const Place& at) {
  const int64_t row = of.width * 16, image = of.height * row;
  const int64_t out_width = (of.width - (of.kw - 1) * of.dilation - 1) / Stride + 1;
  const int64_t out_height = (of.height - (of.kh - 1) * of.dilation - 1) / Stride + 1;
  const Element* x = (const Element*)of.x + at.block * image + at.oh * Stride * row +
                     at.ow * Stride * 16 + at.channel;
  const aotc_window<Element> window = {x, of.kh, of.kw, of.dilation * row, of.dilation * 16};
  const aotc_taps<float> taps = {of.taps + at.block * of.kh * of.kw * 16 + at.channel, of.kw * 16,
                                 16};
  clip_epilogue epilogue;
  epilogue.bias = of.bias + at.block * 16 + at.channel;
  epilogue.y = of.y + ((at.block * out_height + at.oh) * out_width + at.ow) * 16 + at.channel;
  aotc_depthwise_tile<Pixels, 1, K, K, Stride * 16>(window, taps, epilogue);
}

template <int K, int Stride, class Element>
static void run_all(const DepthwiseArguments& of) {
  const int64_t out_width = (of.width - (of.kw - 1) * of.dilation - 1) / Stride + 1;
  const int64_t out_height = (of.height - (of.kh - 1) * of.dilation - 1) / Stride + 1;
  for (Place at = {}; at.block < of.blocks; ++at.block) {
    for (at.oh = 0; at.oh < out_height; ++at.oh) {
      for (at.channel = 0; at.channel < 16; at.channel += AOTC_LANES) {
        at.ow = 0;
        for (; at.ow + kPixels <= out_width; at.ow += kPixels) {
          run_tile<kPixels, K, Stride, Element>(of, at);
        }
        for (; at.ow < out_width; ++at.ow) run_tile<1, K, Stride, Element>(of, at);
      }
    }
  }
}

template <int Stride, class Element>
static void select_window(const DepthwiseArguments& of) {
  if (of.kh == 3 && of.kw == 3) return run_all<3, Stride, Element>(of);
  if (of.kh == 5 && of.kw == 5) return run_all<5, Stride, Element>(of);
  run_all<0, Stride, Element>(of);
}

static void convolve(const DepthwiseArguments* of) {
  if (of->half) return select_window<1, aotc_f16>(*of);
  if (of->stride == 1) return select_window<1, float>(*of);
  select_window<2, float>(*of);
}

const DepthwiseKernels kernels = {AOTC_LANES, convolve};

}  // namespace

extern "C" const DepthwiseKernels* AOTC_TEST_EXPORT(depthwise)() { return &kernels; }

#include "aotc/target_end.h"
