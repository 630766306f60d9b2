#include "compiler/ir/expr_simplify.h"

#include <algorithm>

#include "compiler/ir/simplifier.h"

namespace aotc {

void Bounds::Add(std::string_view name, const Expr& min, const Expr& max) {
  int rank = static_cast<int>(ranges_.size());
  auto [position, inserted] = ranges_.try_emplace(std::string(name), rank, Range{min, max});
  if (!inserted) position->second.second = {min, max};
  elements_.erase(std::string(name));
}

void Bounds::AddElement(std::string_view name, const Interval& range) {
  Add(name, range.min, range.max);
  elements_.insert(std::string(name));
}

bool HasElements(const Expr& e, const Bounds& bounds) {
  bool found = false;
  Visit(e, [&](const Expr& node) {
    found = found || node.op() == ExprOp::kLoad || node.op() == ExprOp::kCast ||
            node.op() == ExprOp::kBitCast || (node.IsVar() && bounds.IsElement(node->name));
  });
  return found;
}

void Bounds::AddFact(const Expr& condition, std::set<std::string> known_with) {
  facts_.push_back({condition, FreeVars(condition), std::move(known_with)});
}

void Bounds::AddKnownBefore(std::string_view name, std::string_view earlier) {
  known_before_.emplace(name, earlier);
}

std::set<std::string> Bounds::KnownWith(const std::set<std::string>& vars) const {
  std::set<std::string> known = vars;
  std::vector<std::string> work(vars.begin(), vars.end());
  while (!work.empty()) {
    const auto [begin, end] = known_before_.equal_range(work.back());
    work.pop_back();
    for (auto earlier = begin; earlier != end; ++earlier) {
      if (known.insert(earlier->second).second) work.push_back(earlier->second);
    }
  }
  return known;
}

void Bounds::CloseOverRanges(std::set<std::string>& vars) const {
  std::vector<std::string> work(vars.begin(), vars.end());
  while (!work.empty()) {
    const Range* range = Find(work.back());
    work.pop_back();
    if (range == nullptr) continue;
    for (const Expr& end : {range->min, range->max}) {
      if (!end.valid() || end.IsConst()) continue;
      for (const std::string& var : FreeVars(end)) {
        if (vars.insert(var).second) work.push_back(var);
      }
    }
  }
}

std::vector<Expr> Bounds::FactsAbout(const Expr& e) const {
  if (facts_.empty()) return {};
  std::set<std::string> vars = FreeVars(e);
  CloseOverRanges(vars);
  const std::set<std::string> known = KnownWith(vars);
  std::vector<bool> about(facts_.size());
  const auto is_about = [&](const Fact& fact) {
    if (!std::ranges::includes(known, fact.known_with)) return false;
    return std::ranges::any_of(fact.vars, [&](const std::string& v) { return vars.contains(v); });
  };
  for (bool grows = true; grows;) {
    grows = false;
    for (size_t i = 0; i < facts_.size(); ++i) {
      if (about[i] || !is_about(facts_[i])) continue;
      about[i] = grows = true;
      vars.insert(facts_[i].vars.begin(), facts_[i].vars.end());
      CloseOverRanges(vars);
    }
  }
  std::vector<Expr> facts;
  for (size_t i = 0; i < facts_.size(); ++i) {
    if (about[i]) facts.push_back(facts_[i].holds);
  }
  return facts;
}

const Bounds::Range* Bounds::Find(std::string_view name) const {
  auto found = ranges_.find(name);
  return found == ranges_.end() ? nullptr : &found->second.second;
}

int Bounds::Rank(std::string_view name) const {
  auto found = ranges_.find(name);
  return found == ranges_.end() ? -1 : found->second.first;
}

Expr Simplify(const Expr& e, const Bounds& bounds) {
  // A rule may open the way for another one further down; two or three rounds settle it.
  constexpr int kMaxRounds = 6;
  if (e.IsConst()) return e;
  Expr result = e;
  for (int round = 0; round < kMaxRounds; ++round) {
    Expr next = Simplifier(bounds, result).Simplify(result);
    if (Same(next, result)) break;
    result = next;
  }
  return Same(result, e) ? e : result;
}

Interval RangeOf(const Expr& e, const Bounds& bounds) {
  Simplifier simplifier(bounds, e);
  return simplifier.Range(simplifier.Simplify(e));
}

std::optional<bool> Prove(const Expr& condition, const Bounds& bounds) {
  std::optional<int64_t> value = Simplify(condition, bounds).AsInt();
  if (!value) return std::nullopt;
  return *value != 0;
}

bool ProveEqual(const Expr& a, const Expr& b, const Bounds& bounds) {
  if (Same(a, b)) return true;
  return Prove(Eq(a, b), bounds).value_or(false);
}

bool ProveDivisible(const Expr& e, int64_t divisor, const Bounds& bounds) {
  return Simplify(Mod(e, divisor), bounds).IsInt(0);
}

std::optional<Affine> AsAffine(const Expr& e, const std::vector<std::string>& vars,
                               const Bounds& bounds) {
  auto named = [&](const Expr& factor) {
    return std::any_of(vars.begin(), vars.end(),
                       [&](const std::string& name) { return UsesVar(factor, name); });
  };
  if (e.dtype() != DType::kI64) return std::nullopt;
  std::optional<Sum> sum = SumOf(Simplify(e, bounds));
  if (!sum) return std::nullopt;
  Affine affine{.coefficients = {}, .rest = sum->constant};
  for (const Term& term : sum->terms) {
    Term coefficient = term;
    std::erase_if(coefficient.factors, named);
    size_t uses = term.factors.size() - coefficient.factors.size();
    if (uses == 0) affine.rest = affine.rest + TermToExpr(term);
    if (uses == 0) continue;
    auto factor = std::find_if(term.factors.begin(), term.factors.end(), named);
    if (uses > 1 || !factor->IsVar()) return std::nullopt;
    auto [position, inserted] = affine.coefficients.try_emplace((*factor)->name, 0);
    position->second = position->second + TermToExpr(coefficient);
  }
  affine.rest = Simplify(affine.rest, bounds);
  for (auto& [name, value] : affine.coefficients) value = Simplify(value, bounds);
  return affine;
}

}  // namespace aotc
