// 8-bit floats as outputs carry them, against the compiler's own: every pattern, and what lies
// around the middle between any two.
#include "aotc/float8.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compiler/ir/small_float.h"

namespace {

struct Type {
  aotc::DType dtype;
  float (*widen)(uint8_t);
  uint8_t (*narrow)(float);
};

const Type kTypes[] = {
    {aotc::DType::kF8E4M3FN, [](uint8_t b) { return aotc_to_f32(aotc_f8e4m3fn{b}); },
     [](float x) { return aotc_to_f8e4m3fn(x).bits; }},
    {aotc::DType::kF8E4M3FNUZ, [](uint8_t b) { return aotc_to_f32(aotc_f8e4m3fnuz{b}); },
     [](float x) { return aotc_to_f8e4m3fnuz(x).bits; }},
    {aotc::DType::kF8E5M2, [](uint8_t b) { return aotc_to_f32(aotc_f8e5m2{b}); },
     [](float x) { return aotc_to_f8e5m2(x).bits; }},
    {aotc::DType::kF8E5M2FNUZ, [](uint8_t b) { return aotc_to_f32(aotc_f8e5m2fnuz{b}); },
     [](float x) { return aotc_to_f8e5m2fnuz(x).bits; }},
    {aotc::DType::kF8E8M0, [](uint8_t b) { return aotc_to_f32(aotc_f8e8m0{b}); },
     [](float x) { return aotc_to_f8e8m0(x).bits; }},
};

TEST(Float8, EveryPatternWidensToItsValue) {
  for (const Type& type : kTypes) {
    const aotc::SmallFloat& format = *aotc::SmallFloatOf(type.dtype);
    for (uint32_t code = 0; code < 256; ++code) {
      const double expected = aotc::DecodeSmallFloat(format, static_cast<uint16_t>(code));
      const float actual = type.widen(static_cast<uint8_t>(code));
      ASSERT_EQ(std::isnan(actual), std::isnan(expected)) << aotc::DTypeName(type.dtype) << code;
      if (std::isnan(expected)) continue;
      ASSERT_EQ(static_cast<double>(actual), expected) << aotc::DTypeName(type.dtype) << code;
      ASSERT_EQ(std::signbit(actual), std::signbit(expected));
    }
  }
}

void ExpectNarrowed(const Type& type, float value) {
  const aotc::SmallFloat& format = *aotc::SmallFloatOf(type.dtype);
  ASSERT_EQ(type.narrow(value), aotc::EncodeSmallFloat(format, static_cast<double>(value)))
      << aotc::DTypeName(type.dtype) << " of " << value;
}

TEST(Float8, NarrowingRoundsToNearestTiesToEven) {
  for (const Type& type : kTypes) {
    const aotc::SmallFloat& format = *aotc::SmallFloatOf(type.dtype);
    for (uint16_t code = 0; code < format.largest; ++code) {
      const double low = aotc::DecodeSmallFloat(format, code);
      const double high = aotc::DecodeSmallFloat(format, static_cast<uint16_t>(code + 1));
      const float middle = static_cast<float>((low + high) / 2);  // exact
      for (float value : {static_cast<float>(low), middle, std::nextafterf(middle, 0.0f),
                          std::nextafterf(middle, INFINITY)}) {
        ExpectNarrowed(type, value);
        ExpectNarrowed(type, -value);
      }
    }
  }
}

TEST(Float8, SpecialAndRandomValues) {
  std::mt19937 generator(1);
  for (const Type& type : kTypes) {
    for (float value : {INFINITY, NAN, 1e-45f, 1e-38f, 447.0f, 449.0f, 464.0f, 465.0f, 1e9f,
                        61439.0f, 61440.0f, 65536.0f}) {
      ExpectNarrowed(type, value);
      ExpectNarrowed(type, -value);
    }
    for (int i = 0; i < 100000; ++i) {
      ExpectNarrowed(type, aotc_f32_of_bits(static_cast<uint32_t>(generator())));
    }
  }
}

// A double that rounds to the middle between two as an f32 lies above it.
TEST(Float8, DoublesRoundOnce) {
  const double above = 1.0625 + 1e-12;
  EXPECT_EQ(aotc_to_f32(aotc_to_f8e4m3fn(above)), 1.125f);
  EXPECT_EQ(aotc_to_f32(aotc_to_f8e4m3fn(1.0625)), 1.0f);
  EXPECT_EQ(aotc_to_f32(aotc_to_f8e4m3fn(int64_t{3})), 3.0f);
}

}  // namespace
