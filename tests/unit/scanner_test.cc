#include "compiler/support/scanner.h"

#include <cmath>

#include "gtest/gtest.h"

namespace aotc {
namespace {

TEST(Scanner, CutsATextIntoTokens) {
  Scanner s("%y: f32[batch, 1..4] = com.microsoft.Gelu(%x.1) // why\n -> @f");
  EXPECT_EQ(*s.ExpectName('%'), "y");
  EXPECT_TRUE(s.TryConsume(":"));
  EXPECT_EQ(*s.ExpectIdentifier(), "f32");
  EXPECT_TRUE(s.TryConsume("["));
  EXPECT_TRUE(s.TryConsume("batch"));
  EXPECT_TRUE(s.TryConsume(","));
  EXPECT_EQ(*s.ExpectInteger(), 1);
  EXPECT_TRUE(s.TryConsume(".."));
  EXPECT_EQ(*s.ExpectInteger(), 4);
  EXPECT_TRUE(s.Expect("]").ok());
  EXPECT_TRUE(s.Expect("=").ok());
  EXPECT_EQ(*s.ExpectIdentifier(), "com.microsoft.Gelu");
  EXPECT_TRUE(s.Expect("(").ok());
  EXPECT_EQ(*s.ExpectName('%'), "x.1");
  EXPECT_TRUE(s.Expect(")").ok());
  EXPECT_TRUE(s.TryConsume("->"));
  EXPECT_EQ(s.Peek().line, 2);
  EXPECT_EQ(s.Peek().column, 5);
  EXPECT_EQ(*s.ExpectName('@'), "f");
  EXPECT_TRUE(s.ExpectEnd().ok());
}

TEST(Scanner, NamesMayHoldWhatExportersWrite) {
  Scanner s("%/layer.1/conv-a:0 %\"with blank\" %a->%b %x: f32 a % b");
  EXPECT_EQ(*s.ExpectName('%'), "/layer.1/conv-a:0");
  EXPECT_EQ(*s.ExpectName('%'), "with blank");
  EXPECT_EQ(*s.ExpectName('%'), "a");
  EXPECT_TRUE(s.TryConsume("->"));
  EXPECT_EQ(*s.ExpectName('%'), "b");
  EXPECT_EQ(*s.ExpectName('%'), "x");
  EXPECT_TRUE(s.TryConsume(":"));
  EXPECT_TRUE(s.TryConsume("f32"));
  EXPECT_TRUE(s.TryConsume("a"));
  EXPECT_TRUE(s.TryConsume("%"));
  EXPECT_TRUE(s.TryConsume("b"));
}

TEST(Scanner, ReadsNumbersExactly) {
  Scanner s("1.5 -2 0x1.8p+3 -inf nan 1e-45 0x1f .25 7 1.");
  EXPECT_EQ(*s.ExpectFloat(), 1.5);
  EXPECT_EQ(*s.ExpectFloat(), -2);
  EXPECT_EQ(*s.ExpectFloat(), 12);
  EXPECT_EQ(*s.ExpectFloat(), -INFINITY);
  EXPECT_TRUE(std::isnan(*s.ExpectFloat()));
  EXPECT_EQ(*s.ExpectFloat(), 1e-45);
  EXPECT_EQ(*s.ExpectInteger(), 31);
  EXPECT_EQ(*s.ExpectFloat(), 0.25);
  EXPECT_EQ(*s.ExpectFloat(), 7);
  EXPECT_EQ(*s.ExpectFloat(), 1);
}

TEST(Scanner, IntegersThatDoNotFitAreErrors) {
  EXPECT_EQ(*Scanner("-9223372036854775808").ExpectInteger(), INT64_MIN);
  EXPECT_EQ(*Scanner("9223372036854775807").ExpectInteger(), INT64_MAX);
  EXPECT_FALSE(Scanner("9223372036854775808").ExpectInteger().ok());
  EXPECT_FALSE(Scanner("99999999999999999999").ExpectInteger().ok());
  EXPECT_FALSE(Scanner("1.5").ExpectInteger().ok());
}

TEST(Scanner, DecodesStrings) {
  EXPECT_EQ(*Scanner(R"("a\n\"b\"\\\x41")").ExpectString(), "a\n\"b\"\\A");
  EXPECT_FALSE(Scanner("\"open").ExpectString().ok());
  EXPECT_FALSE(Scanner(R"("\q")").ExpectString().ok());
}

TEST(Scanner, ErrorsNameThePlaceAndWhatWasFound) {
  Scanner s("a\n  b", "case.air");
  EXPECT_TRUE(s.Expect("a").ok());
  EXPECT_EQ(s.Expect("c").message(), "case.air:2:3: expected 'c', found 'b'");
  EXPECT_EQ(s.ExpectInteger().status().message(), "case.air:2:3: expected an integer, found 'b'");
  EXPECT_EQ(Scanner("").Expect("x").message(), "1:1: expected 'x', found the end of the text");
}

TEST(Scanner, ACopyIsALookAhead) {
  Scanner s("a b c");
  Scanner ahead = s;
  EXPECT_TRUE(ahead.TryConsume("a"));
  EXPECT_TRUE(s.At("a"));
  EXPECT_EQ(s.Peek(2).text, "c");
  EXPECT_EQ(s.Peek(9).kind, TokenKind::kEnd);
}

}  // namespace
}  // namespace aotc
