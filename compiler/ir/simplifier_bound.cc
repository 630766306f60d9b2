// Lower bounds of polynomials, by eliminating atoms through the ends of their ranges in order of
// rank: i is replaced by 0 or n - 1 before n is replaced by a number, so that n - 1 - i >= 0 is
// found.
#include <algorithm>
#include <set>
#include <utility>

#include "compiler/ir/simplifier.h"

namespace aotc {
namespace {

// coefficient * atom + rest
struct Split {
  Sum coefficient, rest;
};

Split SplitBy(const Sum& sum, const Expr& atom) {
  Split split;
  split.rest.constant = sum.constant;
  Sum coefficient;
  for (const Term& term : sum.terms) {
    std::optional<Term> without = WithoutFactor(term, atom);
    if (!without) split.rest.terms.push_back(term);
    if (without) coefficient = *AddScaled(coefficient, SumOfTerm(*without), 1);
  }
  split.coefficient = coefficient;
  return split;
}

bool Intersects(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) return true;
    (a[i] < b[j] ? i : j) += 1;
  }
  return false;
}

void Unite(std::vector<std::string>& into, const std::vector<std::string>& names) {
  std::set<std::string> all(into.begin(), into.end());
  all.insert(names.begin(), names.end());
  into.assign(all.begin(), all.end());
}

int64_t CeilDivInt(int64_t a, int64_t b) {
  return a == INT64_MIN ? a : FloorDivInt(a, b) + (FloorModInt(a, b) != 0 ? 1 : 0);
}

}  // namespace

// Ranges whose ends depend on themselves are as good as none.
const Bounds::Range* Simplifier::UsableRange(const std::string& name) {
  constexpr int kInWork = 1, kUsable = 2, kCyclic = 3;
  const Bounds::Range* range = bounds_.Find(name);
  if (range == nullptr) return nullptr;
  int& state = var_state_[name];
  if (state == kInWork) state = kCyclic;
  if (state != 0) return state == kUsable ? range : nullptr;
  state = kInWork;
  bool usable = true;
  for (const Expr& end : {range->min, range->max}) {
    for (const std::string& used : FreeVars(end)) {
      UsableRange(used);
      usable &= var_state_[used] != kCyclic && var_state_[used] != kInWork;
    }
  }
  var_state_[name] = usable ? kUsable : kCyclic;
  return usable ? range : nullptr;
}

const Simplifier::Ends& Simplifier::EndsOf(const std::string& name) {
  auto found = ends_.find(name);
  if (found != ends_.end()) return found->second;
  Ends ends;
  if (const Bounds::Range* range = UsableRange(name)) {
    int budget = std::exchange(budget_, 0);
    contexts_.push_back(std::make_unique<Context>());
    ends.min = Simplify(range->min);
    ends.max = Simplify(range->max);
    ends.range = {Range(ends.min).min, Range(ends.max).max};
    contexts_.pop_back();
    budget_ = budget;
  }
  return ends_[name] = ends;
}

Simplifier::AtomInfo Simplifier::VarInfo(const std::string& name) {
  AtomInfo info{.rank = bounds_.Rank(name), .support = {name}};
  const Bounds::Range* range = UsableRange(name);
  if (range == nullptr) return info;
  for (const Expr& end : {range->min, range->max}) {
    for (const std::string& used : FreeVars(end)) {
      const AtomInfo& below = InfoOf(Var(used));
      info.level = std::max(info.level, below.level + 1);
      Unite(info.support, below.support);
    }
  }
  return info;
}

const Simplifier::AtomInfo& Simplifier::InfoOf(const Expr& atom) {
  auto found = atoms_.find(atom);
  if (found != atoms_.end()) return *found->second;
  AtomInfo info;
  if (atom.IsVar()) {
    info = VarInfo(atom->name);
  } else {
    info.compound = true;
    for (const std::string& name : FreeVars(atom)) {
      const AtomInfo& var = InfoOf(Var(name));
      if (std::pair(var.level, var.rank) > std::pair(info.level, info.rank)) {
        info.level = var.level;
        info.rank = var.rank;
      }
      Unite(info.support, var.support);
    }
  }
  return *(atoms_[atom] = std::make_unique<AtomInfo>(std::move(info)));
}

bool Simplifier::EliminatedBefore(const Expr& a, const Expr& b) {
  const AtomInfo &x = InfoOf(a), &y = InfoOf(b);
  auto key = [](const AtomInfo& info) { return std::tuple(info.level, info.rank, info.compound); };
  return key(x) != key(y) ? key(x) > key(y) : CompareExprs(a, b) < 0;
}

// Whether the sum of the terms' ranges is the range of the sum: no two terms depend on one
// variable.
bool Simplifier::IsTermwiseExact(const Sum& sum) {
  std::vector<std::string> seen;
  for (const Term& term : sum.terms) {
    for (const Expr& factor : term.factors) {
      const AtomInfo& info = InfoOf(factor);
      if (Intersects(seen, info.support)) return false;
      Unite(seen, info.support);
    }
  }
  return true;
}

// Facts are combined only in the outermost search: they bring in atoms whose ranges are then
// wanted, and facts about those could lead back here.
int64_t Simplifier::LowerBound(const Sum& sum, int64_t goal) {
  constexpr int kBudget = 96, kFactDepth = 2;
  if (sum.IsConstant()) return sum.constant;
  int64_t quick = TermwiseRange(sum).min;
  if (quick >= goal) return quick;
  if (budget_ > 0) return std::max(quick, BoundByElimination(sum, goal));
  budget_ = kBudget;
  int64_t bound = BoundWithFacts(sum, goal, kFactDepth);
  budget_ = 0;
  return std::max(quick, bound);
}

// sum >= sum - m*fact for m > 0 and fact >= 0: tried for the m that cancels a term.
int64_t Simplifier::BoundWithFacts(const Sum& sum, int64_t goal, int depth) {
  int64_t best = BoundByElimination(sum, goal);
  if (depth == 0) return best;
  const std::vector<Sum> known = facts().nonnegative;
  for (const Sum& fact : known) {
    for (const Term& term : fact.terms) {
      if (best >= goal || budget_ <= 1) return best;
      auto match = std::find_if(sum.terms.begin(), sum.terms.end(),
                                [&](const Term& t) { return SameFactors(t, term); });
      if (match == sum.terms.end()) continue;
      int64_t times = match->coefficient / term.coefficient;
      if (times < 1) continue;
      std::optional<Sum> rest = AddScaled(sum, fact, -times);
      if (rest) best = std::max(best, BoundWithFacts(*rest, goal, depth - 1));
    }
  }
  return best;
}

int64_t Simplifier::BoundByElimination(const Sum& sum, int64_t goal) {
  if (sum.IsConstant()) return sum.constant;
  int64_t best = TermwiseRange(sum).min;
  if (best >= goal || budget_ <= 1 || IsTermwiseExact(sum)) return best;
  budget_ -= 1;
  const Expr* first = nullptr;
  for (const Term& term : sum.terms) {
    for (const Expr& factor : term.factors) {
      if (first == nullptr || EliminatedBefore(factor, *first)) first = &factor;
    }
  }
  Expr atom = *first;
  Split split = SplitBy(sum, atom);
  return std::max(best, Eliminate(atom, split.coefficient, split.rest, goal));
}

int64_t Simplifier::Eliminate(const Expr& atom, const Sum& coefficient, const Sum& rest,
                              int64_t goal) {
  std::optional<Sum> negated = Scale(coefficient, -1);
  bool rising = BoundByElimination(coefficient, 0) >= 0;
  if (!rising && (!negated || BoundByElimination(*negated, 0) < 0)) return INT64_MIN;
  switch (atom.op()) {
    case ExprOp::kMin: return BoundOfEither(atom, coefficient, rest, /*need_both=*/rising);
    case ExprOp::kMax: return BoundOfEither(atom, coefficient, rest, /*need_both=*/!rising);
    case ExprOp::kSelect: return BoundOfEither(atom, coefficient, rest, /*need_both=*/true);
    default: break;
  }
  int64_t bound = BoundAfter(rest, coefficient, EndOf(atom, /*upper=*/!rising), goal);
  if (bound >= goal || atom.op() != ExprOp::kFloorDiv) return bound;
  return std::max(bound, EliminateFloorDiv(atom, coefficient, rest, rising));
}

// The bound of rest + coefficient * value.
int64_t Simplifier::BoundAfter(const Sum& rest, const Sum& coefficient,
                               const std::optional<Sum>& value, int64_t goal) {
  std::optional<Sum> product = value ? Multiply(coefficient, *value) : std::nullopt;
  std::optional<Sum> sum = product ? AddScaled(rest, *product, 1) : std::nullopt;
  return sum ? BoundByElimination(*sum, goal) : INT64_MIN;
}

// For min, max and select: the value is one of two; either bound will do, or both must hold.
int64_t Simplifier::BoundOfEither(const Expr& atom, const Sum& coefficient, const Sum& rest,
                                  bool need_both) {
  size_t first = atom.op() == ExprOp::kSelect ? 1 : 0;
  int64_t a = BoundAfter(rest, coefficient, Polynomial(atom.arg(first)), INT64_MAX);
  if (need_both && a == INT64_MIN) return a;
  int64_t b = BoundAfter(rest, coefficient, Polynomial(atom.arg(first + 1)), INT64_MAX);
  return need_both ? std::min(a, b) : std::max(a, b);
}

// With f = floor_div(x, c): c*f is in [x - c + 1, x]. The sum is scaled by c, and its bound comes
// back rounded up, since the sum is an integer.
int64_t Simplifier::EliminateFloorDiv(const Expr& atom, const Sum& coefficient, const Sum& rest,
                                      bool rising) {
  std::optional<int64_t> divisor = atom.arg(1).AsInt();
  std::optional<Sum> x = Polynomial(atom.arg(0));
  if (!divisor || *divisor <= 0 || !x) return INT64_MIN;
  std::optional<Sum> scaled = Scale(rest, *divisor);
  if (rising) x = AddScaled(*x, SumOfConstant(*divisor - 1), -1);
  std::optional<Sum> product = x ? Multiply(coefficient, *x) : std::nullopt;
  std::optional<Sum> sum = scaled && product ? AddScaled(*scaled, *product, 1) : std::nullopt;
  return sum ? CeilDivInt(BoundByElimination(*sum, INT64_MAX), *divisor) : INT64_MIN;
}

std::optional<Sum> Simplifier::EndOf(const Expr& atom, bool upper) {
  if (atom.IsVar()) {
    if (std::optional<Sum> end = EndOfVar(atom, upper)) return end;
  }
  if (atom.op() == ExprOp::kMod && upper && !atom.arg(1).IsConst()) {
    std::optional<Sum> divisor = Polynomial(atom.arg(1));
    bool positive = divisor && BoundByElimination(*divisor, 1) >= 1;
    return positive ? AddScaled(*divisor, SumOfConstant(1), -1) : std::nullopt;
  }
  Interval range = Range(atom);
  int64_t end = upper ? range.max : range.min;
  if (end == INT64_MIN || end == INT64_MAX) return std::nullopt;
  return SumOfConstant(end);
}

// The end as it was given where that is symbolic; a number is left to Range, which knows the facts.
std::optional<Sum> Simplifier::EndOfVar(const Expr& var, bool upper) {
  const Ends& ends = EndsOf(var->name);
  const Expr& end = upper ? ends.max : ends.min;
  return !end.valid() || end.IsConst() ? std::nullopt : SumOf(end);
}

}  // namespace aotc
