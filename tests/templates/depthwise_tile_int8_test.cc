// The integer depthwise tile against sums of integers.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/templates/depthwise_tile_int8_cases.h"
#include "tests/templates/isa.h"

AOTC_TEST_TABLES(depthwise_int8, DepthwiseInt8Kernels)

namespace {

struct Case {
  int64_t blocks, height, width, kh, kw, stride = 1, dilation = 1;
  bool is_extreme = false;  // operands at the ends of their range
};

struct Operands {
  std::vector<uint8_t> x;
  std::vector<int8_t> taps;
  std::vector<int32_t> bias;

  explicit Operands(const Case& of) {
    std::mt19937 random(11);
    auto byte = [&] { return of.is_extreme ? 255 : static_cast<int>(random() % 256); };
    for (int64_t i = 0; i < of.blocks * of.height * of.width * 16; ++i) {
      x.push_back(static_cast<uint8_t>(byte()));
    }
    for (int64_t i = 0; i < of.blocks * of.kh * ((of.kw + 3) / 4) * 16; ++i) {
      for (int64_t tap = 0; tap < 4; ++tap) {
        const bool beyond = i / 16 % ((of.kw + 3) / 4) * 4 + tap >= of.kw;
        taps.push_back(static_cast<int8_t>(beyond ? 0 : of.is_extreme ? -128 : byte() - 128));
      }
    }
    for (int64_t i = 0; i < of.blocks * 16; ++i) bias.push_back(byte() * 1000 - 100000);
  }
};

struct Point {
  int64_t block, oh, ow, c;
};

int64_t Expected(const Case& of, const Operands& operands, const Point& at) {
  int64_t sum = operands.bias[at.block * 16 + at.c];
  const int64_t groups = (of.kw + 3) / 4;
  for (int64_t h = 0; h < of.kh; ++h) {
    for (int64_t w = 0; w < of.kw; ++w) {
      const int64_t y = at.oh * of.stride + h * of.dilation;
      const int64_t x = at.ow * of.stride + w * of.dilation;
      const int64_t group = (at.block * of.kh + h) * groups + w / 4;
      sum += int64_t{operands.x[((at.block * of.height + y) * of.width + x) * 16 + at.c]} *
             operands.taps[(group * 16 + at.c) * 4 + w % 4];
    }
  }
  return sum;
}

void Check(const Case& of) {
  const Operands operands(of);
  const int64_t out_height = (of.height - (of.kh - 1) * of.dilation - 1) / of.stride + 1;
  const int64_t out_width = (of.width - (of.kw - 1) * of.dilation - 1) / of.stride + 1;
  for (const auto& isa : depthwise_int8_tables) {
    std::vector<int32_t> y(of.blocks * out_height * out_width * 16, -1);
    const DepthwiseInt8Arguments arguments = {operands.x.data(),
                                              operands.taps.data(),
                                              operands.bias.data(),
                                              y.data(),
                                              of.blocks,
                                              of.height,
                                              of.width,
                                              of.kh,
                                              of.kw,
                                              of.stride,
                                              of.dilation};
    isa.kernels->convolve(&arguments);
    for (size_t i = 0; i < y.size(); ++i) {
      const Point at = {static_cast<int64_t>(i) / 16 / out_width / out_height,
                        static_cast<int64_t>(i) / 16 / out_width % out_height,
                        static_cast<int64_t>(i) / 16 % out_width, static_cast<int64_t>(i) % 16};
      ASSERT_EQ(y[i], Expected(of, operands, at))
          << isa.name << " pixel " << at.oh << ", " << at.ow << " channel " << at.c;
    }
  }
}

TEST(DepthwiseTileInt8, OddSizes) {
  for (int64_t width : {3, 4, 8, 9, 10, 15, 16, 17, 31}) {
    Check({2, 5, width, 3, 3, 1});
    Check({1, 5, width, 3, 3, 2});
  }
}

TEST(DepthwiseTileInt8, OtherWindows) {
  Check({2, 9, 19, 5, 5, 1});
  Check({1, 9, 19, 5, 5, 2});
  Check({1, 9, 19, 1, 2, 1});
  Check({1, 9, 19, 1, 7, 1});
  Check({1, 9, 19, 4, 9, 2});
  Check({1, 4, 8, 1, 1, 1});
}

TEST(DepthwiseTileInt8, Dilation) {
  Check({1, 9, 19, 3, 3, 1, 2});
  Check({1, 9, 19, 2, 3, 2, 3});
}

TEST(DepthwiseTileInt8, ExtremeOperandsDoNotSaturate) {
  Check({1, 7, 17, 3, 3, 1, 1, true});
  Check({1, 7, 17, 5, 5, 2, 1, true});
}

}  // namespace
