// Facts: conditions that hold, as polynomials that are not negative, equalities and known bools.
#include <algorithm>
#include <set>

#include "compiler/ir/simplifier.h"

namespace aotc {

void Simplifier::AddFact(const Expr& condition) {
  if (condition.IsConst() || condition.lanes() != 1) return;
  if (condition.op() == ExprOp::kAnd) {
    for (const Expr& arg : condition.args()) AddFact(arg);
    return;
  }
  if (condition.op() == ExprOp::kNot) return AddFalse(condition.arg(0));
  context().facts.known.emplace_back(condition, true);
  if (!IsComparison(condition.op()) || condition.arg(0).dtype() != DType::kI64) return;
  const Expr &a = condition.arg(0), &b = condition.arg(1);
  if (condition.op() == ExprOp::kEq) return AddEquality(a, b);
  if (condition.op() == ExprOp::kNe) return;
  std::optional<Sum> left = Polynomial(a), right = Polynomial(b);
  std::optional<Sum> difference = left && right ? AddScaled(*right, *left, -1) : std::nullopt;
  if (difference && condition.op() == ExprOp::kLt) {
    difference = AddScaled(*difference, SumOfConstant(1), -1);
  }
  if (difference) AddNonNegative(*difference);
}

void Simplifier::AddFalse(const Expr& condition) {
  if (condition.IsConst() || condition.lanes() != 1) return;
  if (condition.op() == ExprOp::kOr) {
    for (const Expr& arg : condition.args()) AddFalse(arg);
    return;
  }
  if (condition.op() == ExprOp::kNot) return AddFact(condition.arg(0));
  context().facts.known.emplace_back(condition, false);
  Expr negated = Negated(condition);
  if (IsComparison(negated.op())) AddFact(negated);
}

void Simplifier::AddNonNegative(const Sum& sum) {
  if (sum.IsConstant()) return;
  Sum reduced = sum;
  int64_t gcd = CoefficientGcd(sum);
  for (Term& term : reduced.terms) term.coefficient /= gcd;
  reduced.constant = FloorDivInt(sum.constant, gcd);
  context().facts.nonnegative.push_back(std::move(reduced));
}

// Both inequalities; and where a variable stands alone, it is replaced by the rest: preferably the
// one that is eliminated first, so that dims replace axes.
void Simplifier::AddEquality(const Expr& a, const Expr& b) {
  std::optional<Sum> left = Polynomial(a), right = Polynomial(b);
  std::optional<Sum> sum = left && right ? AddScaled(*left, *right, -1) : std::nullopt;
  std::optional<Sum> negated = sum ? Scale(*sum, -1) : std::nullopt;
  if (!negated || sum->IsConstant()) return;
  AddNonNegative(*sum);
  AddNonNegative(*negated);
  std::vector<Term> alone;
  for (const Term& term : sum->terms) {
    bool unit = term.coefficient == 1 || term.coefficient == -1;
    if (unit && term.factors.size() == 1 && term.factors[0].IsVar()) alone.push_back(term);
  }
  std::sort(alone.begin(), alone.end(), [&](const Term& x, const Term& y) {
    return EliminatedBefore(x.factors[0], y.factors[0]);
  });
  for (const Term& term : alone) {
    std::optional<Sum> rest = AddScaled(*sum, SumOfTerm(term), -1);
    rest = rest ? Scale(*rest, -term.coefficient) : std::nullopt;
    const std::string& name = term.factors[0]->name;
    if (!rest || Reaches(SumToExpr(*rest), name)) continue;
    AddRangeOf(name, *rest);
    context().facts.replacements.emplace(name, SumToExpr(*rest));
    return;
  }
}

// What stands for a variable lies in its range.
void Simplifier::AddRangeOf(const std::string& name, const Sum& sum) {
  const Bounds::Range* range = bounds_.Find(name);
  if (range == nullptr) return;
  const std::optional<int64_t> min = range->min.AsInt(), max = range->max.AsInt();
  const std::optional<Sum> negated = Scale(sum, -1);
  const std::optional<Sum> above = min ? AddScaled(sum, SumOfConstant(*min), -1) : std::nullopt;
  const std::optional<Sum> below =
      max && negated ? AddScaled(*negated, SumOfConstant(*max), 1) : std::nullopt;
  if (above) AddNonNegative(*above);
  if (below) AddNonNegative(*below);
}

// Whether rewriting the variables of `e`, by replacements and by the ends of ranges, can lead to
// `name`.
bool Simplifier::Reaches(const Expr& e, const std::string& name) {
  std::set<std::string> seen;
  std::vector<Expr> work = {e};
  while (!work.empty()) {
    Expr next = work.back();
    work.pop_back();
    for (const std::string& var : FreeVars(next)) {
      if (var == name) return true;
      if (!seen.insert(var).second) continue;
      for (const std::string& below : InfoOf(Var(var)).support) work.push_back(Var(below));
      auto replacement = facts().replacements.find(var);
      if (replacement != facts().replacements.end()) work.push_back(replacement->second);
    }
  }
  return false;
}

std::optional<bool> Simplifier::Known(const Expr& condition) const {
  for (const auto& [known, value] : facts().known) {
    if (Same(known, condition)) return value;
  }
  return std::nullopt;
}

// Facts about this atom alone: c*atom + k >= 0.
Interval Simplifier::TightenByFacts(const Expr& atom, Interval range) const {
  for (const Sum& fact : facts().nonnegative) {
    if (fact.terms.size() != 1 || fact.terms[0].factors.size() != 1) continue;
    if (!Same(fact.terms[0].factors[0], atom)) continue;
    // The coefficient is 1 or -1, since facts are reduced.
    if (fact.terms[0].coefficient > 0) range.min = std::max(range.min, -fact.constant);
    if (fact.terms[0].coefficient < 0) range.max = std::min(range.max, fact.constant);
  }
  return range;
}

}  // namespace aotc
