// Ranges of integer expressions: intervals first, then symbolic elimination where operands depend
// on each other.
#include "compiler/ir/simplifier.h"

namespace aotc {
namespace {

bool FitsDType(const Interval& range, DType dtype) {
  if (dtype == DType::kI64) return true;
  Interval all = DTypeRange(dtype);
  return IsBounded(range) && dtype != DType::kU64 && all.min <= range.min && range.max <= all.max;
}

Interval RangeOfBinary(ExprOp op, const Interval& a, const Interval& b) {
  switch (op) {
    case ExprOp::kAdd: return AddIntervals(a, b);
    case ExprOp::kSub: return AddIntervals(a, NegateInterval(b));
    case ExprOp::kMul: return MultiplyIntervals(a, b);
    case ExprOp::kDiv: return TruncDivIntervals(a, b);
    case ExprOp::kFloorDiv: return FloorDivIntervals(a, b);
    case ExprOp::kMod: return ModIntervals(a, b);
    case ExprOp::kTruncMod: return TruncModIntervals(a, b);
    case ExprOp::kMin: return MinIntervals(a, b);
    case ExprOp::kMax: return MaxIntervals(a, b);
    case ExprOp::kBitAnd:
      if (a.min >= 0 && b.min >= 0) return {0, std::min(a.max, b.max)};
      if (b.min >= 0) return {0, b.max};
      return a.min >= 0 ? Interval{0, a.max} : Interval{};
    default: return {};
  }
}

bool IsSumOp(ExprOp op) {
  return op == ExprOp::kAdd || op == ExprOp::kSub || op == ExprOp::kMul || op == ExprOp::kNeg;
}

}  // namespace

Interval Simplifier::Range(const Expr& e) {
  const std::optional<int64_t> value = e.AsInt();
  const bool beyond = e.dtype() == DType::kU64 && value.value_or(0) < 0;  // from 2^63 on
  if (value && !beyond) return PointInterval(*value);
  if (e.lanes() != 1 || beyond) return DTypeRange(e.dtype());
  auto found = context().ranges.find(e);
  if (found != context().ranges.end()) return found->second;
  Interval range = ComputeRange(e);
  context().ranges.emplace(e, range);
  return range;
}

// Whether a sum or product may leave its type. Elements of tensors are any numbers, and arithmetic
// on them wraps; indices stay far from the ends.
bool Simplifier::MayWrap(const Expr& e) {
  if (e.dtype() != DType::kI64 || e.lanes() != 1 || !IsSumOp(e.op())) return false;
  const Interval a = Range(e.arg(0));
  const bool unary = e.op() == ExprOp::kNeg;
  const Interval range = unary ? NegateInterval(a) : RangeOfBinary(e.op(), a, Range(e.arg(1)));
  return !IsBounded(range) && HasElements(e, bounds_);
}

std::optional<Sum> Simplifier::Polynomial(const Expr& e) {
  std::vector<Expr> parts = {e};
  while (!parts.empty()) {
    const Expr part = parts.back();
    parts.pop_back();
    if (part.dtype() != DType::kI64 || !IsSumOp(part.op())) continue;
    if (MayWrap(part)) return std::nullopt;
    parts.insert(parts.end(), part.args().begin(), part.args().end());
  }
  return SumOf(e);
}

Interval Simplifier::ComputeRange(const Expr& e) {
  if (e.IsVar()) return TightenByFacts(e, RangeOfVar(e));
  if (MayWrap(e)) return TightenByFacts(e, {});
  if (e.dtype() == DType::kI64 && IsSumOp(e.op())) {
    std::optional<Sum> sum = Polynomial(e);
    bool itself = sum && sum->terms.size() == 1 && sum->terms[0].factors.size() == 1 &&
                  Same(sum->terms[0].factors[0], e);
    if (sum && !itself) return RangeOfSum(*sum);
  }
  Interval range = RangeOfOperator(e);
  if (e.dtype() == DType::kI64) return TightenByFacts(e, range);
  return FitsDType(range, e.dtype()) ? range : DTypeRange(e.dtype());
}

Interval Simplifier::RangeOfVar(const Expr& e) {
  if (e.dtype() != DType::kI64) return DTypeRange(e.dtype());
  return EndsOf(e->name).range;
}

Interval Simplifier::RangeOfOperator(const Expr& e) {
  Interval all = DTypeRange(e.dtype());
  if (e.op() == ExprOp::kLoad || IsFloat(e.arg(0).dtype()) || IsFloat(e.dtype())) return all;
  if (e.op() == ExprOp::kTable) {
    Interval range = Range(e.arg(1));
    for (const Expr& value : e.args()) {
      if (&value != &e.arg(0)) range = UniteIntervals(range, Range(value));
    }
    return range;
  }
  if (e.op() == ExprOp::kSelect) return UniteIntervals(Range(e.arg(1)), Range(e.arg(2)));
  if (e.op() == ExprOp::kCast) {
    const Interval range = Range(e.arg(0));
    const bool may_turn_negative = e.arg(0).dtype() == DType::kU64 && range.max == INT64_MAX;
    return may_turn_negative ? all : range;
  }
  if (e.dtype() == DType::kBool) return all;
  if (e.op() == ExprOp::kNeg) return NegateInterval(Range(e.arg(0)));
  if (e.op() == ExprOp::kSign) {
    Interval x = Range(e.arg(0));
    return {x.min > 0 ? 1 : (x.min == 0 ? 0 : -1), x.max < 0 ? -1 : (x.max == 0 ? 0 : 1)};
  }
  if (e.op() == ExprOp::kAbs) {
    Interval x = Range(e.arg(0));
    if (x.min == INT64_MIN) return all;  // which has no positive
    return MaxIntervals(MaxIntervals(x, NegateInterval(x)), PointInterval(0));
  }
  if (!IsBinary(e.op()) || e.dtype() == DType::kU64) return all;
  return RangeOfBinary(e.op(), Range(e.arg(0)), Range(e.arg(1)));
}

Interval Simplifier::TermwiseRange(const Sum& sum) {
  Interval total = PointInterval(sum.constant);
  for (const Term& term : sum.terms) {
    Interval product = PointInterval(term.coefficient);
    for (const Expr& factor : term.factors) product = MultiplyIntervals(product, Range(factor));
    total = AddIntervals(total, product);
  }
  return total;
}

Interval Simplifier::RangeOfSum(const Sum& sum) {
  Interval range = TermwiseRange(sum);
  if (facts().nonnegative.empty() && IsTermwiseExact(sum)) return range;
  range.min = std::max(range.min, LowerBound(sum, INT64_MAX));
  if (std::optional<Sum> negated = Scale(sum, -1)) {
    int64_t bound = LowerBound(*negated, INT64_MAX);
    if (bound != INT64_MIN) range.max = std::min(range.max, -bound);
  }
  return range;
}

}  // namespace aotc
