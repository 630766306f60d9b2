#include "compiler/lower/narrow_expr.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/ir/expr_text.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// What 32 bits compute exactly where operands and result fit.
bool IsArithmetic(ExprOp op) {
  switch (op) {
    case ExprOp::kNeg:
    case ExprOp::kAbs:
    case ExprOp::kSign:
    case ExprOp::kAdd:
    case ExprOp::kSub:
    case ExprOp::kMul:
    case ExprOp::kDiv:
    case ExprOp::kFloorDiv:
    case ExprOp::kMod:
    case ExprOp::kTruncMod:
    case ExprOp::kMin:
    case ExprOp::kMax:
    case ExprOp::kSelect: return true;
    default: return false;
  }
}

Expr WithOperands(const Expr& e, DType dtype, std::vector<Expr> args) {
  ExprNode node = *e;
  node.dtype = dtype;
  node.args = std::move(args);
  return Expr::Make(std::move(node));
}

bool IsOverSymbols(const Expr& e, const std::vector<Symbol>& symbols) {
  if (!LoadsOf(e).empty()) return false;
  const std::set<std::string> names = FreeVars(e);
  return std::ranges::all_of(names, [&](const std::string& name) {
    return std::ranges::any_of(symbols, [&](const Symbol& symbol) { return symbol.var == name; });
  });
}

}  // namespace

void IndexScope::Define(std::string_view name, const Expr& min, const Expr& max) {
  bounds.Add(name, min, max);
  indices.insert(std::string(name));
}

void IndexScope::DefineData(std::string_view name, const Interval& range) {
  bounds.AddElement(name, range);
  indices.erase(std::string(name));
}

bool NarrowExprs::HasData(const Expr& e) const {
  bool has = false;
  Visit(e, [&](const Expr& node) {
    const bool variable = node.IsVar() && !scope_.indices.contains(node->name);
    has |= node.dtype() == DType::kI64 &&
           (variable || node.op() == ExprOp::kLoad || node.op() == ExprOp::kCast ||
            node.op() == ExprOp::kBitCast);
  });
  return has;
}

// The least integer is left out: its literal is no int of C++.
bool NarrowExprs::Fits(const Expr& e) {
  const Interval range = RangeOf(e, scope_.bounds);
  if (range.min > INT32_MIN && range.max <= INT32_MAX) return true;
  if (!complaint_.empty()) return false;
  const bool above = range.max > INT32_MAX;
  const int64_t end = above ? range.max : range.min;
  const std::string text = PrintExpr(e, [&](TensorId id) { return function_.buffers[id].name; });
  complaint_ = end == INT64_MAX || end == INT64_MIN ? StrCat("nothing bounds ", text)
                                                    : StrCat(text, " reaches ", end);
  return false;
}

void NarrowExprs::Check(const Expr& e) { Fits(e); }

Expr NarrowExprs::Index(const Expr& e) {
  if (!Fits(e)) return e;
  if (e.IsConst()) return IntConst(e->int_value, DType::kI32);
  if (e.IsVar() && scope_.indices.contains(e->name)) return Var(e->name, DType::kI32);
  if (e.op() == ExprOp::kCast) return Cast(DType::kI32, Value(e.arg(0)));
  if (IsArithmetic(e.op())) {
    const std::string before = complaint_;
    Expr narrow = OfIndices(e);
    if (complaint_ == before || !HasData(e)) return narrow;
    complaint_ = before;
  }
  return Cast(DType::kI32, Value(e));
}

std::optional<Expr> NarrowExprs::TryIndex(const Expr& e) {
  const std::string before = std::exchange(complaint_, "");
  Expr narrow = Index(e);
  const std::string after = std::exchange(complaint_, before);
  return after.empty() ? std::optional(std::move(narrow)) : std::nullopt;
}

Expr NarrowExprs::OfIndices(const Expr& e) {
  std::vector<Expr> args;
  for (const Expr& arg : e.args()) {
    args.push_back(arg.dtype() == DType::kI64 ? Index(arg) : Value(arg));
  }
  return WithOperands(e, DType::kI32, std::move(args));
}

// Comparisons and casts of indices, which need not become wide first.
std::optional<Expr> NarrowExprs::OfNarrowOperands(const Expr& e) {
  const bool compares = IsComparison(e.op());
  const bool casts = e.op() == ExprOp::kCast && !HasData(e.arg(0));
  if ((!compares && !casts) || e.arg(0).dtype() != DType::kI64) return std::nullopt;
  std::vector<Expr> args;
  for (const Expr& arg : e.args()) {
    std::optional<Expr> narrow = TryIndex(arg);
    if (!narrow) return std::nullopt;
    args.push_back(*std::move(narrow));
  }
  return casts ? Cast(e.dtype(), args[0]) : WithOperands(e, DType::kBool, std::move(args));
}

Expr NarrowExprs::ValueOfSelect(const Expr& e) {
  const Expr condition = Value(e.arg(0));
  const IndexScope saved = scope_;
  Refine(scope_, e.arg(0), function_.symbols);
  const Expr if_true = Value(e.arg(1));
  scope_ = saved;
  return WithOperands(e, e.dtype(), {condition, if_true, Value(e.arg(2))});
}

Expr NarrowExprs::Value(const Expr& e) {
  if (e.lanes() != 1) complaint_ = complaint_.empty() ? "there are vectors" : complaint_;
  if (e.IsConst()) return e;
  if (e.IsVar()) {
    return scope_.indices.contains(e->name) ? Cast(DType::kI64, Var(e->name, DType::kI32)) : e;
  }
  if (e.op() == ExprOp::kLoad) {
    std::vector<Expr> indices;
    for (const Expr& index : e.args()) indices.push_back(Index(index));
    return WithArgs(e, std::move(indices));
  }
  if (e.dtype() == DType::kI64 && IsArithmetic(e.op()) && !HasData(e)) {
    if (const std::optional<Expr> narrow = TryIndex(e)) return Cast(DType::kI64, *narrow);
  }
  if (std::optional<Expr> narrow = OfNarrowOperands(e)) return *std::move(narrow);
  if (e.op() == ExprOp::kSelect) return ValueOfSelect(e);
  std::vector<Expr> args;
  for (const Expr& arg : e.args()) args.push_back(Value(arg));
  return WithArgs(e, std::move(args));
}

void Refine(IndexScope& scope, const Expr& condition, const std::vector<Symbol>& symbols) {
  if (condition.op() == ExprOp::kAnd) {
    for (const Expr& part : condition.args()) Refine(scope, part, symbols);
    return;
  }
  const bool below = condition.op() == ExprOp::kLt;
  if (!below && condition.op() != ExprOp::kLe) return;
  const Expr &x = condition.arg(0), &limit = condition.arg(1);
  if (!x.IsVar() || !scope.indices.contains(x->name) || !IsOverSymbols(limit, symbols)) return;
  const Bounds::Range* range = scope.bounds.Find(x->name);
  if (range == nullptr || IsOverSymbols(x, symbols)) return;
  const Expr most = Simplify(below ? limit - 1 : limit, scope.bounds);
  if (RangeOf(most, scope.bounds).max > RangeOf(x, scope.bounds).max) return;
  scope.bounds.Add(x->name, Expr(range->min), most);
}

Expr MostOf(const Expr& e, const Bounds& bounds, const std::vector<Symbol>& symbols) {
  Expr interval = RangeOf(e, bounds).max;
  const auto least = [&](const Expr& part) { return RangeOf(part, bounds).min; };
  Expr most;
  if (e.IsVar()) {
    const Bounds::Range* range = bounds.Find(e->name);
    most = range != nullptr && IsOverSymbols(range->max, symbols) ? range->max : interval;
  } else if (e.args().size() == 2 && e.dtype() == DType::kI64) {
    const Expr &a = e.arg(0), &b = e.arg(1);
    const bool counts = least(a) >= 0 && least(b) >= 1;
    const bool sized = counts && IsOverSymbols(b, symbols);
    const auto part = [&](const Expr& x) { return MostOf(x, bounds, symbols); };
    switch (e.op()) {
      case ExprOp::kAdd: most = part(a) + part(b); break;
      case ExprOp::kMul:
        most = least(a) >= 0 && least(b) >= 0 ? part(a) * part(b) : interval;
        break;
      case ExprOp::kMin: most = IsOverSymbols(b, symbols) ? b : interval; break;
      case ExprOp::kDiv:
      case ExprOp::kFloorDiv: most = sized ? FloorDiv(part(a), b) : interval; break;
      case ExprOp::kMod:
      case ExprOp::kTruncMod: most = sized ? b - 1 : interval; break;
      default: break;
    }
  }
  if (!most.valid()) return interval;
  most = Simplify(most, bounds);
  return RangeOf(most, bounds).max > interval.AsInt() ? interval : most;
}

}  // namespace aotc
