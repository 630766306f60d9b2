#include "compiler/eval/rational.h"

#include <cmath>

namespace aotc {
namespace {

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

std::optional<Rational> OfQuotient(const Rational& a, const Rational& b) {
  std::optional<int64_t> divisor = b.numerator.AsInt();
  if (!divisor || *divisor == 0) return std::nullopt;
  int64_t sign = *divisor < 0 ? -1 : 1;
  return Rational{a.numerator * (sign * b.denominator), a.denominator * (sign * *divisor)};
}

std::optional<Rational> OfBinary(const Expr& e, const Bounds& bounds) {
  std::optional<Rational> a = RationalOf(e.arg(0), bounds), b = RationalOf(e.arg(1), bounds);
  if (!a || !b) return std::nullopt;
  Expr x = a->numerator * b->denominator, y = b->numerator * a->denominator;
  int64_t common = a->denominator * b->denominator;
  switch (e.op()) {
    case ExprOp::kAdd: return Rational{x + y, common};
    case ExprOp::kSub: return Rational{x - y, common};
    case ExprOp::kMin: return Rational{Min(x, y), common};
    case ExprOp::kMax: return Rational{Max(x, y), common};
    case ExprOp::kMul: return Rational{a->numerator * b->numerator, common};
    case ExprOp::kDiv: return OfQuotient(*a, *b);
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<Rational> RationalOf(const Expr& e, const Bounds& bounds) {
  if (e.IsConst() && IsFloat(e.dtype())) return OfConstant(e->float_value);
  if (e.op() == ExprOp::kCast && !IsFloat(e.arg(0).dtype())) return Rational{e.arg(0)};
  if (e.op() == ExprOp::kCast) return RationalOf(e.arg(0), bounds);
  if (IsBinary(e.op())) return OfBinary(e, bounds);
  bool floor = e.op() == ExprOp::kFloor, ceil = e.op() == ExprOp::kCeil;
  if (!floor && !ceil && e.op() != ExprOp::kNeg) return std::nullopt;
  std::optional<Rational> a = RationalOf(e.arg(0), bounds);
  if (!a) return std::nullopt;
  if (floor) return Rational{FloorDiv(a->numerator, a->denominator)};
  if (ceil) return Rational{CeilDiv(a->numerator, a->denominator)};
  return Rational{0 - a->numerator, a->denominator};
}

std::optional<Expr> TruncationOf(const Expr& e, const Bounds& bounds) {
  std::optional<Rational> value = RationalOf(e, bounds);
  if (!value) return std::nullopt;
  if (value->denominator == 1) return value->numerator;
  if (RangeOf(Simplify(value->numerator, bounds), bounds).min < 0) return std::nullopt;
  return FloorDiv(value->numerator, value->denominator);
}

}  // namespace aotc
