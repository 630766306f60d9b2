// Floor division and modulus on polynomials: exact parts are split off, small remainders too.
#include <numeric>
#include <set>

#include "compiler/ir/simplifier.h"

namespace aotc {
namespace {

// Splits off of each coefficient what `divisor` divides; variables keep a rest towards zero, so
// that n - i does not become n + 15*i, and the constant keeps a rest in [0, divisor).
bool ExtractByConstant(Division& division, int64_t divisor) {
  Sum whole, rest;
  for (const Term& term : division.rest.terms) {
    int64_t quotient = term.coefficient / divisor, remainder = term.coefficient % divisor;
    if (quotient != 0) whole.terms.push_back({quotient, term.factors});
    if (remainder != 0) rest.terms.push_back({remainder, term.factors});
  }
  whole.constant = FloorDivInt(division.rest.constant, divisor);
  rest.constant = FloorModInt(division.rest.constant, divisor);
  std::optional<Sum> total = AddScaled(division.whole, whole, 1);
  if (!total || whole.IsZero()) return false;
  division.whole = *total;
  division.rest = rest;
  return true;
}

// Moves k divisors from the rest to the whole.
bool Shift(Division& division, int64_t k) {
  std::optional<Sum> rest = AddScaled(division.rest, division.rest_divisor, -k);
  std::optional<Sum> whole = AddScaled(division.whole, SumOfConstant(1), k);
  if (!rest || !whole) return false;
  division.rest = *rest;
  division.whole = *whole;
  return true;
}

// The rest is proven to lie in [0, rest_divisor): it is the remainder.
bool Settle(Division& division) {
  std::optional<Sum> low = Multiply(division.rest, division.scale);
  if (low) low = AddScaled(division.low, *low, 1);
  if (!low) return false;
  division.low = *low;
  division.rest = {};
  return true;
}

// Divisors of `divisor` that it has in common with coefficients, largest first, without 1 and
// itself.
std::vector<int64_t> CommonScales(const Sum& sum, int64_t divisor) {
  std::set<int64_t, std::greater<>> scales;
  for (const Term& term : sum.terms) {
    int64_t gcd = std::gcd(term.coefficient, divisor);
    std::set<int64_t, std::greater<>> known = scales;
    for (int64_t scale : known) scales.insert(std::gcd(scale, gcd));
    scales.insert(gcd);
  }
  std::erase_if(scales, [&](int64_t scale) { return scale <= 1 || scale >= divisor; });
  return {scales.begin(), scales.end()};
}

// The monomials that divide every term of a symbolic divisor, largest first, without 1.
std::vector<Term> CommonMonomials(const Sum& divisor) {
  constexpr size_t kMaxFactors = 4;
  Term content = divisor.terms[0];
  content.coefficient = std::gcd(CoefficientGcd(divisor), divisor.constant);
  for (const Term& term : divisor.terms) {
    Term shared{content.coefficient, {}}, left = term;
    for (const Expr& factor : content.factors) {
      auto without = WithoutFactor(left, factor);
      if (!without) continue;
      shared.factors.push_back(factor);
      left = *without;
    }
    content = shared;
  }
  if (divisor.constant != 0) content.factors.clear();
  if (content.factors.size() > kMaxFactors) content.factors.resize(kMaxFactors);
  std::vector<Term> monomials;
  for (size_t mask = (size_t{1} << content.factors.size()); mask-- > 0;) {
    Term term{content.coefficient, {}};
    for (size_t i = 0; i < content.factors.size(); ++i) {
      if ((mask >> i & 1) != 0) term.factors.push_back(content.factors[i]);
    }
    monomials.push_back(term);
    if (term.coefficient != 1) monomials.push_back({1, term.factors});
  }
  return monomials;
}

// sum / monomial where it divides every term; nothing otherwise.
std::optional<Sum> DivideExactly(const Sum& sum, const Term& monomial) {
  Sum result;
  for (const Term& term : sum.terms) {
    std::optional<Term> quotient = DivideTerm(term, monomial);
    if (!quotient || term.coefficient % monomial.coefficient != 0) return std::nullopt;
    std::optional<Sum> next = AddScaled(result, SumOfTerm(*quotient), 1);
    if (!next) return std::nullopt;
    result = *next;
  }
  if (sum.constant == 0) return result;
  if (!monomial.factors.empty() || sum.constant % monomial.coefficient != 0) return std::nullopt;
  return AddScaled(result, SumOfConstant(sum.constant / monomial.coefficient), 1);
}

// The terms of `sum` that `scale` divides; the others and the constant go to `low`.
Sum PartDivisible(const Sum& sum, const Term& scale, Sum& low) {
  Sum high;
  bool numeric = scale.factors.empty();
  low.constant = numeric ? FloorModInt(sum.constant, scale.coefficient) : sum.constant;
  high.constant = sum.constant - low.constant;
  for (const Term& term : sum.terms) {
    bool divides = term.coefficient % scale.coefficient == 0 && DivideTerm(term, scale);
    (divides ? high : low).terms.push_back(term);
  }
  return high;
}

}  // namespace

Expr Simplifier::RewriteDivision(const Expr& e) {
  std::optional<Sum> a = Polynomial(e.arg(0)), b = Polynomial(e.arg(1));
  if (!a || !b) return e;
  bool truncates = e.op() == ExprOp::kDiv || e.op() == ExprOp::kTruncMod;
  if (truncates && (!NonNegative(*a) || !NonNegative(*b))) return e;
  bool quotient = e.op() == ExprOp::kFloorDiv || e.op() == ExprOp::kDiv;
  std::optional<Sum> result = Divide(*a, *b, quotient ? Mode::kFloorDiv : Mode::kMod);
  if (!result && truncates)
    return quotient ? FloorDiv(e.arg(0), e.arg(1)) : Mod(e.arg(0), e.arg(1));
  if (!result) return e;
  while (std::optional<Sum> shorter = Recombine(*result)) result = shorter;
  return SumToExpr(*result);
}

std::optional<Sum> Simplifier::Divide(const Sum& numerator, const Sum& divisor, Mode mode) {
  if (numerator.IsZero()) return Sum{};
  if (Positive(divisor)) return DividePositive(numerator, divisor, mode);
  std::optional<Sum> negated = Scale(divisor, -1);
  if (!negated || !Positive(*negated)) return std::nullopt;
  std::optional<Sum> opposite = Scale(numerator, -1);
  if (!opposite) return std::nullopt;
  std::optional<Sum> result = DividePositive(*opposite, *negated, mode);
  if (mode == Mode::kFloorDiv || !result) return result;
  return Scale(*result, -1);
}

std::optional<Sum> Simplifier::DividePositive(const Sum& numerator, const Sum& divisor, Mode mode) {
  constexpr int kMaxSteps = 16;
  Division division{.scale = SumOfConstant(1), .rest = numerator, .rest_divisor = divisor};
  for (int step = 0; step < kMaxSteps && !division.rest.IsZero(); ++step) {
    ExtractWhole(division);
    if (SettleByRange(division)) break;
    if (!ExtractLow(division)) break;
  }
  return mode == Mode::kFloorDiv ? FinishFloorDiv(division) : FinishMod(division);
}

bool Simplifier::ExtractWhole(Division& division) {
  if (!division.rest_divisor.IsConstant()) return ExtractWholeSymbolic(division);
  return ExtractByConstant(division, division.rest_divisor.constant);
}

// Long division by the leading term. By a divisor of several terms it is kept only where it settles
// the remainder or makes it shorter.
bool Simplifier::ExtractWholeSymbolic(Division& division) {
  constexpr int kMaxSteps = 32;
  const Sum& divisor = division.rest_divisor;
  Division trial = division;
  bool changed = false;
  for (int step = 0; step < kMaxSteps; ++step) {
    std::optional<Term> quotient;
    for (size_t i = 0; i < trial.rest.terms.size() && !quotient; ++i) {
      quotient = DivideTerm(trial.rest.terms[i], divisor.terms[0]);
    }
    if (!quotient) break;
    std::optional<Sum> product = Multiply(divisor, SumOfTerm(*quotient));
    std::optional<Sum> rest = product ? AddScaled(trial.rest, *product, -1) : std::nullopt;
    std::optional<Sum> whole = AddScaled(trial.whole, SumOfTerm(*quotient), 1);
    if (!rest || !whole) return false;
    trial.rest = *rest;
    trial.whole = *whole;
    changed = true;
  }
  bool single = divisor.terms.size() == 1 && divisor.constant == 0;
  bool shorter = trial.rest.terms.size() < division.rest.terms.size();
  Division settled = trial;
  if (!changed || (!single && !shorter && !SettleSymbolic(settled))) return false;
  division = trial;
  return true;
}

bool Simplifier::SettleByRange(Division& division) {
  if (division.rest.IsZero()) return true;
  if (!division.rest_divisor.IsConstant()) return SettleSymbolic(division);
  int64_t divisor = division.rest_divisor.constant;
  Interval range = RangeOfSum(division.rest);
  if (!IsBounded(range) || range.min > range.max) return false;
  int64_t k = FloorDivInt(range.min, divisor);
  if (k != FloorDivInt(range.max, divisor)) return false;
  return Shift(division, k) && Settle(division);
}

// rest in [k * d, (k + 1) * d) for k = 0, -1, 1.
bool Simplifier::SettleSymbolic(Division& division) {
  if (division.rest.IsZero()) return true;
  for (int64_t k : {0, -1, 1}) {
    Division trial = division;
    if (!Shift(trial, k) || !NonNegative(trial.rest)) continue;
    std::optional<Sum> room = AddScaled(trial.rest_divisor, trial.rest, -1);
    if (!room || !Positive(*room) || !Settle(trial)) continue;
    division = trial;
    return true;
  }
  return false;
}

// rest = scale * high + low with 0 <= low < scale, where scale divides the divisor: low drops out.
bool Simplifier::ExtractLow(Division& division) {
  const Sum& divisor = division.rest_divisor;
  if (divisor.IsConstant()) {
    for (int64_t scale : CommonScales(division.rest, divisor.constant)) {
      if (TryLow(division, {scale, {}})) return true;
    }
    return false;
  }
  for (const Term& scale : CommonMonomials(divisor)) {
    if (scale.factors.empty() && scale.coefficient == 1) continue;
    if (TryLow(division, scale)) return true;
  }
  return false;
}

bool Simplifier::TryLow(Division& division, const Term& scale) {
  Sum low, scale_sum = SumOfTerm(scale);
  std::optional<Sum> high = DivideExactly(PartDivisible(division.rest, scale, low), scale);
  std::optional<Sum> divisor = DivideExactly(division.rest_divisor, scale);
  if (!high || !divisor || !Positive(scale_sum) || !Positive(*divisor)) return false;
  if (high->IsConstant() && !divisor->IsConstant() &&
      low.terms.size() == division.rest.terms.size()) {
    return false;  // nothing is divided: 0 <= rest < scale <= divisor was tried already
  }
  Division part{.whole = *high, .scale = SumOfConstant(1), .rest = low, .rest_divisor = scale_sum};
  if (!SettleByRange(part)) return false;
  std::optional<Sum> lifted = Multiply(part.low, division.scale);
  std::optional<Sum> total = lifted ? AddScaled(division.low, *lifted, 1) : std::nullopt;
  std::optional<Sum> new_scale = Multiply(division.scale, scale_sum);
  if (!total || !new_scale) return false;
  division.low = *total;
  division.scale = *new_scale;
  division.rest = part.whole;
  division.rest_divisor = *divisor;
  return true;
}

// floor_div(floor_div(x, a) + c, d) = floor_div(x + a*c, a*d); floor_div(mod(x, a*d), d) =
// mod(floor_div(x, d), a).
std::optional<Sum> Simplifier::FinishFloorDiv(const Division& division) {
  if (division.rest.IsZero()) return division.whole;
  const Sum& rest = division.rest;
  std::optional<Sum> quotient;
  bool single = rest.terms.size() == 1 && rest.terms[0].factors.size() == 1;
  const Expr atom = single ? rest.terms[0].factors[0] : Expr(0);
  if (single && rest.terms[0].coefficient == 1 && atom.op() == ExprOp::kFloorDiv) {
    std::optional<Sum> x = Polynomial(atom.arg(0)), a = Polynomial(atom.arg(1));
    if (x && a && Positive(*a)) {
      x = AddScaled(*x, *a, rest.constant);
      a = Multiply(*a, division.rest_divisor);
      if (x && a) quotient = Divide(*x, *a, Mode::kFloorDiv);
    }
  }
  if (single && rest.terms[0].coefficient == 1 && rest.constant == 0 && atom.op() == ExprOp::kMod &&
      division.rest_divisor.IsConstant() && atom.arg(1).IsConst()) {
    int64_t d = division.rest_divisor.constant, modulus = *atom.arg(1).AsInt();
    std::optional<Sum> x = Polynomial(atom.arg(0));
    if (x && modulus > 0 && modulus % d == 0) {
      x = Divide(*x, SumOfConstant(d), Mode::kFloorDiv);
      if (x) quotient = Divide(*x, SumOfConstant(modulus / d), Mode::kMod);
    }
  }
  if (!quotient) {
    Expr result = FloorDiv(SumToExpr(rest), SumToExpr(division.rest_divisor));
    quotient = SumOf(result);
  }
  return quotient ? AddScaled(division.whole, *quotient, 1) : std::nullopt;
}

// mod(k*mod(x, a) + y, d) = mod(k*x + y, d) where d divides k*a.
std::optional<Sum> Simplifier::FinishMod(const Division& division) {
  if (division.rest.IsZero()) return division.low;
  std::optional<Sum> remainder;
  for (const Term& term : division.rest.terms) {
    if (term.factors.size() != 1 || term.factors[0].op() != ExprOp::kMod) continue;
    const Expr& atom = term.factors[0];
    std::optional<Sum> x = Polynomial(atom.arg(0)), a = Polynomial(atom.arg(1));
    if (!x || !a || !division.rest_divisor.IsConstant() || !a->IsConstant()) continue;
    std::optional<int64_t> step = CheckedMul(a->constant, term.coefficient);
    if (!step || a->constant <= 0 || *step % division.rest_divisor.constant != 0) continue;
    std::optional<Sum> rest = AddScaled(division.rest, SumOfTerm(term), -1);
    rest = rest ? AddScaled(*rest, *x, term.coefficient) : std::nullopt;
    if (rest) remainder = Divide(*rest, division.rest_divisor, Mode::kMod);
    break;
  }
  if (!remainder) {
    remainder = SumOf(Mod(SumToExpr(division.rest), SumToExpr(division.rest_divisor)));
  }
  if (remainder) remainder = Multiply(*remainder, division.scale);
  return remainder ? AddScaled(division.low, *remainder, 1) : std::nullopt;
}

}  // namespace aotc
