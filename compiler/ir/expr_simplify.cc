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

void Bounds::AddFact(const Expr& condition) { facts_.push_back(condition); }

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
    Expr next = Simplifier(bounds).Simplify(result);
    if (Same(next, result)) break;
    result = next;
  }
  return Same(result, e) ? e : result;
}

Interval RangeOf(const Expr& e, const Bounds& bounds) {
  Simplifier simplifier(bounds);
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
