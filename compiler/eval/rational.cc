#include "compiler/eval/rational.h"

#include <algorithm>
#include <cmath>

#include "compiler/ir/constant.h"

namespace aotc {
namespace {

int64_t LargestNumerator(DType type) { return int64_t{1} << SignificandBits(type); }

// So that no fraction is too small for the exponents of the type.
int64_t LargestDenominator(DType type) { return int64_t{1} << (type == DType::kF16 ? 24 : 60); }

// The largest |e|.
int64_t Magnitude(const Expr& e, const Bounds& bounds) {
  const Interval range = RangeOf(Simplify(e, bounds), bounds);
  return range.min == INT64_MIN ? INT64_MAX : std::max(-range.min, range.max);
}

// a * b where it cannot leave i64.
std::optional<Expr> Product(const Expr& a, const Expr& b, const Bounds& bounds) {
  constexpr double kLargest = 1LL << 60;
  const double largest = static_cast<double>(Magnitude(a, bounds));
  if (largest * static_cast<double>(Magnitude(b, bounds)) > kLargest) return std::nullopt;
  return Simplify(a * b, bounds);
}

// `value` where `type` holds it for all values of the symbols.
std::optional<Rational> Exactly(DType type, const Rational& value, const Bounds& bounds) {
  const bool binary = (value.denominator & (value.denominator - 1)) == 0;
  if (value.rounded || !binary || value.denominator > LargestDenominator(type)) return std::nullopt;
  const bool followed = SignificandBits(type) > 0;
  if (!followed || Magnitude(value.numerator, bounds) > LargestNumerator(type)) return std::nullopt;
  return value;
}

std::optional<Rational> OfConstant(double value) {
  constexpr int64_t kLargestDenominator = 1 << 20;
  constexpr double kLargestNumerator = 1LL << 40;
  for (int64_t q = 1; q <= kLargestDenominator; q *= 2) {
    double p = value * static_cast<double>(q);
    if (!(std::fabs(p) < kLargestNumerator)) return std::nullopt;
    if (p == std::trunc(p)) return Rational{Expr(static_cast<int64_t>(p)), q};
  }
  return std::nullopt;
}

std::optional<Rational> OfQuotient(DType type, const Rational& a, const Rational& b,
                                   const Bounds& bounds) {
  std::optional<int64_t> divisor = Simplify(b.numerator, bounds).AsInt();
  if (!divisor || *divisor == 0) return std::nullopt;
  const int64_t sign = *divisor < 0 ? -1 : 1;
  std::optional<Expr> x = Product(a.numerator, Expr(sign * b.denominator), bounds);
  std::optional<Expr> y = Product(Expr(sign * *divisor), Expr(a.denominator), bounds);
  if (!x || !y) return std::nullopt;
  Rational quotient{*x, *y->AsInt()};
  if (std::optional<Rational> exact = Exactly(type, quotient, bounds)) return exact;
  // Rounding carries no x / y over or onto an integer: it is 1 / y away from one at least, and half
  // a unit in its last place is at most |x / y| / 2^bits, which is less as |x| < 2^bits.
  const bool followed = SignificandBits(type) > 0 && Magnitude(*x, bounds) < LargestNumerator(type);
  if (!followed || quotient.denominator > LargestDenominator(type)) return std::nullopt;
  quotient.rounded = true;
  return quotient;
}

std::optional<Rational> OfBinary(const Expr& e, const Bounds& bounds) {
  std::optional<Rational> a = RationalOf(e.arg(0), bounds), b = RationalOf(e.arg(1), bounds);
  if (!a || !b || a->rounded || b->rounded) return std::nullopt;
  if (e.op() == ExprOp::kDiv) return OfQuotient(e.dtype(), *a, *b, bounds);
  std::optional<Expr> common = Product(Expr(a->denominator), Expr(b->denominator), bounds);
  if (!common) return std::nullopt;
  const int64_t denominator = *common->AsInt();
  auto exactly = [&](const Expr& numerator) {
    return Exactly(e.dtype(), {numerator, denominator}, bounds);
  };
  if (e.op() == ExprOp::kMul) {
    std::optional<Expr> product = Product(a->numerator, b->numerator, bounds);
    return product ? exactly(*product) : std::nullopt;
  }
  std::optional<Expr> x = Product(a->numerator, Expr(b->denominator), bounds);
  std::optional<Expr> y = Product(b->numerator, Expr(a->denominator), bounds);
  if (!x || !y) return std::nullopt;
  switch (e.op()) {
    case ExprOp::kAdd: return exactly(*x + *y);
    case ExprOp::kSub: return exactly(*x - *y);
    case ExprOp::kMin: return exactly(Min(*x, *y));
    case ExprOp::kMax: return exactly(Max(*x, *y));
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<Rational> RationalOf(const Expr& e, const Bounds& bounds) {
  if (e.IsConst() && IsFloat(e.dtype())) return OfConstant(RoundToDType(e.dtype(), e->float_value));
  if (IsBinary(e.op())) return OfBinary(e, bounds);
  if (e.op() == ExprOp::kCast && !IsFloat(e.arg(0).dtype())) {
    return Exactly(e.dtype(), {e.arg(0)}, bounds);
  }
  const bool floor = e.op() == ExprOp::kFloor, ceil = e.op() == ExprOp::kCeil;
  if (!floor && !ceil && e.op() != ExprOp::kNeg && e.op() != ExprOp::kCast) return std::nullopt;
  std::optional<Rational> a = RationalOf(e.arg(0), bounds);
  if (!a) return std::nullopt;
  if (floor) return Rational{FloorDiv(a->numerator, a->denominator)};
  if (ceil) return Rational{CeilDiv(a->numerator, a->denominator)};
  if (e.op() == ExprOp::kNeg) a->numerator = 0 - a->numerator;
  return Exactly(e.dtype(), *a, bounds);
}

std::optional<Expr> TruncationOf(const Expr& e, const Bounds& bounds) {
  std::optional<Rational> value = RationalOf(e, bounds);
  if (!value) return std::nullopt;
  if (value->denominator == 1) return value->numerator;
  if (RangeOf(Simplify(value->numerator, bounds), bounds).min < 0) return std::nullopt;
  return FloorDiv(value->numerator, value->denominator);
}

}  // namespace aotc
