// The depthwise tile against sums in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "aotc/half.h"
#include "tests/templates/depthwise_tile_cases.h"
#include "tests/templates/isa.h"

AOTC_TEST_TABLES(depthwise, DepthwiseKernels)

namespace {

struct Case {
  int64_t blocks, height, width, kh, kw, stride = 1, dilation = 1;
  bool half = false;
};

struct Operands {
  std::vector<float> x, taps, bias;
  std::vector<uint16_t> halves;

  explicit Operands(const Case& of) {
    std::mt19937 random(11);
    std::uniform_real_distribution<float> uniform(-2.0f, 2.0f);
    for (int64_t i = 0; i < of.blocks * of.height * of.width * 16; ++i) {
      halves.push_back(aotc_f16_from_f32(uniform(random)));
      x.push_back(aotc_f16_to_f32(halves.back()));
    }
    for (int64_t i = 0; i < of.blocks * of.kh * of.kw * 16; ++i) taps.push_back(uniform(random));
    for (int64_t i = 0; i < of.blocks * 16; ++i) bias.push_back(uniform(random));
  }
};

struct Point {
  int64_t block, oh, ow, c;
};

double Expected(const Case& of, const Operands& operands, const Point& at) {
  double sum = operands.bias[at.block * 16 + at.c];
  for (int64_t h = 0; h < of.kh; ++h) {
    for (int64_t w = 0; w < of.kw; ++w) {
      const int64_t y = at.oh * of.stride + h * of.dilation;
      const int64_t x = at.ow * of.stride + w * of.dilation;
      sum +=
          static_cast<double>(operands.x[((at.block * of.height + y) * of.width + x) * 16 + at.c]) *
          operands.taps[((at.block * of.kh + h) * of.kw + w) * 16 + at.c];
    }
  }
  return std::clamp(sum, 0.0, 6.0);
}

void Check(const Case& of) {
  const Operands operands(of);
  const int64_t out_height = (of.height - (of.kh - 1) * of.dilation - 1) / of.stride + 1;
  const int64_t out_width = (of.width - (of.kw - 1) * of.dilation - 1) / of.stride + 1;
  for (const auto& isa : depthwise_tables) {
    std::vector<float> y(of.blocks * out_height * out_width * 16, -1.0f);
    const void* x = of.half ? static_cast<const void*>(operands.halves.data()) : operands.x.data();
    const DepthwiseArguments arguments = {x,
                                          operands.taps.data(),
                                          operands.bias.data(),
                                          y.data(),
                                          of.blocks,
                                          of.height,
                                          of.width,
                                          of.kh,
                                          of.kw,
                                          of.stride,
                                          of.dilation,
                                          of.half};
    isa.kernels->convolve(&arguments);
    size_t i = 0;
    for (Point at = {}; i < y.size(); ++i) {
      at = {static_cast<int64_t>(i) / 16 / out_width / out_height,
            static_cast<int64_t>(i) / 16 / out_width % out_height,
            static_cast<int64_t>(i) / 16 % out_width, static_cast<int64_t>(i) % 16};
      ASSERT_NEAR(y[i], Expected(of, operands, at), 2e-5)
          << isa.name << " pixel " << at.oh << ", " << at.ow << " channel " << at.c;
    }
  }
}

TEST(DepthwiseTile, OddSizes) {
  for (int64_t width : {3, 4, 8, 9, 10, 15, 16, 17, 31}) {
    Check({2, 5, width, 3, 3, 1});
    Check({1, 5, width, 3, 3, 2});
  }
}

TEST(DepthwiseTile, OtherWindows) {
  Check({2, 9, 19, 5, 5, 1});
  Check({1, 9, 19, 5, 5, 2});
  Check({1, 9, 19, 1, 7, 1});
  Check({1, 9, 19, 4, 2, 2});
  Check({1, 4, 8, 1, 1, 1});
}

TEST(DepthwiseTile, Dilation) {
  Check({1, 9, 19, 3, 3, 1, 2});
  Check({1, 9, 19, 2, 3, 2, 3});
}

TEST(DepthwiseTile, HalfInput) {
  Check({2, 5, 17, 3, 3, 1, 1, true});
  Check({1, 7, 17, 2, 5, 1, 1, true});
}

}  // namespace
