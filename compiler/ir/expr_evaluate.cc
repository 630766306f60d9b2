#include "compiler/ir/expr_evaluate.h"

#include <algorithm>
#include <cmath>

#include "compiler/ir/expr_linear.h"
#include "compiler/ir/expr_simplify.h"

namespace aotc {
namespace {

using MaybeInt = std::optional<int64_t>;

bool Less(int64_t a, int64_t b, DType dtype) {
  if (dtype == DType::kU64) return static_cast<uint64_t>(a) < static_cast<uint64_t>(b);
  return a < b;
}

// Division of every kind on values that fit i64; -INT64_MIN is an overflow.
MaybeInt Divide(ExprOp op, int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) {
    if (op == ExprOp::kMod || op == ExprOp::kTruncMod) return 0;
    return CheckedMul(a, -1);
  }
  bool adjust = a % b != 0 && (a < 0) != (b < 0);
  if (op == ExprOp::kDiv) return a / b;
  if (op == ExprOp::kTruncMod) return a % b;
  if (op == ExprOp::kFloorDiv) return a / b - (adjust ? 1 : 0);
  return a % b + (adjust ? b : 0);
}

MaybeInt DivideUnsigned(ExprOp op, uint64_t a, uint64_t b) {
  if (b == 0) return 0;
  bool quotient = op == ExprOp::kDiv || op == ExprOp::kFloorDiv;
  return static_cast<int64_t>(quotient ? a / b : a % b);
}

// Modulo 2^64 for all types but i64, whose arithmetic must not overflow.
MaybeInt AddSubMul(ExprOp op, DType dtype, int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflow = false;
  if (op == ExprOp::kAdd) overflow = __builtin_add_overflow(a, b, &result);
  if (op == ExprOp::kSub) overflow = __builtin_sub_overflow(a, b, &result);
  if (op == ExprOp::kMul) overflow = __builtin_mul_overflow(a, b, &result);
  if (overflow && dtype == DType::kI64) return std::nullopt;
  return result;
}

MaybeInt Shift(ExprOp op, DType dtype, int64_t a, int64_t b) {
  if (b < 0 || b >= BitWidth(dtype)) return std::nullopt;
  auto bits = static_cast<uint64_t>(a);
  if (op == ExprOp::kShiftLeft) return static_cast<int64_t>(bits << b);
  return IsUnsignedInteger(dtype) ? static_cast<int64_t>(bits >> b) : a >> b;
}

MaybeInt EvaluateUnary(ExprOp op, DType dtype, int64_t a) {
  switch (op) {
    case ExprOp::kNeg: return AddSubMul(ExprOp::kSub, dtype, 0, a);
    case ExprOp::kNot: return a == 0 ? 1 : 0;
    case ExprOp::kBitNot: return dtype == DType::kBool ? 1 - a : ~a;
    case ExprOp::kAbs:
      if (IsUnsignedInteger(dtype) || a >= 0) return a;
      return AddSubMul(ExprOp::kSub, dtype, 0, a);
    case ExprOp::kSign:
      if (a == 0) return 0;
      return IsUnsignedInteger(dtype) || a > 0 ? 1 : -1;
    default: return std::nullopt;
  }
}

MaybeInt EvaluateBinary(ExprOp op, DType dtype, int64_t a, int64_t b) {
  switch (op) {
    case ExprOp::kAdd:
    case ExprOp::kSub:
    case ExprOp::kMul: return AddSubMul(op, dtype, a, b);
    case ExprOp::kDiv:
    case ExprOp::kFloorDiv:
    case ExprOp::kMod:
    case ExprOp::kTruncMod:
      if (dtype != DType::kU64) return Divide(op, a, b);
      return DivideUnsigned(op, static_cast<uint64_t>(a), static_cast<uint64_t>(b));
    case ExprOp::kMin: return Less(b, a, dtype) ? b : a;
    case ExprOp::kMax: return Less(a, b, dtype) ? b : a;
    case ExprOp::kBitAnd: return a & b;
    case ExprOp::kBitOr: return a | b;
    case ExprOp::kBitXor: return a ^ b;
    case ExprOp::kShiftLeft:
    case ExprOp::kShiftRight: return Shift(op, dtype, a, b);
    case ExprOp::kEq: return a == b;
    case ExprOp::kNe: return a != b;
    case ExprOp::kLt: return Less(a, b, dtype);
    case ExprOp::kLe: return !Less(b, a, dtype);
    case ExprOp::kAnd: return a != 0 && b != 0;
    case ExprOp::kOr: return a != 0 || b != 0;
    default: return std::nullopt;
  }
}

using Values = std::map<std::string, int64_t, std::less<>>;

MaybeInt EvaluateOperands(const Expr& e, const Values& values) {
  std::vector<int64_t> operands;
  for (const Expr& arg : e.args()) {
    MaybeInt value = EvaluateInt(arg, values);
    if (!value) return std::nullopt;
    operands.push_back(*value);
  }
  if (e.op() == ExprOp::kCast) {
    return IsFloat(e.arg(0).dtype()) ? std::nullopt : MaybeInt(WrapInt(operands[0], e.dtype()));
  }
  return EvaluateIntOp(e.op(), e.arg(0).dtype(), operands);
}

}  // namespace

int64_t WrapInt(int64_t value, DType dtype) {
  if (dtype == DType::kBool) return value != 0 ? 1 : 0;
  int unused = 64 - BitWidth(dtype);
  auto shifted = static_cast<int64_t>(static_cast<uint64_t>(value) << unused);
  if (IsUnsignedInteger(dtype))
    return static_cast<int64_t>(static_cast<uint64_t>(shifted) >> unused);
  return shifted >> unused;
}

MaybeInt EvaluateIntOp(ExprOp op, DType dtype, std::span<const int64_t> operands) {
  if (IsFloat(dtype)) return std::nullopt;
  MaybeInt result;
  if (operands.size() == 1) result = EvaluateUnary(op, dtype, operands[0]);
  if (operands.size() == 2) result = EvaluateBinary(op, dtype, operands[0], operands[1]);
  if (!result) return std::nullopt;
  bool is_test = IsComparison(op) || op == ExprOp::kNot || op == ExprOp::kAnd || op == ExprOp::kOr;
  return is_test ? *result : WrapInt(*result, dtype);
}

MaybeInt EvaluateInt(const Expr& e, const Values& values) {
  if (e.lanes() != 1 || IsFloat(e.dtype())) return std::nullopt;
  if (e.IsConst()) return e->int_value;
  if (e.IsVar()) {
    auto found = values.find(e->name);
    return found == values.end() ? std::nullopt : MaybeInt(found->second);
  }
  if (e.op() == ExprOp::kSelect) {
    MaybeInt condition = EvaluateInt(e.arg(0), values);
    return condition ? EvaluateInt(e.arg(*condition != 0 ? 1 : 2), values) : std::nullopt;
  }
  if (e.op() == ExprOp::kTable) return EvaluateInt(WithoutTables(e), values);
  if (e.op() == ExprOp::kLoad) return std::nullopt;
  return EvaluateOperands(e, values);
}

bool IsKnownNumber(const Expr& e) {
  const Expr& scalar = e.op() == ExprOp::kBroadcast ? e.arg(0) : e;
  return scalar.IsConst() && IsFloat(scalar.dtype()) && !std::isnan(scalar->float_value);
}

bool PutsConstantFirst(const Expr& e) {
  return (e.op() == ExprOp::kMax || e.op() == ExprOp::kMin) && IsKnownNumber(e.arg(1));
}

}  // namespace aotc
