// Comparisons of i64: one polynomial on one side of `>= 0` or `== 0`, decided by range and facts.
#include <numeric>

#include "compiler/ir/simplifier.h"

namespace aotc {
namespace {

// sum >= 0 with the common divisor of the coefficients taken out; exact, since terms are integers.
Sum Reduced(const Sum& sum) {
  int64_t gcd = CoefficientGcd(sum);
  if (gcd <= 1) return sum;
  Sum result = sum;
  for (Term& term : result.terms) term.coefficient /= gcd;
  result.constant = FloorDivInt(sum.constant, gcd);
  return result;
}

// The only factor of the term where that is a floor_div by a positive constant.
std::optional<Expr> OnlyFloorDiv(const Term& term) {
  if (term.factors.size() != 1 || term.factors[0].op() != ExprOp::kFloorDiv) return std::nullopt;
  std::optional<int64_t> divisor = term.factors[0].arg(1).AsInt();
  if (!divisor || *divisor <= 0) return std::nullopt;
  return term.factors[0];
}

int CountDivisions(const Sum& sum) {
  int count = 0;
  for (const Term& term : sum.terms) {
    for (const Expr& factor : term.factors) {
      count += factor.op() == ExprOp::kFloorDiv || factor.op() == ExprOp::kMod ? 1 : 0;
    }
  }
  return count;
}

// Terms with positive coefficients, and the others negated; the constant goes to neither.
struct Sides {
  Sum positive, negative;
};

Sides SidesOf(const Sum& sum) {
  Sides sides;
  for (const Term& term : sum.terms) {
    if (term.coefficient > 0) sides.positive.terms.push_back(term);
    if (term.coefficient < 0) sides.negative.terms.push_back({-term.coefficient, term.factors});
  }
  return sides;
}

// sum >= 0 with all terms on the side where they are positive: `i*16 + j < n`, `2 <= h`, `i < 5`.
Expr InequalityOf(const Sum& sum) {
  auto [right, left] = SidesOf(sum);
  if (left.terms.empty()) return Le(-sum.constant, SumToExpr(right));
  if (right.terms.empty()) return Lt(SumToExpr(left), sum.constant + 1);
  if (sum.constant < 0) left.constant = -sum.constant - 1;
  if (sum.constant > 0) right.constant = sum.constant;
  return sum.constant < 0 ? Lt(SumToExpr(left), SumToExpr(right))
                          : Le(SumToExpr(left), SumToExpr(right));
}

}  // namespace

// f >= -r is x >= -c*r, and f <= r is x <= c*r + c - 1, for f = floor_div(x, c): the polynomial
// without the division, where it has one with the coefficient 1 or -1.
std::optional<Sum> Simplifier::WithoutDivision(const Sum& sum) {
  if (CountDivisions(sum) != 1) return std::nullopt;
  for (const Term& term : sum.terms) {
    std::optional<Expr> division = OnlyFloorDiv(term);
    if (!division || (term.coefficient != 1 && term.coefficient != -1)) continue;
    int64_t divisor = *division->arg(1).AsInt();
    std::optional<Sum> rest = AddScaled(sum, SumOfTerm(term), -1);
    std::optional<Sum> x = Polynomial(division->arg(0));
    rest = rest ? Scale(*rest, divisor) : std::nullopt;
    if (!rest || !x) return std::nullopt;
    if (term.coefficient == -1) rest = AddScaled(*rest, SumOfConstant(divisor - 1), 1);
    return rest ? AddScaled(*rest, *x, term.coefficient) : std::nullopt;
  }
  return std::nullopt;
}

Expr Simplifier::RewriteCompare(const Expr& e) {
  std::optional<Sum> a = Polynomial(e.arg(0)), b = Polynomial(e.arg(1));
  std::optional<Sum> difference = a && b ? AddScaled(*b, *a, -1) : std::nullopt;
  if (difference && e.op() == ExprOp::kLt)
    difference = AddScaled(*difference, SumOfConstant(1), -1);
  if (!difference) return e;
  while (std::optional<Sum> shorter = Recombine(*difference)) difference = shorter;
  if (e.op() == ExprOp::kEq || e.op() == ExprOp::kNe) return RewriteEquality(e, *difference);
  return CompareSums(e, *difference);
}

// e is difference >= 0.
Expr Simplifier::CompareSums(const Expr& e, const Sum& difference) {
  Sum sum = Reduced(difference);
  if (sum.IsConstant()) return Bool(sum.constant >= 0);
  Interval range = RangeOfSum(sum);
  if (range.min >= 0) return Bool(true);
  if (range.max < 0) return Bool(false);
  if (std::optional<Sum> plain = WithoutDivision(sum); plain) {
    while (std::optional<Sum> shorter = Recombine(*plain)) plain = shorter;
    return CompareSums(e, *plain);
  }
  return sum.constant == INT64_MAX ? e : InequalityOf(sum);
}

// e is difference == 0, or != 0.
Expr Simplifier::RewriteEquality(const Expr& e, Sum difference) {
  bool equal = e.op() == ExprOp::kEq;
  int64_t gcd = CoefficientGcd(difference);
  if (difference.IsConstant()) return Bool((difference.constant == 0) == equal);
  if (difference.constant % gcd != 0) return Bool(!equal);
  for (Term& term : difference.terms) term.coefficient /= gcd;
  difference.constant /= gcd;
  Interval range = RangeOfSum(difference);
  if (range.min > 0 || range.max < 0) return Bool(!equal);
  if (range.min == 0 && range.max == 0) return Bool(equal);
  if (difference.terms[0].coefficient < 0) difference = *Scale(difference, -1);
  auto [left, right] = SidesOf(difference);
  if (difference.constant > 0 && !right.terms.empty())
    left.constant = difference.constant;
  else
    right.constant = -difference.constant;
  return Binary(e.op(), SumToExpr(left), SumToExpr(right));
}

}  // namespace aotc
