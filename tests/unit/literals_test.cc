#include "compiler/support/literals.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "compiler/support/scanner.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

TEST(Literals, FloatsAreShortAndHaveAPoint) {
  EXPECT_EQ(FloatText(0.1f), "0.1");
  EXPECT_EQ(FloatText(1), "1.0");
  EXPECT_EQ(FloatText(-0.0f), "-0.0");
  EXPECT_EQ(FloatText(1e30f), "1e+30");
  EXPECT_EQ(DoubleText(0.1), "0.1");
  EXPECT_EQ(FloatLiteral(2), "2.0f");
  EXPECT_EQ(FloatLiteral(-1e-45f), "-1e-45f");
  EXPECT_EQ(DoubleLiteral(1e300), "1e+300");
}

TEST(Literals, WhatIsNotFiniteHasAName) {
  EXPECT_EQ(FloatText(-INFINITY), "-inf");
  EXPECT_EQ(DoubleText(NAN), "nan");
  EXPECT_EQ(FloatLiteral(INFINITY), "INFINITY");
  EXPECT_EQ(FloatLiteral(NAN), "NAN");
  EXPECT_EQ(DoubleLiteral(-INFINITY), "-(double)INFINITY");
}

TEST(Literals, EveryFiniteFloatReadsBackAsTheSameBits) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (!std::isfinite(value)) continue;
    const double read = *Scanner(FloatText(value)).ExpectFloat();
    EXPECT_EQ(std::bit_cast<uint32_t>(static_cast<float>(read)), std::bit_cast<uint32_t>(value));
    const double wide = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 900));
    EXPECT_EQ(*Scanner(DoubleText(wide)).ExpectFloat(), wide);
  }
}

TEST(Literals, IntegersCarryTheSuffixTheyNeed) {
  EXPECT_EQ(IntegerLiteral(-7), "-7");
  EXPECT_EQ(IntegerLiteral(2147483647), "2147483647");
  EXPECT_EQ(IntegerLiteral(2147483648), "2147483648LL");
  EXPECT_EQ(IntegerLiteral(-2147483648LL), "-2147483648LL");
  EXPECT_EQ(IntegerLiteral(INT64_MIN), "INT64_MIN");
  EXPECT_EQ(UnsignedLiteral(7), "7u");
  EXPECT_EQ(UnsignedLiteral(UINT64_MAX), "18446744073709551615ULL");
}

TEST(Literals, CStringsAreAsciiAndSafe) {
  EXPECT_EQ(StringLiteral("a\"b\\c\n"), R"("a\"b\\c\n")");
  EXPECT_EQ(StringLiteral("\x01"
                          "1"),
            R"("\0011")");
  EXPECT_EQ(StringLiteral("\xc3\xa9"), R"("\303\251")");
  EXPECT_EQ(StringLiteral("what?"
                          "?/"),
            R"("what?\?/")");
}

TEST(Literals, QuotedTextReadsBack) {
  for (const std::string text : {"plain", "a\"b\\\n\t\r\x01\x7f", "caf\xc3\xa9", ""}) {
    EXPECT_EQ(*Scanner(QuotedText(text)).ExpectString(), text);
  }
}

}  // namespace
}  // namespace aotc
