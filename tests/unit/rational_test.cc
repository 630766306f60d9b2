#include "compiler/eval/rational.h"

#include <cmath>

#include "compiler/ir/constant.h"
#include "gtest/gtest.h"

namespace aotc {
namespace {

// n in 1..max.
Bounds UpTo(int64_t max) {
  Bounds bounds;
  bounds.Add("n", 1, max);
  return bounds;
}

Expr Float(DType type = DType::kF32) { return Cast(type, Var("n")); }
Expr Quotient(double divisor) { return Div(Float(), FloatConst(divisor)); }

// The truncation is `expected` up to `largest`, and nothing beyond it.
void ExpectFollowed(const Expr& e, const Expr& expected, int64_t largest) {
  std::optional<Expr> value = TruncationOf(e, UpTo(largest));
  ASSERT_TRUE(value.has_value());
  EXPECT_TRUE(ProveEqual(*value, expected, UpTo(largest)));
  EXPECT_FALSE(TruncationOf(e, UpTo(largest + 1)).has_value());
}

TEST(Rational, CastsAreExactWithinTheSignificand) {
  const Expr n = Var("n");
  ExpectFollowed(Float(DType::kF16), n, 1 << 11);
  ExpectFollowed(Float(DType::kBF16), n, 1 << 8);
  ExpectFollowed(Float(DType::kF32), n, 1 << 24);
  ExpectFollowed(Float(DType::kF64), n, int64_t{1} << 53);
  ExpectFollowed(Cast(DType::kF16, Float()), n, 1 << 11);
  ExpectFollowed(Cast(DType::kF32, Float(DType::kF16)), n, 1 << 11);
  EXPECT_FALSE(TruncationOf(Cast(DType::kF8E4M3FN, n), UpTo(2)).has_value());
}

TEST(Rational, SumsAndProductsAreExactWithinTheSignificand) {
  const Expr n = Var("n");
  ExpectFollowed(Float() * FloatConst(2.5), FloorDiv(n * 5, 2), (1 << 24) / 5);
  ExpectFollowed(Float() + FloatConst(0.25), n, (1 << 22) - 1);
  ExpectFollowed(Max(Float(), FloatConst(0.5)), n, 1 << 23);
  ExpectFollowed(Float() * Float(), n * n, 1 << 12);
  ExpectFollowed(Float() - (-Float()), n * 2, 1 << 23);
}

TEST(Rational, QuotientsKeepTheirIntegers) {
  const Expr n = Var("n");
  ExpectFollowed(Quotient(4), FloorDiv(n, 4), 1 << 24);
  ExpectFollowed(Quotient(3), FloorDiv(n, 3), (1 << 24) - 1);
  ExpectFollowed(Unary(ExprOp::kCeil, Quotient(3)), CeilDiv(n, 3), (1 << 24) - 1);
  // 101 / 10.1 is 10 in f32, though the nearest f32 of 10.1 lies above it.
  ExpectFollowed(Unary(ExprOp::kFloor, Quotient(10.1F)), FloorDiv(n * (1 << 19), 5295309), 31);
  // A value that was rounded is not worked with.
  EXPECT_FALSE(TruncationOf(Quotient(41) * FloatConst(41), UpTo(8)).has_value());
  EXPECT_FALSE(TruncationOf(Quotient(3) + FloatConst(1), UpTo(8)).has_value());
  EXPECT_FALSE(TruncationOf(Cast(DType::kF16, Quotient(3)), UpTo(8)).has_value());
  EXPECT_FALSE(TruncationOf(-(-Quotient(3)), UpTo(8)).has_value());
}

TEST(Rational, ProductsOfConstantsDoNotWrap) {
  const Expr large = FloatConst(std::ldexp(1.0, 39), DType::kF64);
  EXPECT_FALSE(TruncationOf(large * large, {}).has_value());
  Expr tiny = FloatConst(std::ldexp(1.0, -20), DType::kF64);
  tiny = tiny * tiny * tiny * tiny;
  EXPECT_FALSE(TruncationOf(Unary(ExprOp::kCeil, tiny), {}).has_value());
}

// The rule against the floats themselves.
TEST(Rational, QuotientsAreThoseOfFloats) {
  for (int divisor = 1; divisor < 200; ++divisor) {
    for (int n = 1; n < 2048; n += 1 + n % 7) {
      const double quotient = RoundToDType(DType::kF16, static_cast<double>(n) / divisor);
      EXPECT_EQ(static_cast<int>(quotient), n / divisor) << n << " / " << divisor;
      EXPECT_EQ(static_cast<int>(std::ceil(quotient)), (n + divisor - 1) / divisor);
    }
  }
}

}  // namespace
}  // namespace aotc
