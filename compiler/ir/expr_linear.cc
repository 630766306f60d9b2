#include "compiler/ir/expr_linear.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>
#include <utility>

namespace aotc {
namespace {

// Products that would have more terms than this stay atoms.
constexpr size_t kMaxTerms = 48;

template <class T>
int CompareValues(const T& a, const T& b) {
  if (a == b) return 0;
  return a < b ? -1 : 1;
}

int CompareLists(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (int order = CompareExprs(a[i], b[i]); order != 0) return order;
  }
  return CompareValues(a.size(), b.size());
}

// Variables first, then the rest in the order of the enum.
int ClassOf(const Expr& e) { return e.IsVar() ? -1 : static_cast<int>(e.op()); }

void Drop(std::vector<Term>& terms) {
  std::erase_if(terms, [](const Term& term) { return term.coefficient == 0; });
}

// Merges two sorted lists of terms as a + scale * b.
bool MergeTerms(const Sum& a, const Sum& b, int64_t scale, std::vector<Term>& out) {
  size_t i = 0, j = 0;
  out.reserve(a.terms.size() + b.terms.size());
  while (i < a.terms.size() || j < b.terms.size()) {
    int order = 0;
    if (i == a.terms.size())
      order = 1;
    else if (j == b.terms.size())
      order = -1;
    else
      order = CompareTerms(a.terms[i], b.terms[j]);
    if (order < 0) {
      out.push_back(a.terms[i++]);
      continue;
    }
    std::optional<int64_t> coefficient = CheckedMul(b.terms[j].coefficient, scale);
    if (coefficient && order == 0) {
      coefficient = CheckedAdd(*coefficient, a.terms[i++].coefficient);
    }
    if (!coefficient) return false;
    out.push_back({*coefficient, b.terms[j++].factors});
  }
  Drop(out);
  return true;
}

std::optional<Sum> MultiplyTerm(const Sum& a, const Term& term) {
  Sum result;
  for (const Term& left : a.terms) {
    std::optional<int64_t> coefficient = CheckedMul(left.coefficient, term.coefficient);
    if (!coefficient) return std::nullopt;
    Term product{*coefficient};
    std::ranges::merge(left.factors, term.factors, std::back_inserter(product.factors),
                       [](const Expr& x, const Expr& y) { return CompareExprs(x, y) < 0; });
    result.terms.push_back(std::move(product));
  }
  std::optional<int64_t> constant = CheckedMul(a.constant, term.coefficient);
  if (!constant) return std::nullopt;
  if (*constant != 0) result.terms.push_back({*constant, term.factors});
  std::sort(result.terms.begin(), result.terms.end(),
            [](const Term& x, const Term& y) { return CompareTerms(x, y) < 0; });
  return result;
}

std::optional<Sum> SumOfBinary(const Expr& e) {
  std::optional<Sum> a = SumOf(e.arg(0)), b = SumOf(e.arg(1));
  if (!a || !b) return std::nullopt;
  if (e.op() == ExprOp::kAdd) return AddScaled(*a, *b, 1);
  if (e.op() == ExprOp::kSub) return AddScaled(*a, *b, -1);
  bool too_many = a->terms.size() * b->terms.size() > kMaxTerms;
  return too_many ? SumOfTerm({1, {e}}) : Multiply(*a, *b);
}

// How terms are shown: high degree first, then large coefficients, then by name.
bool PrintsBefore(const Term& a, const Term& b) {
  if (a.factors.size() != b.factors.size()) return a.factors.size() > b.factors.size();
  auto magnitude = [](int64_t x) { return x < 0 ? -x : x; };
  int64_t size_a = magnitude(a.coefficient), size_b = magnitude(b.coefficient);
  if (size_a != size_b) return size_a > size_b;
  return CompareTerms(a, b) < 0;
}

}  // namespace

int CompareExprs(const Expr& a, const Expr& b) {
  if (Same(a, b)) return 0;
  if (int order = CompareValues(ClassOf(a), ClassOf(b)); order != 0) return order;
  if (int order = CompareValues(a->name, b->name); order != 0) return order;
  if (int order = CompareValues(a->guarded, b->guarded); order != 0) return order;
  if (int order = CompareValues(a.dtype(), b.dtype()); order != 0) return order;
  if (int order = CompareValues(a->tensor, b->tensor); order != 0) return order;
  if (int order = CompareLists(a.args(), b.args()); order != 0) return order;
  if (int order = CompareValues(a->int_value, b->int_value); order != 0) return order;
  if (int order = CompareValues(a.lanes(), b.lanes()); order != 0) return order;
  return CompareValues(std::bit_cast<uint64_t>(a->float_value),
                       std::bit_cast<uint64_t>(b->float_value));
}

bool SameFactors(const Term& a, const Term& b) { return Same(a.factors, b.factors); }

int CompareTerms(const Term& a, const Term& b) {
  if (a.factors.size() != b.factors.size()) return a.factors.size() > b.factors.size() ? -1 : 1;
  return CompareLists(a.factors, b.factors);
}

std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result) || result == INT64_MIN) return std::nullopt;
  return result;
}

std::optional<int64_t> CheckedMul(int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result) || result == INT64_MIN) return std::nullopt;
  return result;
}

int64_t FloorDivInt(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

int64_t FloorModInt(int64_t a, int64_t b) { return a % b + (a % b < 0 ? b : 0); }

std::optional<Sum> SumOf(const Expr& e) {
  switch (e.op()) {
    case ExprOp::kConst:
      if (e->int_value == INT64_MIN) return std::nullopt;
      return SumOfConstant(e->int_value);
    case ExprOp::kAdd:
    case ExprOp::kSub:
    case ExprOp::kMul: return SumOfBinary(e);
    case ExprOp::kNeg: {
      std::optional<Sum> sum = SumOf(e.arg(0));
      return sum ? Scale(*sum, -1) : std::nullopt;
    }
    default: return SumOfTerm({1, {e}});
  }
}

Sum SumOfTerm(Term term) {
  Sum sum;
  if (term.factors.empty()) return SumOfConstant(term.coefficient);
  if (term.coefficient != 0) sum.terms.push_back(std::move(term));
  return sum;
}

Sum SumOfConstant(int64_t constant) { return {.constant = constant}; }

Expr TermToExpr(const Term& term) {
  if (term.factors.empty()) return term.coefficient;
  Expr product = term.factors[0];
  for (size_t i = 1; i < term.factors.size(); ++i) product = product * term.factors[i];
  if (term.coefficient == -1) return -product;
  return product * term.coefficient;
}

Expr SumToExpr(const Sum& sum) {
  std::vector<Term> terms = sum.terms;
  std::sort(terms.begin(), terms.end(), PrintsBefore);
  // A positive term leads where there is one, so that no negation is needed.
  auto first =
      std::find_if(terms.begin(), terms.end(), [](const Term& t) { return t.coefficient > 0; });
  if (first != terms.end()) std::rotate(terms.begin(), first, first + 1);
  bool constant_leads = first == terms.end() && sum.constant > 0;
  Expr result = constant_leads ? sum.constant : 0;
  for (const Term& term : terms) {
    bool subtract = term.coefficient < 0 && !result.IsInt(0);
    Term magnitude = term;
    if (subtract) magnitude.coefficient = -term.coefficient;
    result = subtract ? result - TermToExpr(magnitude) : result + TermToExpr(magnitude);
  }
  if (constant_leads) return result;
  if (sum.constant < 0) return result - (-sum.constant);
  return result + sum.constant;
}

std::optional<Sum> AddScaled(const Sum& a, const Sum& b, int64_t scale) {
  Sum result;
  if (!MergeTerms(a, b, scale, result.terms)) return std::nullopt;
  std::optional<int64_t> constant = CheckedMul(b.constant, scale);
  if (constant) constant = CheckedAdd(a.constant, *constant);
  if (!constant) return std::nullopt;
  result.constant = *constant;
  return result;
}

std::optional<Sum> Multiply(const Sum& a, const Sum& b) {
  std::optional<Sum> result = b.constant == 0 ? Sum{} : Scale(a, b.constant);
  for (const Term& term : b.terms) {
    std::optional<Sum> product = MultiplyTerm(a, term);
    if (!product || !result) return std::nullopt;
    const bool is_first = result->terms.empty() && result->constant == 0;
    result = is_first ? std::move(product) : AddScaled(*result, *product, 1);
  }
  return result;
}

std::optional<Sum> Scale(const Sum& a, int64_t scale) { return AddScaled(Sum{}, a, scale); }

std::optional<Term> WithoutFactor(const Term& term, const Expr& factor) {
  for (size_t i = 0; i < term.factors.size(); ++i) {
    if (!Same(term.factors[i], factor)) continue;
    Term rest = term;
    rest.factors.erase(rest.factors.begin() + static_cast<std::ptrdiff_t>(i));
    return rest;
  }
  return std::nullopt;
}

std::optional<Term> DivideTerm(const Term& term, const Term& divisor) {
  std::optional<Term> quotient = term;
  for (const Expr& factor : divisor.factors) {
    quotient = WithoutFactor(*quotient, factor);
    if (!quotient) return std::nullopt;
  }
  quotient->coefficient /= divisor.coefficient;
  if (quotient->coefficient == 0) return std::nullopt;
  return quotient;
}

int64_t CoefficientGcd(const Sum& sum) {
  int64_t gcd = 0;
  for (const Term& term : sum.terms) {
    gcd = std::gcd(gcd, term.coefficient);
  }
  return gcd;
}

}  // namespace aotc
