// Scalar operators: integer corner cases, casts out of range, double to f16 in one rounding.
#include "aotc/scalar_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace {

TEST(ScalarMath, DivisionByZeroGivesZero) {
  EXPECT_EQ(aotc_div(int32_t{7}, 0), 0);
  EXPECT_EQ(aotc_floor_div(int64_t{-7}, 0), 0);
  EXPECT_EQ(aotc_mod(uint32_t{7}, uint32_t{0}), 0u);
  EXPECT_EQ(aotc_trunc_mod(int8_t{-7}, int8_t{0}), 0);
}

TEST(ScalarMath, LeastIntegerOverMinusOneWraps) {
  const int32_t least32 = std::numeric_limits<int32_t>::min();
  const int64_t least64 = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(aotc_div(least32, int32_t{-1}), least32);
  EXPECT_EQ(aotc_floor_div(least64, int64_t{-1}), least64);
  EXPECT_EQ(aotc_mod(least64, int64_t{-1}), 0);
  EXPECT_EQ((int8_t)aotc_div(int8_t{-128}, int8_t{-1}), -128);
  EXPECT_EQ(aotc_abs(least32), least32);
}

TEST(ScalarMath, QuotientsAndRemaindersRoundAsNamed) {
  for (int64_t a = -9; a <= 9; ++a) {
    for (int64_t b = -4; b <= 4; ++b) {
      if (b == 0) continue;
      const int64_t floored = static_cast<int64_t>(std::floor(static_cast<double>(a) / b));
      EXPECT_EQ(aotc_div(a, b), a / b);
      EXPECT_EQ(aotc_floor_div(a, b), floored);
      EXPECT_EQ(aotc_mod(a, b), a - floored * b);
      EXPECT_EQ(aotc_trunc_mod(a, b), a % b);
      EXPECT_EQ(aotc_floor_div(static_cast<double>(a), static_cast<double>(b)), floored);
      EXPECT_EQ(aotc_mod(static_cast<float>(a), static_cast<float>(b)), a - floored * b);
    }
  }
  EXPECT_EQ(aotc_floor_div(~uint64_t{0}, uint64_t{10}), ~uint64_t{0} / 10);
}

TEST(ScalarMath, MixedLiteralsFindTheirType) {
  EXPECT_EQ(aotc_max(int64_t{-5}, 3), 3);
  EXPECT_EQ(aotc_min(uint32_t{5}, 3), 3u);
  EXPECT_EQ(aotc_max(~uint64_t{0}, uint64_t{3}), ~uint64_t{0});
  EXPECT_TRUE(std::isnan(aotc_max(NAN, 1.0f)) && std::isnan(aotc_max(1.0f, NAN)));
  EXPECT_TRUE(std::isnan(aotc_min(1.0, std::nan(""))));
}

TEST(ScalarMath, IntegerPowersWrap) {
  EXPECT_EQ(aotc_pow(int64_t{3}, int64_t{13}), 1594323);
  EXPECT_EQ(aotc_pow(int32_t{2}, int32_t{32}), 0);
  EXPECT_EQ(aotc_pow(int32_t{-1}, int32_t{-3}), -1);
  EXPECT_EQ(aotc_pow(int32_t{2}, int32_t{-1}), 0);
  EXPECT_EQ(aotc_pow(2.0f, 0.5f), std::pow(2.0f, 0.5f));
}

TEST(ScalarMath, ShiftsBeyondTheWidth) {
  EXPECT_EQ((uint8_t)aotc_shift_left(uint8_t{0x81}, uint8_t{1}), 2);
  EXPECT_EQ(aotc_shift_left(uint64_t{1}, uint64_t{64}), 0u);
  EXPECT_EQ(aotc_shift_right(uint64_t{1} << 63, uint64_t{63}), 1u);
  EXPECT_EQ(aotc_shift_right(uint64_t{1} << 63, uint64_t{64}), 0u);
  EXPECT_EQ(aotc_shift_right(int64_t{-8}, int64_t{100}), -1);
  EXPECT_EQ(aotc_shift_right(int32_t{-8}, int32_t{1}), -4);
}

TEST(ScalarMath, CastsSaturateAndTruncate) {
  EXPECT_EQ(aotc_to_u8(255.9f), 255);
  EXPECT_EQ(aotc_to_u8(256.0f), 255);
  EXPECT_EQ(aotc_to_u8(-0.9f), 0);
  EXPECT_EQ(aotc_to_u8(-3.0), 0);
  EXPECT_EQ(aotc_to_i8(-128.9f), -128);
  EXPECT_EQ(aotc_to_i8(1e9f), 127);
  EXPECT_EQ(aotc_to_i32(-2.7f), -2);
  EXPECT_EQ(aotc_to_i32(3e9f), std::numeric_limits<int32_t>::max());
  EXPECT_EQ(aotc_to_i64(-1e30), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(aotc_to_u64(1e30), ~uint64_t{0});
  EXPECT_EQ(aotc_to_u64(1e19), uint64_t{10000000000000000000u});
  EXPECT_EQ(aotc_to_i64(std::nan("")), 0);
  EXPECT_EQ(aotc_to_i8(int32_t{300}), 44);
  EXPECT_EQ(aotc_to_i32(aotc_to_f16(-7.5f)), -7);
  EXPECT_EQ(aotc_to_f32(int64_t{7}), 7.0f);
  EXPECT_EQ(aotc_to_f64(aotc_to_bf16(0.5f)), 0.5);
}

TEST(ScalarMath, DoubleToHalfRoundsOnce) {
  // A little more than half way between two f16; as an f32 it would be exactly half way.
  const double above = 1.0 + 0x1p-11 + 0x1p-40, below = 1.0 + 0x3p-11 - 0x1p-40;
  EXPECT_EQ(aotc_to_f16(above).bits, 0x3c01);
  EXPECT_EQ(aotc_to_f16(-above).bits, 0xbc01);
  EXPECT_EQ(aotc_to_f16(below).bits, 0x3c01);
  EXPECT_EQ(aotc_to_bf16(1.0 + 0x1p-8 + 0x1p-40).bits, 0x3f81);
  EXPECT_EQ(aotc_to_f16(1e300).bits, 0x7c00);
  EXPECT_EQ(aotc_to_f16(-1e-300).bits, 0x8000);
  EXPECT_EQ(aotc_to_f16(65519.999999).bits, 0x7bff);
  EXPECT_EQ(aotc_to_f16(65520.0).bits, 0x7c00);
  EXPECT_TRUE(std::isnan(aotc_f16_to_f32(aotc_to_f16(std::nan("")).bits)));
}

TEST(ScalarMath, FloatHelpers) {
  EXPECT_EQ(aotc_round(2.5f), 2.0f);
  EXPECT_EQ(aotc_round(-3.5), -4.0);
  EXPECT_EQ(aotc_sign(-2.0f), -1.0f);
  EXPECT_EQ(aotc_sign(int64_t{-2}), -1);
  EXPECT_EQ(aotc_sign(uint8_t{2}), 1);
  EXPECT_TRUE(aotc_is_inf(-INFINITY) && !aotc_is_inf(3.4e38f) && !aotc_is_inf(NAN));
  EXPECT_TRUE(aotc_is_nan(NAN) && !aotc_is_nan(1.0));
  EXPECT_FLOAT_EQ(aotc_sigmoid(0.0f), 0.5f);
  EXPECT_EQ(aotc_max_known(0.0f, -1.0f), 0.0f);
  EXPECT_TRUE(std::isnan(aotc_max_known(0.0f, NAN)));
}

}  // namespace
