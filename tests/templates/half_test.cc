// Scalar f16 and bf16 conversions: every pattern one way, neighbours of every value the other way.
#include "aotc/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace {

// The value of a 16-bit float with `exponent_bits` from its definition.
double Decode(uint16_t bits, int exponent_bits) {
  const int mantissa_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits & 0x7fff) >> mantissa_bits;
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = bits & 0x8000 ? -1.0 : 1.0;
  if (exponent == 2 * bias + 1) return mantissa != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

struct Format {
  int exponent_bits;
  float (*widen)(uint16_t);
  uint16_t (*narrow)(float);
};

const Format kFormats[] = {{5, [](uint16_t h) { return aotc_f16_to_f32(h); },
                            [](float x) { return aotc_f16_from_f32(x); }},
                           {8, [](uint16_t h) { return aotc_bf16_to_f32(h); },
                            [](float x) { return aotc_bf16_from_f32(x); }}};

TEST(Half, EveryPatternWidensToItsValueAndBack) {
  for (const Format& format : kFormats) {
    for (uint32_t bits = 0; bits < 65536; ++bits) {
      const uint16_t half = static_cast<uint16_t>(bits);
      const double expected = Decode(half, format.exponent_bits);
      const float widened = format.widen(half);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(widened)) << bits;
        const uint16_t quiet = static_cast<uint16_t>(1u << (14 - format.exponent_bits));
        ASSERT_EQ(format.narrow(widened), half | quiet);
        continue;
      }
      ASSERT_EQ(static_cast<double>(widened), expected) << bits;
      ASSERT_EQ(std::signbit(widened), (half & 0x8000) != 0);
      ASSERT_EQ(format.narrow(widened), half);
    }
  }
}

// Nearest with ties to even, by the midpoints between neighbouring patterns.
TEST(Half, NarrowingRoundsToNearestTiesToEven) {
  for (const Format& format : kFormats) {
    const uint32_t infinity = ((1u << format.exponent_bits) - 1) << (15 - format.exponent_bits);
    for (uint32_t bits = 0; bits < infinity; ++bits) {
      const double low = Decode(static_cast<uint16_t>(bits), format.exponent_bits);
      // The value that follows the largest finite one is where rounding to infinity begins.
      const double high = bits + 1 < infinity
                              ? Decode(static_cast<uint16_t>(bits + 1), format.exponent_bits)
                              : std::ldexp(1.0, 1 << (format.exponent_bits - 1));
      const float middle = static_cast<float>((low + high) / 2);
      const uint32_t even = bits & 1 ? bits + 1 : bits;
      for (uint32_t sign : {0u, 0x8000u}) {
        const float signed_middle = sign ? -middle : middle;
        const float above = std::nextafter(signed_middle, sign ? -INFINITY : INFINITY);
        ASSERT_EQ(format.narrow(signed_middle), even | sign) << bits;
        ASSERT_EQ(format.narrow(std::nextafter(signed_middle, 0.0f)), bits | sign) << bits;
        ASSERT_EQ(format.narrow(above), (bits + 1) | sign) << bits;
      }
    }
  }
}

TEST(Half, ExtremesKeepTheirSignAndClass) {
  EXPECT_EQ(aotc_f16_from_f32(1e30f), 0x7c00);
  EXPECT_EQ(aotc_f16_from_f32(-INFINITY), 0xfc00);
  EXPECT_EQ(aotc_f16_from_f32(-1e-30f), 0x8000);
  EXPECT_EQ(aotc_f16_from_f32(0x1p-149f), 0);
  EXPECT_EQ(aotc_bf16_from_f32(-0.0f), 0x8000);
  EXPECT_EQ(aotc_bf16_from_f32(3.4e38f), 0x7f80);
}

}  // namespace
