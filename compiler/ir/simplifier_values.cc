// Operators on values: narrow integers that wrap, bools, and the few exact rules on floats.
#include <bit>
#include <cmath>

#include "compiler/ir/constant.h"
#include "compiler/ir/expr_evaluate.h"
#include "compiler/ir/simplifier.h"

namespace aotc {
namespace {

bool IsFloatConst(const Expr& e, double value) {
  return e.IsConst() && IsFloat(e.dtype()) &&
         std::bit_cast<uint64_t>(e->float_value) == std::bit_cast<uint64_t>(value);
}

// Every value of `from` is a value of `to`.
bool Contains(DType to, DType from) {
  if (to == from || from == DType::kBool) return true;
  if (IsInteger(from) && IsInteger(to)) {
    Interval a = DTypeRange(from), b = DTypeRange(to);
    bool same_width = BitWidth(from) == BitWidth(to);
    return !same_width && b.min <= a.min && a.max <= b.max && from != DType::kU64;
  }
  if (IsInteger(from)) return SignificandBits(to) >= BitWidth(from) && to != DType::kF16;
  if (!IsFloat(from) || !IsFloat(to)) return false;
  if (to == DType::kF64) return true;
  return to == DType::kF32 && from != DType::kF64;
}

// The constant in another type where its value stays the same.
std::optional<Expr> CastConstant(const Expr& x, DType to) {
  if (!IsFloat(x.dtype()) && !IsFloat(to)) return IntConst(WrapInt(x->int_value, to), to);
  if (!IsFloat(x.dtype())) {
    int64_t limit = int64_t{1} << SignificandBits(to);
    bool exact = x.dtype() != DType::kU64 && to != DType::kF16 && SignificandBits(to) > 0;
    if (!exact || x->int_value > limit || x->int_value < -limit) return std::nullopt;
    return FloatConst(static_cast<double>(x->int_value), to);
  }
  double value = x->float_value;
  if (IsFloat(to)) {
    bool exact = to == DType::kF64 || to == DType::kF32;
    // A constant that f32 cannot hold means the nearest f32.
    bool is_f32 = std::isnan(value) || static_cast<double>(static_cast<float>(value)) == value;
    return exact && is_f32 ? std::optional(FloatConst(value, to)) : std::nullopt;
  }
  Interval range = DTypeRange(to);
  constexpr double kSafe = 9007199254740992.0;  // 2^53
  bool inside = std::abs(value) < kSafe && std::trunc(value) >= static_cast<double>(range.min) &&
                std::trunc(value) <= static_cast<double>(range.max);
  if (to == DType::kBool || !inside) return std::nullopt;
  return IntConst(static_cast<int64_t>(value), to);
}

bool IsZeroOf(const Expr& e) { return e.IsInt(0); }

// Identities with 0, 1 and equal operands, which hold for wrapping integers.
std::optional<Expr> IdentityOf(const Expr& e) {
  const Expr &a = e.arg(0), &b = e.arg(1);
  bool same = Same(a, b);
  switch (e.op()) {
    case ExprOp::kAdd:
    case ExprOp::kBitOr:
      if (IsZeroOf(a)) return b;
      return IsZeroOf(b) ? std::optional(a) : std::nullopt;
    case ExprOp::kSub:
      if (same) return IntConst(0, e.dtype());
      return IsZeroOf(b) ? std::optional(a) : std::nullopt;
    case ExprOp::kShiftLeft:
    case ExprOp::kShiftRight: return IsZeroOf(b) ? std::optional(a) : std::nullopt;
    case ExprOp::kMul:
      if (IsZeroOf(a) || b.IsInt(1)) return a;
      return IsZeroOf(b) || a.IsInt(1) ? std::optional(b) : std::nullopt;
    case ExprOp::kBitAnd:
      if (IsZeroOf(a) || same) return a;
      return IsZeroOf(b) ? std::optional(b) : std::nullopt;
    case ExprOp::kDiv:
    case ExprOp::kFloorDiv: return b.IsInt(1) ? std::optional(a) : std::nullopt;
    default: return std::nullopt;
  }
}

// min, max and comparisons whose outcome the ranges of the operands decide.
std::optional<Expr> DecideByRange(const Expr& e, const Interval& a, const Interval& b) {
  bool open = a.max == INT64_MAX || b.max == INT64_MAX;
  bool below = a.max < b.min && a.max != INT64_MAX, above = b.max < a.min && b.max != INT64_MAX;
  bool not_above = a.max <= b.min && !open, not_below = b.max <= a.min && !open;
  switch (e.op()) {
    case ExprOp::kMin:
    case ExprOp::kMax:
      if (not_above) return e.arg(e.op() == ExprOp::kMin ? 0 : 1);
      return not_below ? std::optional(e.arg(e.op() == ExprOp::kMin ? 1 : 0)) : std::nullopt;
    case ExprOp::kLt: return below || not_below ? std::optional(Bool(below)) : std::nullopt;
    case ExprOp::kLe: return not_above || above ? std::optional(Bool(not_above)) : std::nullopt;
    case ExprOp::kEq:
    case ExprOp::kNe:
      return below || above ? std::optional(Bool(e.op() == ExprOp::kNe)) : std::nullopt;
    default: return std::nullopt;
  }
}

}  // namespace

Expr Simplifier::RewriteNarrow(const Expr& e) {
  if (e.op() == ExprOp::kNot) return RewriteNot(e);
  if (e.args().size() != 2) return e;
  const Expr &a = e.arg(0), &b = e.arg(1);
  bool equality = e.op() == ExprOp::kEq || e.op() == ExprOp::kNe;
  if (equality && a.dtype() == DType::kBool) return RewriteBoolEquality(e);
  if (a.dtype() == DType::kBool) return e;
  if (auto identity = IdentityOf(e)) return *identity;
  bool order = IsComparison(e.op()) || e.op() == ExprOp::kMin || e.op() == ExprOp::kMax;
  if (!order) return e;
  if (Same(a, b)) {
    if (!IsComparison(e.op())) return a;
    return Bool(e.op() == ExprOp::kEq || e.op() == ExprOp::kLe);
  }
  if (auto decided = DecideByRange(e, Range(a), Range(b))) return *decided;
  return e;
}

Expr Simplifier::RewriteCast(const Expr& e) {
  const Expr& x = e.arg(0);
  DType to = e.dtype();
  if (x.dtype() == to) return x;
  if (x.IsConst()) {
    if (auto constant = CastConstant(x, to)) return *constant;
  }
  if (x.op() != ExprOp::kCast) return e;
  const Expr& inner = x.arg(0);
  bool exact = Contains(x.dtype(), inner.dtype());
  if (IsInteger(inner.dtype()) && IsInteger(x.dtype())) {
    Interval range = Range(inner), middle = DTypeRange(x.dtype());
    bool fits = IsBounded(range) && middle.min <= range.min && range.max <= middle.max;
    exact |= fits && x.dtype() != DType::kU64;
  }
  // A detour through a type that holds the value changes nothing.
  if (exact && to != DType::kBool) return Simplify(Cast(to, inner));
  return e;
}

Expr Simplifier::RewriteBitCast(const Expr& e) {
  const Expr& x = e.arg(0);
  const DType from = x.dtype(), to = e.dtype();
  if (x.op() == ExprOp::kBitCast) return Simplify(BitCast(to, x.arg(0)));
  if (!x.IsConst()) return e;
  // Literals of NaN do not tell one from another.
  const int64_t bits = IsFloat(from) ? BitsOfFloat(from, x->float_value) : x->int_value;
  if (std::isnan(IsFloat(from) ? x->float_value : FloatOfBits(to, bits))) return e;
  if (IsFloat(to)) return FloatConst(FloatOfBits(to, bits), to);
  return IntConst(WrapInt(bits, to), to);
}

// Only what is exact for NaN, infinities, -0.0 and in rounding.
Expr Simplifier::RewriteFloat(const Expr& e) {
  constexpr double kZero = 0.0, kOne = 1.0;
  if (IsUnary(e.op())) {
    const Expr& x = e.arg(0);
    if (e.op() == ExprOp::kNeg && x.op() == ExprOp::kNeg) return x.arg(0);
    if (e.op() == ExprOp::kNeg && x.IsConst()) return FloatConst(-x->float_value, e.dtype());
    if (e.op() == ExprOp::kAbs && x.op() == ExprOp::kAbs) return x;
    return e;
  }
  if (e.args().size() != 2) return e;
  const Expr &a = e.arg(0), &b = e.arg(1);
  switch (e.op()) {
    case ExprOp::kMul:
      if (IsFloatConst(b, kOne)) return a;
      return IsFloatConst(a, kOne) ? b : e;
    case ExprOp::kDiv: return IsFloatConst(b, kOne) ? a : e;
    case ExprOp::kAdd:
      if (IsFloatConst(b, -kZero)) return a;
      return IsFloatConst(a, -kZero) ? b : e;
    case ExprOp::kSub: return IsFloatConst(b, kZero) ? a : e;
    case ExprOp::kMin:
    case ExprOp::kMax: return Same(a, b) ? a : e;
    default: return e;
  }
}

}  // namespace aotc
