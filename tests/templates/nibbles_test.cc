// Elements of less than a byte as outputs read and round them, against the compiler's own: every
// pattern at every place of a byte, all integers around a type, and what lies around the middle
// between any two floats.
#include "aotc/nibbles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "compiler/ir/constant.h"
#include "compiler/ir/small_float.h"

namespace {

using aotc::DType;

// The patterns of a byte, as constants of the compiler and as an output loads them.
template <class Load>
void ExpectSame(DType dtype, Load load) {
  const int64_t count = 8 / aotc::BitWidth(dtype);
  for (int byte = 0; byte < 256; ++byte) {
    const uint8_t bytes[3] = {0x5a, static_cast<uint8_t>(byte), 0xa5};
    for (int64_t index = count; index < 2 * count; ++index) {
      const double expected = aotc::LoadElement(dtype, bytes, index);
      const double actual = static_cast<double>(load(bytes, index));
      ASSERT_EQ(actual, expected) << aotc::DTypeName(dtype) << " " << byte << " at " << index;
      ASSERT_EQ(std::signbit(actual), std::signbit(expected));
    }
  }
}

TEST(Nibbles, EveryPatternIsItsValue) {
  ExpectSame(DType::kU4, [](const uint8_t* from, int64_t i) { return aotc_load_u4(from, i); });
  ExpectSame(DType::kI4, [](const uint8_t* from, int64_t i) { return aotc_load_i4(from, i); });
  ExpectSame(DType::kU2, [](const uint8_t* from, int64_t i) { return aotc_load_uint2(from, i); });
  ExpectSame(DType::kI2, [](const uint8_t* from, int64_t i) { return aotc_load_int2(from, i); });
  ExpectSame(DType::kF4E2M1,
             [](const uint8_t* from, int64_t i) { return aotc_load_f4e2m1(from, i); });
}

TEST(Nibbles, TheFirstElementIsInTheLowBits) {
  const uint8_t bytes[1] = {0xf2};
  EXPECT_EQ(aotc_load_u4(bytes, 0), 2);
  EXPECT_EQ(aotc_load_u4(bytes, 1), 15);
  EXPECT_EQ(aotc_load_i4(bytes, 1), -1);
  EXPECT_EQ(aotc_load_uint2(bytes, 0), 2);
  EXPECT_EQ(aotc_load_uint2(bytes, 1), 0);
  EXPECT_EQ(aotc_load_int2(bytes, 0), -2);
  EXPECT_EQ(aotc_load_int2(bytes, 3), -1);
  EXPECT_EQ(aotc_load_f4e2m1(bytes, 0), 1.0F);
  EXPECT_EQ(aotc_load_f4e2m1(bytes, 1), -6.0F);
}

// Casts of integers and of floats, in quarters, against stores of the compiler.
template <class FromInteger, class FromFloat>
void ExpectSameCasts(DType dtype, FromInteger from_integer, FromFloat from_float) {
  uint8_t byte = 0;
  for (int64_t value = -300; value <= 300; ++value) {
    aotc::StoreIntElement(dtype, &byte, 0, value);
    ASSERT_EQ(from_integer(value), aotc::LoadIntElement(dtype, &byte, 0))
        << aotc::DTypeName(dtype) << " of " << value;
  }
  const float infinity = std::numeric_limits<float>::infinity();
  for (int quarters = -1200; quarters <= 1200 + 4; ++quarters) {
    const float specials[4] = {infinity, -infinity, std::nanf(""), 1e30F};
    const float value =
        quarters > 1200 ? specials[quarters - 1201] : static_cast<float>(quarters) / 4;
    aotc::StoreElement(dtype, &byte, 0, static_cast<double>(value));
    ASSERT_EQ(from_float(value), aotc::LoadIntElement(dtype, &byte, 0))
        << aotc::DTypeName(dtype) << " of " << value;
  }
}

TEST(Nibbles, IntegersWrapAndFloatsSaturate) {
  ExpectSameCasts(
      DType::kU4, [](int64_t x) { return aotc_to_u4(x); }, [](float x) { return aotc_to_u4(x); });
  ExpectSameCasts(
      DType::kI4, [](int64_t x) { return aotc_to_i4(x); }, [](float x) { return aotc_to_i4(x); });
  ExpectSameCasts(
      DType::kU2, [](int64_t x) { return aotc_to_uint2(x); },
      [](float x) { return aotc_to_uint2(x); });
  ExpectSameCasts(
      DType::kI2, [](int64_t x) { return aotc_to_int2(x); },
      [](float x) { return aotc_to_int2(x); });
}

void ExpectRounded(float value) {
  const aotc::SmallFloat& format = *aotc::SmallFloatOf(DType::kF4E2M1);
  const uint16_t code = aotc::EncodeSmallFloat(format, static_cast<double>(value));
  ASSERT_EQ(aotc_bits_of_f4e2m1(aotc_to_f4e2m1(value)), code) << value;
  ASSERT_EQ(aotc_bits_of_f4e2m1(aotc_f4e2m1_of_bits(static_cast<uint8_t>(code))), code);
}

TEST(Nibbles, FloatsRoundToNearestTiesToEven) {
  for (int eighths = -100; eighths <= 100; ++eighths) {
    const float value = static_cast<float>(eighths) / 8;
    ExpectRounded(value);
    ExpectRounded(std::nextafterf(value, -INFINITY));
    ExpectRounded(std::nextafterf(value, INFINITY));
  }
  for (float value : {INFINITY, -INFINITY, NAN, -0.0F, 1e-45F, -1e-45F, 1e38F}) {
    ExpectRounded(value);
  }
  std::mt19937 generator(1);
  for (int i = 0; i < 100000; ++i) {
    ExpectRounded(aotc_f32_of_bits(static_cast<uint32_t>(generator())));
  }
}

}  // namespace
