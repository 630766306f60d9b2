// min and max of i64: operands that others dominate go, common factors come out.
#include <algorithm>
#include <numeric>

#include "compiler/ir/simplifier.h"

namespace aotc {
namespace {

// The operands of nested operators of the same kind, in order, each once.
void Flatten(const Expr& e, ExprOp op, std::vector<Expr>& operands) {
  if (e.op() == op) {
    for (const Expr& arg : e.args()) Flatten(arg, op, operands);
    return;
  }
  bool seen =
      std::any_of(operands.begin(), operands.end(), [&](const Expr& o) { return Same(o, e); });
  if (!seen) operands.push_back(e);
}

// min(a, max(a, b)) = a: whether `e` is of the opposite kind and has `operand` among its operands.
bool Absorbs(const Expr& operand, const Expr& e, ExprOp op) {
  if (e.op() != (op == ExprOp::kMin ? ExprOp::kMax : ExprOp::kMin)) return false;
  std::vector<Expr> inner;
  Flatten(e, e.op(), inner);
  return std::any_of(inner.begin(), inner.end(), [&](const Expr& o) { return Same(o, operand); });
}

// In max(max(a, 0) - 2, 0) the operand max(a, 0) - 2 has the part a - 2 and a constant that 0
// beats: the part takes its place.
void OpenBeatenConstants(ExprOp op, std::vector<Expr>& operands) {
  std::optional<int64_t> bound;
  for (const Expr& operand : operands) bound = bound ? bound : operand.AsInt();
  for (size_t i = 0; bound && i < operands.size(); ++i) {
    const std::optional<Sum> sum = SumOf(operands[i]);
    if (!sum || sum->terms.size() != 1 || sum->terms[0].coefficient != 1) continue;
    const std::vector<Expr>& factors = sum->terms[0].factors;
    if (factors.size() != 1 || factors[0].op() != op) continue;
    std::vector<Expr> parts;
    Flatten(factors[0], op, parts);
    const auto end = std::remove_if(parts.begin(), parts.end(), [&](const Expr& part) {
      const std::optional<int64_t> value = (part + sum->constant).AsInt();
      return value && (op == ExprOp::kMax ? *value <= *bound : *value >= *bound);
    });
    if (end == parts.end()) continue;
    parts.erase(end, parts.end());
    for (Expr& part : parts) part = part + sum->constant;
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(i--));
    operands.insert(operands.end(), parts.begin(), parts.end());
  }
}

// Common divisor of all coefficients and constants.
int64_t CommonGcd(const std::vector<Sum>& sums) {
  int64_t gcd = 0;
  for (const Sum& sum : sums) {
    gcd = std::gcd(gcd, std::gcd(CoefficientGcd(sum), sum.constant));
  }
  return gcd;
}

Sum DivideBy(const Sum& sum, int64_t divisor) {
  Sum result = sum;
  for (Term& term : result.terms) term.coefficient /= divisor;
  result.constant /= divisor;
  return result;
}

// Terms in the canonical order, the constant last.
bool Before(const Sum& a, const Sum& b) {
  if (a.IsConstant() != b.IsConstant()) return b.IsConstant();
  return CompareExprs(SumToExpr(a), SumToExpr(b)) < 0;
}

}  // namespace

Expr Simplifier::RewriteMinMax(const Expr& e) {
  ExprOp op = e.op();
  std::vector<Expr> operands;
  Flatten(e, op, operands);
  OpenBeatenConstants(op, operands);
  std::vector<Sum> sums;
  for (const Expr& operand : operands) {
    std::optional<Sum> sum = Polynomial(operand);
    if (!sum) return e;
    sums.push_back(*sum);
  }
  // Drops each operand that another one, still there, is proven to beat.
  auto beaten = [&](size_t i, size_t j) {
    if (Absorbs(operands[j], operands[i], op)) return true;
    std::optional<Sum> difference = AddScaled(sums[i], sums[j], -1);
    if (difference && op == ExprOp::kMax) difference = Scale(*difference, -1);
    return difference && RangeOfSum(*difference).min >= 0;
  };
  for (size_t i = 0; i < sums.size();) {
    bool drop = false;
    for (size_t j = 0; j < sums.size() && !drop; ++j) drop = j != i && beaten(i, j);
    i += drop ? 0 : 1;
    if (!drop) continue;
    sums.erase(sums.begin() + static_cast<std::ptrdiff_t>(i));
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(i));
  }
  std::sort(sums.begin(), sums.end(), Before);
  int64_t gcd = sums.size() > 1 ? CommonGcd(sums) : 1;
  Expr result;
  for (const Sum& sum : sums) {
    Expr operand = SumToExpr(gcd > 1 ? DivideBy(sum, gcd) : sum);
    result = result.valid() ? Binary(op, result, operand) : operand;
  }
  return gcd > 1 ? result * gcd : result;
}

}  // namespace aotc
