#include "compiler/ir/simplifier.h"

#include <algorithm>

#include "compiler/ir/expr_evaluate.h"

namespace aotc {
namespace {

bool AllConst(const std::vector<Expr>& args) {
  return std::all_of(args.begin(), args.end(), [](const Expr& arg) { return arg.IsConst(); });
}

// The value of an operator on integer constants.
std::optional<Expr> FoldConstants(const Expr& e) {
  if (e.args().empty() || e.op() == ExprOp::kLoad || !AllConst(e.args())) return std::nullopt;
  std::vector<int64_t> operands;
  for (const Expr& arg : e.args()) {
    std::optional<int64_t> value = arg.AsInt();
    if (!value) return std::nullopt;
    operands.push_back(*value);
  }
  std::optional<int64_t> value = EvaluateIntOp(e.op(), e.arg(0).dtype(), operands);
  if (!value) return std::nullopt;
  return IntConst(*value, e.dtype());
}

bool IsDivision(const Term& term) {
  return std::any_of(term.factors.begin(), term.factors.end(), [](const Expr& factor) {
    return factor.op() == ExprOp::kFloorDiv || factor.op() == ExprOp::kMod;
  });
}

// What a sum costs: divisions weigh more.
int CostOf(const Sum& sum) {
  constexpr int kDivision = 8;
  int cost = 0;
  for (const Term& term : sum.terms) cost += IsDivision(term) ? kDivision : 1;
  return cost;
}

}  // namespace

Simplifier::Simplifier(const Bounds& bounds, const Expr& subject) : bounds_(bounds) {
  contexts_.push_back(std::make_unique<Context>());
  for (const Expr& fact : bounds.FactsAbout(subject)) {
    AddFact(Simplify(fact));
    // What was simplified without the fact may be simpler with it.
    context().simplified.clear();
    context().ranges.clear();
  }
}

Expr Simplifier::Simplify(const Expr& e) {
  if (e.IsConst()) return e;
  auto found = context().simplified.find(e);
  if (found != context().simplified.end()) return found->second;
  Expr result = Rewrite(e);
  if (Same(result, e)) result = e;
  if (e.dtype() == DType::kBool) {
    if (std::optional<bool> value = Known(result)) result = Bool(*value);
  }
  context().simplified.emplace(e, result);
  return result;
}

Expr Simplifier::RewriteArgs(const Expr& e) {
  std::vector<Expr> args;
  args.reserve(e.args().size());
  bool changed = false;
  for (const Expr& arg : e.args()) {
    args.push_back(Simplify(arg));
    changed |= &*args.back() != &*arg;
  }
  return changed ? WithArgs(e, std::move(args)) : e;
}

Expr Simplifier::Rewrite(const Expr& e) {
  if (e.IsVar()) return RewriteVar(e);
  if (e.lanes() != 1) return RewriteArgs(e);
  if (e.op() == ExprOp::kSelect) return RewriteSelect(e);
  if (e.op() == ExprOp::kTable) return RewriteTable(e);
  if (e.op() == ExprOp::kAnd || e.op() == ExprOp::kOr) return RewriteLogic(e);
  Expr with_args = RewriteArgs(e);
  if (auto folded = FoldConstants(with_args)) return *folded;
  if (e.op() == ExprOp::kCast) return RewriteCast(with_args);
  if (e.op() == ExprOp::kBitCast) return RewriteBitCast(with_args);
  if (e.op() == ExprOp::kLoad || e.args().empty()) return with_args;
  DType operand = e.arg(0).dtype();
  if (operand == DType::kI64) return RewriteIndex(with_args);
  return IsFloat(operand) ? RewriteFloat(with_args) : RewriteNarrow(with_args);
}

Expr Simplifier::RewriteVar(const Expr& e) {
  if (e.dtype() != DType::kI64 || e.lanes() != 1) return e;
  auto replacement = facts().replacements.find(e->name);
  if (replacement != facts().replacements.end()) return Simplify(Expr(replacement->second));
  Interval range = Range(e);
  if (IsPoint(range)) return range.min;
  const Ends& ends = EndsOf(e->name);
  return ends.min.valid() && Same(ends.min, ends.max) ? Simplify(ends.min) : e;
}

Expr Simplifier::RewriteIndex(const Expr& e) {
  switch (e.op()) {
    case ExprOp::kAdd:
    case ExprOp::kSub:
    case ExprOp::kMul:
    case ExprOp::kNeg: return RewriteSum(e);
    case ExprOp::kFloorDiv:
    case ExprOp::kMod:
    case ExprOp::kDiv:
    case ExprOp::kTruncMod: return RewriteDivision(e);
    case ExprOp::kMin:
    case ExprOp::kMax: return RewriteMinMax(e);
    case ExprOp::kAbs: {
      Interval range = Range(e.arg(0));
      if (range.min >= 0) return e.arg(0);
      return range.max <= 0 ? Simplify(-e.arg(0)) : e;
    }
    default: return IsComparison(e.op()) ? RewriteCompare(e) : RewriteNarrow(e);
  }
}

Expr Simplifier::RewriteSum(const Expr& e) {
  std::optional<Sum> sum = SumOf(e);
  if (!sum) return e;
  while (std::optional<Sum> shorter = Recombine(*sum)) sum = shorter;
  return SumToExpr(*sum);
}

// k*mod(x, d) + k*d*floor_div(x, d) is k*x: finds one such pair.
std::optional<Sum> Simplifier::Recombine(const Sum& sum) {
  if (sum.terms.size() < 2) return std::nullopt;
  for (const Term& term : sum.terms) {
    if (auto shorter = RecombineTerm(sum, term)) return shorter;
  }
  return std::nullopt;
}

std::optional<Sum> Simplifier::RecombineTerm(const Sum& sum, const Term& term) {
  for (const Expr& factor : term.factors) {
    if (factor.op() != ExprOp::kMod) continue;
    std::optional<Sum> x = Polynomial(factor.arg(0)), d = Polynomial(factor.arg(1));
    if (!x || !d || !Positive(*d)) continue;
    std::optional<Sum> quotient = Divide(*x, *d, Mode::kFloorDiv);
    std::optional<Sum> product = quotient ? Multiply(*quotient, *d) : std::nullopt;
    std::optional<Sum> unrolled = product ? AddScaled(*x, *product, -1) : std::nullopt;
    if (!unrolled) continue;
    unrolled = Multiply(*unrolled, SumOfTerm(*WithoutFactor(term, factor)));
    std::optional<Sum> rest = AddScaled(sum, SumOfTerm(term), -1);
    std::optional<Sum> result = unrolled && rest ? AddScaled(*rest, *unrolled, 1) : std::nullopt;
    if (result && CostOf(*result) < CostOf(sum)) return result;
  }
  return std::nullopt;
}

}  // namespace aotc
