// Bool algebra and select: each operand is simplified under what its neighbours imply.
#include <algorithm>

#include "compiler/ir/simplifier.h"

namespace aotc {
namespace {

bool IsBoolConst(const Expr& e, bool value) { return e.IsConst() && (e->int_value != 0) == value; }

void Flatten(const Expr& e, ExprOp op, std::vector<Expr>& operands) {
  if (e.op() == op && e.lanes() == 1) {
    for (const Expr& arg : e.args()) Flatten(arg, op, operands);
    return;
  }
  bool seen =
      std::any_of(operands.begin(), operands.end(), [&](const Expr& o) { return Same(o, e); });
  if (!seen) operands.push_back(e);
}

bool HasLoad(const Expr& e) {
  bool found = false;
  Visit(e, [&](const Expr& node) { found |= node.op() == ExprOp::kLoad; });
  return found;
}

// Whether the condition says something about indices or flags. One about floats says nothing that
// its branches could use, and a context for each of them would copy what they share.
bool Informs(const Expr& condition) {
  switch (condition.op()) {
    case ExprOp::kAnd:
    case ExprOp::kOr:
    case ExprOp::kNot:
      return std::any_of(condition.args().begin(), condition.args().end(), Informs);
    case ExprOp::kVar: return true;
    default: return IsComparison(condition.op()) && condition.arg(0).dtype() == DType::kI64;
  }
}

// The chosen branch where `e` is a select on the condition, which is known to be `truth`.
Expr BranchOf(const Expr& e, const Expr& condition, bool truth) {
  bool same = e.op() == ExprOp::kSelect && Same(e.arg(0), condition);
  return same ? e.arg(truth ? 1 : 2) : e;
}

}  // namespace

Expr Negated(const Expr& condition) {
  const Expr& e = condition;
  if (auto value = e.AsInt()) return Bool(*value == 0);
  switch (e.op()) {
    case ExprOp::kNot: return e.arg(0);
    case ExprOp::kEq: return Ne(e.arg(0), e.arg(1));
    case ExprOp::kNe: return Eq(e.arg(0), e.arg(1));
    case ExprOp::kAnd: return Or(Negated(e.arg(0)), Negated(e.arg(1)));
    case ExprOp::kOr: return And(Negated(e.arg(0)), Negated(e.arg(1)));
    case ExprOp::kLt:
    case ExprOp::kLe:
      if (IsFloat(e.arg(0).dtype())) return Not(e);  // NaN is neither less nor not less
      return e.op() == ExprOp::kLt ? Le(e.arg(1), e.arg(0)) : Lt(e.arg(1), e.arg(0));
    default: return Not(e);
  }
}

// Operand `index` in the light of the others. A load must stay behind the conditions that guard it,
// so what holds a load is rewritten only by what stands before it; the rest may know everything.
Expr Simplifier::SimplifyOperandOfLogic(const std::vector<Expr>& operands, size_t index,
                                        bool is_and) {
  const Expr& operand = operands[index];
  if (operands.size() == 1) return operand;
  Assume others(*this, Bool(true));
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i != index) others.Add(operands[i], is_and);
  }
  Expr result = Simplify(operand);
  if (result.IsConst() || !HasLoad(operand)) return result;
  Assume earlier(*this, Bool(true));
  context().facts = contexts_[contexts_.size() - 3]->facts;
  for (size_t i = 0; i < index; ++i) earlier.Add(operands[i], is_and);
  return Simplify(operand);
}

Expr Simplifier::RewriteLogic(const Expr& e) {
  bool is_and = e.op() == ExprOp::kAnd;
  std::vector<Expr> operands;
  Flatten(RewriteArgs(e), e.op(), operands);
  for (size_t i = 0; i < operands.size();) {
    Expr operand = SimplifyOperandOfLogic(operands, i, is_and);
    if (IsBoolConst(operand, !is_and)) return Bool(!is_and);
    bool neutral = IsBoolConst(operand, is_and);
    if (neutral) operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(i));
    if (!neutral) operands[i++] = operand;
  }
  if (operands.empty()) return Bool(is_and);
  Expr result = operands[0];
  for (size_t i = 1; i < operands.size(); ++i) result = Binary(e.op(), result, operands[i]);
  return result;
}

Expr Simplifier::RewriteNot(const Expr& e) {
  Expr negated = Negated(e.arg(0));
  return negated.op() == ExprOp::kNot ? negated : Simplify(negated);
}

Expr Simplifier::RewriteSelect(const Expr& e) {
  Expr condition = Simplify(e.arg(0));
  if (auto value = condition.AsInt()) return Simplify(e.arg(*value != 0 ? 1 : 2));
  if (condition.op() == ExprOp::kNot) {
    return Simplify(Select(condition.arg(0), e.arg(2), e.arg(1)));
  }
  auto branch = [&](const Expr& value, bool truth) {
    if (value.IsConst()) return value;
    if (!Informs(condition)) return BranchOf(Simplify(value), condition, truth);
    Assume assume(*this, condition, truth);
    return Simplify(value);
  };
  Expr if_true = branch(e.arg(1), true), if_false = branch(e.arg(2), false);
  if (Same(if_true, if_false)) return if_true;
  if (e.dtype() == DType::kBool && if_true.IsConst() && if_false.IsConst()) {
    return IsBoolConst(if_true, true) ? condition : Simplify(Negated(condition));
  }
  // Two guards of one value are one guard.
  if (if_true.op() == ExprOp::kSelect && Same(if_true.arg(2), if_false)) {
    return Simplify(Select(And(condition, if_true.arg(0)), if_true.arg(1), if_false));
  }
  return WithArgs(e, {condition, if_true, if_false});
}

Expr Simplifier::RewriteTable(const Expr& e) {
  Expr with_args = RewriteArgs(e);
  const std::optional<int64_t> index = with_args.arg(0).AsInt();
  if (!index) return with_args;
  const auto last = static_cast<int64_t>(with_args.args().size()) - 1;
  const bool is_beyond = *index < 0 || *index >= last;
  return with_args.arg(static_cast<size_t>(is_beyond ? last : *index + 1));
}

Expr Simplifier::RewriteBoolEquality(const Expr& e) {
  for (size_t i : {0, 1}) {
    if (!e.arg(i).IsConst()) continue;
    bool keep = IsBoolConst(e.arg(i), e.op() == ExprOp::kEq);
    return keep ? e.arg(1 - i) : Simplify(Negated(e.arg(1 - i)));
  }
  return Same(e.arg(0), e.arg(1)) ? Bool(e.op() == ExprOp::kEq) : e;
}

}  // namespace aotc
