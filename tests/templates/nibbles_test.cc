// Elements of 4 bits as outputs read them, against the compiler's own: every pattern in both
// halves.
#include "aotc/nibbles.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compiler/ir/constant.h"

namespace {

using aotc::DType;

// The two patterns of a byte, as constants of the compiler and as an output loads them.
template <class Load>
void ExpectSame(DType dtype, Load load) {
  for (int byte = 0; byte < 256; ++byte) {
    const uint8_t bytes[3] = {0x5a, static_cast<uint8_t>(byte), 0xa5};
    for (int64_t index = 2; index < 4; ++index) {
      const double expected = aotc::LoadElement(dtype, bytes, index);
      const double actual = static_cast<double>(load(bytes, index));
      ASSERT_EQ(actual, expected) << aotc::DTypeName(dtype) << " " << byte << " half " << index;
      ASSERT_EQ(std::signbit(actual), std::signbit(expected));
    }
  }
}

TEST(Nibbles, EveryPatternIsItsValue) {
  ExpectSame(DType::kU4, [](const uint8_t* from, int64_t i) { return aotc_load_u4(from, i); });
  ExpectSame(DType::kI4, [](const uint8_t* from, int64_t i) { return aotc_load_i4(from, i); });
  ExpectSame(DType::kF4E2M1,
             [](const uint8_t* from, int64_t i) { return aotc_load_f4e2m1(from, i); });
}

TEST(Nibbles, TheFirstElementIsInTheLowHalf) {
  const uint8_t bytes[1] = {0xf2};
  EXPECT_EQ(aotc_load_u4(bytes, 0), 2);
  EXPECT_EQ(aotc_load_u4(bytes, 1), 15);
  EXPECT_EQ(aotc_load_i4(bytes, 1), -1);
  EXPECT_EQ(aotc_load_f4e2m1(bytes, 0), 1.0F);
  EXPECT_EQ(aotc_load_f4e2m1(bytes, 1), -6.0F);
}

}  // namespace
