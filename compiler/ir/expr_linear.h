// Polynomials over i64 atoms: the canonical form behind Simplify, range analysis and proofs.
//
//   Sum s = *SumOf(Var("y") * 4 + Var("x") + 3);   // terms {4 * y, x}, constant 3
//   s.Add(t, -2);                                  // s - 2 * t
//   SumToExpr(s);                                  // y*4 + x + 3
//
// An atom is any i64 expression that is not a constant, sum, difference, negation or product (or a
// product that is too large to expand). Arithmetic on coefficients is checked: functions that can
// overflow say so in their result, and the caller leaves the expression as it was.
#ifndef AOTC_COMPILER_IR_EXPR_LINEAR_H_
#define AOTC_COMPILER_IR_EXPR_LINEAR_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/expr.h"

namespace aotc {

// A total order on expressions by structure: stable over runs.
int CompareExprs(const Expr& a, const Expr& b);

// coefficient * product of the factors, which are atoms in ascending order.
struct Term {
  int64_t coefficient = 1;
  std::vector<Expr> factors = {};
};
bool SameFactors(const Term& a, const Term& b);

// Graded lexicographic order of the factors: higher degree first.
int CompareTerms(const Term& a, const Term& b);

struct Sum {
  std::vector<Term> terms = {};  // in the order of CompareTerms, none twice, no zero coefficient
  int64_t constant = 0;

  bool IsConstant() const { return terms.empty(); }
  bool IsZero() const { return terms.empty() && constant == 0; }
};

// Checked arithmetic; nothing on overflow. INT64_MIN counts as one, so that every coefficient and
// constant has a negative.
std::optional<int64_t> CheckedAdd(int64_t a, int64_t b);
std::optional<int64_t> CheckedMul(int64_t a, int64_t b);
// Rounds to minus infinity; b > 0.
int64_t FloorDivInt(int64_t a, int64_t b);
int64_t FloorModInt(int64_t a, int64_t b);

// e as a polynomial over its atoms; nothing on overflow.
std::optional<Sum> SumOf(const Expr& e);
Expr SumToExpr(const Sum& sum);
Expr TermToExpr(const Term& term);
// A sum of this one term.
Sum SumOfTerm(Term term);
Sum SumOfConstant(int64_t constant);

// a + scale * b
std::optional<Sum> AddScaled(const Sum& a, const Sum& b, int64_t scale);
std::optional<Sum> Multiply(const Sum& a, const Sum& b);
std::optional<Sum> Scale(const Sum& a, int64_t scale);
// `term` / `divisor` where the divisor's factors are among the term's; the coefficient is rounded
// to zero, and nothing comes back where it becomes 0.
std::optional<Term> DivideTerm(const Term& term, const Term& divisor);
// The term's factors without one occurrence of `factor`; nothing where it is not there.
std::optional<Term> WithoutFactor(const Term& term, const Expr& factor);
// Greatest common divisor of all coefficients, without the constant; 0 where there are none.
int64_t CoefficientGcd(const Sum& sum);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_EXPR_LINEAR_H_
