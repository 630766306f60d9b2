// Integer and bool arithmetic of row programs. Sums are done in uint64_t, where overflow wraps.
#include "compiler/eval/row_loops.h"
#include "compiler/ir/constant.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

uint64_t U(int64_t x) { return static_cast<uint64_t>(x); }
int64_t S(uint64_t x) { return static_cast<int64_t>(x); }

int64_t TruncDivide(int64_t a, int64_t b) {
  if (b == 0) return 0;
  return b == -1 ? S(-U(a)) : a / b;
}
int64_t TruncRemainder(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
int64_t FloorDivide(int64_t a, int64_t b) {
  int64_t quotient = TruncDivide(a, b);
  int64_t rest = TruncRemainder(a, b);
  return quotient - (rest != 0 && (rest < 0) != (b < 0) ? 1 : 0);
}
int64_t FloorRemainder(int64_t a, int64_t b) {
  int64_t rest = TruncRemainder(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// By squaring; a negative exponent truncates as the division 1 / a^n does.
int64_t Power(int64_t a, int64_t b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
  uint64_t result = 1, factor = U(a);
  for (uint64_t n = U(b); n != 0; n >>= 1, factor *= factor) {
    if ((n & 1) != 0) result *= factor;
  }
  return S(result);
}

// Shifts by the width or more give 0, or the sign.
int64_t ShiftLeft(int64_t a, int64_t b) { return U(b) > 63 ? 0 : S(U(a) << b); }
int64_t ShiftRightSigned(int64_t a, int64_t b) { return a >> (U(b) > 63 ? 63 : b); }
int64_t ShiftRightUnsigned(int64_t a, int64_t b) { return U(b) > 63 ? 0 : S(U(a) >> b); }

template <class T>
int64_t WrapTo(int64_t x) {
  return static_cast<int64_t>(static_cast<T>(x));
}

struct Row {
  RowOperand<int64_t> a, b;
  int64_t* result;
  int count;

  template <class F>
  bool Zip(F f) const {
    ZipLanes(a, b, result, count, f);
    return true;
  }
};

// What differs between u64 and the other types, whose values all lie in int64_t.
bool UnsignedOp(ExprOp op, const Row& row) {
  switch (op) {
    case ExprOp::kDiv:
    case ExprOp::kFloorDiv:
      return row.Zip([](int64_t x, int64_t y) { return y == 0 ? 0 : S(U(x) / U(y)); });
    case ExprOp::kMod:
    case ExprOp::kTruncMod:
      return row.Zip([](int64_t x, int64_t y) { return y == 0 ? 0 : S(U(x) % U(y)); });
    case ExprOp::kMin: return row.Zip([](int64_t x, int64_t y) { return U(x) < U(y) ? x : y; });
    case ExprOp::kMax: return row.Zip([](int64_t x, int64_t y) { return U(x) > U(y) ? x : y; });
    case ExprOp::kLt: return row.Zip([](int64_t x, int64_t y) { return int64_t{U(x) < U(y)}; });
    case ExprOp::kLe: return row.Zip([](int64_t x, int64_t y) { return int64_t{U(x) <= U(y)}; });
    case ExprOp::kShiftRight: return row.Zip(ShiftRightUnsigned);
    default: return false;
  }
}

bool SignedOp(ExprOp op, const Row& row) {
  switch (op) {
    case ExprOp::kDiv: return row.Zip(TruncDivide);
    case ExprOp::kFloorDiv: return row.Zip(FloorDivide);
    case ExprOp::kMod: return row.Zip(FloorRemainder);
    case ExprOp::kTruncMod: return row.Zip(TruncRemainder);
    case ExprOp::kMin: return row.Zip([](int64_t x, int64_t y) { return x < y ? x : y; });
    case ExprOp::kMax: return row.Zip([](int64_t x, int64_t y) { return x > y ? x : y; });
    case ExprOp::kLt: return row.Zip([](int64_t x, int64_t y) { return int64_t{x < y}; });
    case ExprOp::kLe: return row.Zip([](int64_t x, int64_t y) { return int64_t{x <= y}; });
    case ExprOp::kShiftRight: return row.Zip(ShiftRightSigned);
    default: return false;
  }
}

// Wrapping sums and bits: the same for all types before the result is wrapped.
bool CommonOp(ExprOp op, const Row& row) {
  switch (op) {
    case ExprOp::kAdd: return row.Zip([](int64_t x, int64_t y) { return S(U(x) + U(y)); });
    case ExprOp::kSub: return row.Zip([](int64_t x, int64_t y) { return S(U(x) - U(y)); });
    case ExprOp::kMul: return row.Zip([](int64_t x, int64_t y) { return S(U(x) * U(y)); });
    case ExprOp::kPow: return row.Zip(Power);
    case ExprOp::kBitAnd:
    case ExprOp::kAnd: return row.Zip([](int64_t x, int64_t y) { return x & y; });
    case ExprOp::kBitOr:
    case ExprOp::kOr: return row.Zip([](int64_t x, int64_t y) { return x | y; });
    case ExprOp::kBitXor: return row.Zip([](int64_t x, int64_t y) { return x ^ y; });
    case ExprOp::kShiftLeft: return row.Zip(ShiftLeft);
    case ExprOp::kEq: return row.Zip([](int64_t x, int64_t y) { return int64_t{x == y}; });
    case ExprOp::kNe: return row.Zip([](int64_t x, int64_t y) { return int64_t{x != y}; });
    default: return false;
  }
}

bool MayLeaveRange(ExprOp op) {
  return op == ExprOp::kAdd || op == ExprOp::kSub || op == ExprOp::kMul || op == ExprOp::kPow ||
         op == ExprOp::kShiftLeft || op == ExprOp::kDiv || op == ExprOp::kFloorDiv ||
         op == ExprOp::kNeg || op == ExprOp::kAbs || op == ExprOp::kBitNot;
}

bool IsWide(DType dtype) { return dtype == DType::kI64 || dtype == DType::kU64; }

}  // namespace

void IntUnaryRow(ExprOp op, DType dtype, RowOperand<int64_t> a, int64_t* result, int count) {
  bool is_unsigned = IsUnsignedInteger(dtype);
  switch (op) {
    case ExprOp::kNeg: MapLanes(a, result, count, [](int64_t x) { return S(-U(x)); }); break;
    case ExprOp::kNot: return MapLanes(a, result, count, [](int64_t x) { return int64_t{x == 0}; });
    case ExprOp::kBitNot: MapLanes(a, result, count, [](int64_t x) { return ~x; }); break;
    case ExprOp::kAbs:
      if (is_unsigned) return MapLanes(a, result, count, [](int64_t x) { return x; });
      MapLanes(a, result, count, [](int64_t x) { return x < 0 ? S(-U(x)) : x; });
      break;
    case ExprOp::kSign:
      if (is_unsigned) return MapLanes(a, result, count, [](int64_t x) { return int64_t{x != 0}; });
      return MapLanes(a, result, count, [](int64_t x) { return int64_t{x > 0} - int64_t{x < 0}; });
    case ExprOp::kFloor:
    case ExprOp::kCeil:
    case ExprOp::kRound:
    case ExprOp::kTrunc: return MapLanes(a, result, count, [](int64_t x) { return x; });
    default: AOTC_CHECK(false) << ExprOpName(op) << " of an integer";
  }
  if (!IsWide(dtype)) WrapRow(dtype, {result, false}, result, count);
}

void IntBinaryRow(ExprOp op, DType dtype, const RowOperand<int64_t> (&operands)[2], int64_t* result,
                  int count) {
  Row row = {operands[0], operands[1], result, count};
  bool done = CommonOp(op, row) || (dtype == DType::kU64 ? UnsignedOp(op, row) : SignedOp(op, row));
  AOTC_CHECK(done) << ExprOpName(op) << " of integers";
  if (!IsWide(dtype) && MayLeaveRange(op)) WrapRow(dtype, {result, false}, result, count);
}

void IntToFloatRow(DType from, DType to, RowOperand<int64_t> a, double* result, int count) {
  if (to == DType::kF32 && from == DType::kU64) {
    return MapLanes(a, result, count, [](int64_t x) { return double{static_cast<float>(U(x))}; });
  }
  if (to == DType::kF32) {
    return MapLanes(a, result, count, [](int64_t x) { return double{static_cast<float>(x)}; });
  }
  if (from == DType::kU64) {
    MapLanes(a, result, count, [](int64_t x) { return static_cast<double>(U(x)); });
  } else {
    MapLanes(a, result, count, [](int64_t x) { return static_cast<double>(x); });
  }
  if (to != DType::kF64) RoundRow(to, {result, false}, result, count);
}

void WrapRow(DType to, RowOperand<int64_t> a, int64_t* result, int count) {
  switch (to) {
    case DType::kBool: return MapLanes(a, result, count, [](int64_t x) { return int64_t{x != 0}; });
    case DType::kI8: return MapLanes(a, result, count, WrapTo<int8_t>);
    case DType::kU8: return MapLanes(a, result, count, WrapTo<uint8_t>);
    case DType::kI16: return MapLanes(a, result, count, WrapTo<int16_t>);
    case DType::kU16: return MapLanes(a, result, count, WrapTo<uint16_t>);
    case DType::kI32: return MapLanes(a, result, count, WrapTo<int32_t>);
    case DType::kU32: return MapLanes(a, result, count, WrapTo<uint32_t>);
    case DType::kU2: return MapLanes(a, result, count, [](int64_t x) { return x & 3; });
    case DType::kI2:
      return MapLanes(a, result, count, [](int64_t x) { return (x & 3) - ((x & 2) << 1); });
    case DType::kU4: return MapLanes(a, result, count, [](int64_t x) { return x & 15; });
    case DType::kI4:
      return MapLanes(a, result, count, [](int64_t x) { return (x & 15) - ((x & 8) << 1); });
    default: return MapLanes(a, result, count, [](int64_t x) { return x; });
  }
}

}  // namespace aotc
