#include "compiler/ir/constant.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "compiler/ir/attributes.h"
#include "compiler/ir/small_float.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

constexpr DType kSmallFloats[] = {DType::kF16,        DType::kBF16,   DType::kF8E4M3FN,
                                  DType::kF8E4M3FNUZ, DType::kF8E5M2, DType::kF8E5M2FNUZ,
                                  DType::kF4E2M1};

// The value of a positive code by its definition.
double Definition(const SmallFloat& format, int code) {
  int exponent = code >> format.mantissa_bits;
  int mantissa = code & ((1 << format.mantissa_bits) - 1);
  if (exponent == 0) return std::ldexp(mantissa, 1 - format.bias - format.mantissa_bits);
  return std::ldexp(mantissa + (1 << format.mantissa_bits),
                    exponent - format.bias - format.mantissa_bits);
}

TEST(SmallFloat, DecodesEveryPositiveCodeByItsDefinition) {
  for (DType dtype : kSmallFloats) {
    const SmallFloat& format = *SmallFloatOf(dtype);
    for (int code = 0; code <= format.largest; ++code) {
      double value = Definition(format, code);
      ASSERT_EQ(DecodeSmallFloat(format, static_cast<uint16_t>(code)), value)
          << DTypeName(dtype) << code;
      if (code == 0) continue;
      int negative = code | 1 << (format.bits - 1);
      ASSERT_EQ(DecodeSmallFloat(format, static_cast<uint16_t>(negative)), -value);
    }
  }
}

TEST(SmallFloat, EncodesEveryCodeAndRoundsMidpointsToEven) {
  for (DType dtype : kSmallFloats) {
    const SmallFloat& format = *SmallFloatOf(dtype);
    int sign = 1 << (format.bits - 1);
    for (int code = 0; code < format.largest; ++code) {
      double low = Definition(format, code), high = Definition(format, code + 1),
             middle = (low + high) / 2;
      int even = code % 2 == 0 ? code : code + 1;
      ASSERT_EQ(EncodeSmallFloat(format, low), code) << DTypeName(dtype);
      ASSERT_EQ(EncodeSmallFloat(format, middle), even) << DTypeName(dtype) << " " << code;
      ASSERT_EQ(EncodeSmallFloat(format, std::nextafter(middle, low)), code);
      ASSERT_EQ(EncodeSmallFloat(format, std::nextafter(middle, high)), code + 1);
      bool signed_zero = even == 0 && !format.has_negative_zero;
      ASSERT_EQ(EncodeSmallFloat(format, -middle), signed_zero ? 0 : even | sign);
    }
  }
}

TEST(SmallFloat, Specials) {
  double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(RoundToDType(DType::kF16, 65504), 65504);
  EXPECT_EQ(RoundToDType(DType::kF16, 65519.99), 65504);
  EXPECT_EQ(RoundToDType(DType::kF16, 65520), infinity);
  EXPECT_EQ(RoundToDType(DType::kBF16, -1e39), -infinity);
  EXPECT_EQ(RoundToDType(DType::kF8E4M3FN, 448), 448);
  EXPECT_TRUE(std::isnan(RoundToDType(DType::kF8E4M3FN, -1e9)));
  EXPECT_TRUE(std::isnan(RoundToDType(DType::kF8E4M3FNUZ, infinity)));
  EXPECT_EQ(RoundToDType(DType::kF8E5M2, -infinity), -infinity);
  EXPECT_EQ(RoundToDType(DType::kF8E5M2, 61439), 57344);
  EXPECT_EQ(RoundToDType(DType::kF8E5M2, 61440), infinity);
  EXPECT_TRUE(std::isnan(RoundToDType(DType::kF8E5M2FNUZ, 1e9)));
  EXPECT_EQ(RoundToDType(DType::kF4E2M1, 1e9), 6);
  EXPECT_EQ(RoundToDType(DType::kF4E2M1, 5.0), 4);
  for (DType dtype :
       {DType::kF16, DType::kBF16, DType::kF8E4M3FN, DType::kF8E4M3FNUZ, DType::kF8E5M2}) {
    EXPECT_TRUE(std::isnan(RoundToDType(dtype, std::nan("")))) << DTypeName(dtype);
  }
  EXPECT_EQ(DecodeSmallFloat(*SmallFloatOf(DType::kF8E5M2), 0xfc), -infinity);
  EXPECT_TRUE(std::isnan(DecodeSmallFloat(*SmallFloatOf(DType::kF16), 0x7c01)));
  EXPECT_EQ(EncodeSmallFloat(*SmallFloatOf(DType::kF16), -0.0), 0x8000);
  EXPECT_EQ(EncodeSmallFloat(*SmallFloatOf(DType::kF16), 5e-324), 0);
}

// By default ONNX takes the magnitude, rounds up and limits.
TEST(SmallFloat, PowersOfTwoRoundUp) {
  const SmallFloat& format = *SmallFloatOf(DType::kF8E8M0);
  for (int code = 0; code <= format.largest; ++code) {
    const double power = std::ldexp(1.0, code - 127);
    ASSERT_EQ(DecodeSmallFloat(format, static_cast<uint16_t>(code)), power);
    ASSERT_EQ(EncodeSmallFloat(format, power), code);
    ASSERT_EQ(EncodeSmallFloat(format, -power), code);
    const int above = std::min(code + 1, int{format.largest});
    ASSERT_EQ(EncodeSmallFloat(format, std::nextafter(power, 1e300)), above) << code;
    ASSERT_EQ(EncodeSmallFloat(format, power * 1.5), above) << code;
    ASSERT_EQ(EncodeSmallFloat(format, std::nextafter(power, 0)), code);
  }
  EXPECT_EQ(EncodeSmallFloat(format, 0), 0);
  EXPECT_EQ(EncodeSmallFloat(format, std::numeric_limits<double>::infinity()), 254);
  EXPECT_EQ(EncodeSmallFloat(format, std::nan("")), 255);
  EXPECT_TRUE(std::isnan(DecodeSmallFloat(format, 255)));
}

TEST(Element, BitsOfFloatsAreTheirCodes) {
  for (DType dtype : kSmallFloats) {
    const SmallFloat& format = *SmallFloatOf(dtype);
    for (int64_t code = 0; code < int64_t{1} << format.bits; ++code) {
      const double value = FloatOfBits(dtype, code);
      if (std::isnan(value)) continue;
      ASSERT_EQ(BitsOfFloat(dtype, value), code) << DTypeName(dtype);
    }
  }
  EXPECT_EQ(BitsOfFloat(DType::kF32, -2.0), 0xc0000000);
  EXPECT_EQ(FloatOfBits(DType::kF32, 0x40490fdb), 3.14159274101257324);
  EXPECT_EQ(BitsOfFloat(DType::kF64, -0.0), INT64_MIN);
}

TEST(Element, IntegersTruncateAndSaturate) {
  uint8_t bytes[8] = {};
  StoreElement(DType::kI8, bytes, 0, -1.9);
  EXPECT_EQ(LoadIntElement(DType::kI8, bytes, 0), -1);
  StoreElement(DType::kU8, bytes, 0, 300);
  EXPECT_EQ(LoadIntElement(DType::kU8, bytes, 0), 255);
  StoreElement(DType::kI64, bytes, 0, 1e30);
  EXPECT_EQ(LoadIntElement(DType::kI64, bytes, 0), INT64_MAX);
  StoreElement(DType::kI64, bytes, 0, -9223372036854775808.0);
  EXPECT_EQ(LoadIntElement(DType::kI64, bytes, 0), INT64_MIN);
  StoreElement(DType::kI32, bytes, 0, std::nan(""));
  EXPECT_EQ(LoadIntElement(DType::kI32, bytes, 0), 0);
  StoreIntElement(DType::kU64, bytes, 0, -1);
  EXPECT_EQ(LoadElement(DType::kU64, bytes, 0), 18446744073709551615.0);
}

TEST(Element, NibblesLieTwoAByteLowHalfFirst) {
  Constant packed = Constant::Dense(DType::kI4, {3}, {0xf7, 0x08});
  EXPECT_EQ(packed.AsInts(), (std::vector<int64_t>{7, -1, -8}));
  uint8_t bytes[2] = {0xff, 0xff};
  StoreElement(DType::kU4, bytes, 1, 99);
  StoreIntElement(DType::kU4, bytes, 0, 2);
  EXPECT_EQ(bytes[0], 0xf2);
  EXPECT_EQ(bytes[1], 0xff);
}

TEST(Element, PairsOfBitsLieFourAByteLowFirst) {
  Constant packed = Constant::Dense(DType::kI2, {5}, {0xe4, 0x02});
  EXPECT_EQ(packed.AsInts(), (std::vector<int64_t>{0, 1, -2, -1, -2}));
  uint8_t bytes[2] = {0xff, 0xff};
  StoreElement(DType::kU2, bytes, 1, 99);
  StoreIntElement(DType::kU2, bytes, 0, 6);
  StoreElement(DType::kU2, bytes, 3, -1);
  EXPECT_EQ(bytes[0], 0x3e);
  EXPECT_EQ(bytes[1], 0xff);
  StoreElement(DType::kI2, bytes, 4, std::nan(""));
  EXPECT_EQ(bytes[1], 0xfc);
}

TEST(Constant, SplatStaysOneElementAndEqualsItsDenseForm) {
  for (DType dtype :
       {DType::kF32, DType::kI64, DType::kU4, DType::kI2, DType::kBF16, DType::kBool}) {
    Constant splat = Constant::Splat(dtype, {3, 5}, 1);
    EXPECT_TRUE(splat.is_splat());
    EXPECT_EQ(static_cast<int64_t>(splat.bytes().size()), StorageBytes(dtype, 1));
    EXPECT_EQ(splat.FloatAt(14), 1);
    Constant dense = splat.Expanded();
    EXPECT_FALSE(dense.is_splat());
    EXPECT_TRUE(splat.SameValue(dense));
    EXPECT_TRUE(dense.SameValue(splat));
    EXPECT_EQ(splat.ContentHash(), dense.ContentHash());
    EXPECT_FALSE(splat.SameValue(Constant::Splat(dtype, {3, 5}, 0)));
    EXPECT_FALSE(splat.SameValue(splat.Reshaped({15})));
  }
}

TEST(Constant, EmptyAndScalarAreOrdinary) {
  Constant empty = Constant::Dense(DType::kF32, {0, 4}, {});
  EXPECT_EQ(empty.element_count(), 0);
  EXPECT_TRUE(empty.SameValue(Constant::Splat(DType::kF32, {0, 4}, 3)));
  EXPECT_EQ(empty.ContentHash(), Constant::Splat(DType::kF32, {0, 4}, 3).ContentHash());
  EXPECT_EQ(Constant::SplatInt(DType::kI64, {}, INT64_MAX).AsInts(),
            std::vector<int64_t>{INT64_MAX});
}

TEST(Constant, RandomIsSeededAndSpread) {
  Constant a = Constant::Random(DType::kF32, {1000}, 1);
  EXPECT_TRUE(a.SameValue(Constant::Random(DType::kF32, {1000}, 1)));
  EXPECT_FALSE(a.SameValue(Constant::Random(DType::kF32, {1000}, 2)));
  double sum = 0, largest = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    sum += a.FloatAt(i);
    largest = std::max(largest, std::abs(a.FloatAt(i)));
  }
  EXPECT_LT(std::abs(sum / 1000), 0.1);
  EXPECT_GT(largest, 0.95);
  EXPECT_LE(largest, 1);
  EXPECT_EQ(Constant::Random(DType::kC64, {4}, 1).bytes().size(), 32u);
}

// The hash names constants in text forms: it must not change between versions by accident.
TEST(Constant, HashIsStable) {
  EXPECT_EQ(Constant::Ints({1, 2, 3}).ContentHash(), Constant::Ints({1, 2, 3}).ContentHash());
  EXPECT_NE(Constant::Ints({1, 2, 3}).ContentHash(), Constant::Ints({1, 2, 4}).ContentHash());
  EXPECT_EQ(Constant::Strings({2}, {"a", "b"}).ContentHash(),
            Constant::Strings({2}, {"a", "b"}).ContentHash());
  EXPECT_NE(Constant::Strings({2}, {"ab", ""}).ContentHash(),
            Constant::Strings({2}, {"a", "b"}).ContentHash());
}

TEST(Attributes, GivesValueOrFallback) {
  Attributes attributes;
  attributes.Set("axis", int64_t{-1});
  attributes.Set("pads", std::vector<int64_t>{1, 2});
  attributes.Set("mode", std::string("linear"));
  EXPECT_EQ(attributes.Int("axis", 0), -1);
  EXPECT_EQ(attributes.Int("mode", 7), 7);  // present with another type
  EXPECT_EQ(attributes.String("mode"), "linear");
  EXPECT_EQ(attributes.Ints("pads"), (std::vector<int64_t>{1, 2}));
  EXPECT_TRUE(attributes.Floats("scales").empty());
  attributes.Erase("axis");
  EXPECT_FALSE(attributes.Has("axis"));
}

TEST(Attributes, EqualityIsBitwise) {
  Attributes a, b;
  a.Set("alpha", std::nanf(""));
  b.Set("alpha", std::nanf(""));
  EXPECT_TRUE(SameAttributes(a, b));
  a.Set("value", Constant::Splat(DType::kF32, {2}, 1));
  EXPECT_FALSE(SameAttributes(a, b));
  b.Set("value", Constant::Splat(DType::kF32, {2}, 1).Expanded());
  EXPECT_TRUE(SameAttributes(a, b));
  b.Set("alpha", 0.0f);
  a.Set("alpha", -0.0f);
  EXPECT_FALSE(SameAttributes(a, b));
}

}  // namespace
}  // namespace aotc
