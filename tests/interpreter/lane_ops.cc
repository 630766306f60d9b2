#include "tests/interpreter/lane_ops.h"

#include <cmath>
#include <cstring>

#include "compiler/ir/constant.h"
#include "compiler/ir/expr_evaluate.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

double FloorMod(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

double Sign(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; }

double ApplyUnary(ExprOp op, double x) {
  switch (op) {
    case ExprOp::kNeg: return -x;
    case ExprOp::kAbs: return std::fabs(x);
    case ExprOp::kSign: return Sign(x);
    case ExprOp::kFloor: return std::floor(x);
    case ExprOp::kCeil: return std::ceil(x);
    case ExprOp::kRound: return std::nearbyint(x);
    case ExprOp::kTrunc: return std::trunc(x);
    case ExprOp::kSqrt: return std::sqrt(x);
    case ExprOp::kExp: return std::exp(x);
    case ExprOp::kLog: return std::log(x);
    case ExprOp::kSin: return std::sin(x);
    case ExprOp::kCos: return std::cos(x);
    case ExprOp::kTan: return std::tan(x);
    case ExprOp::kAsin: return std::asin(x);
    case ExprOp::kAcos: return std::acos(x);
    case ExprOp::kAtan: return std::atan(x);
    case ExprOp::kSinh: return std::sinh(x);
    case ExprOp::kCosh: return std::cosh(x);
    case ExprOp::kTanh: return std::tanh(x);
    case ExprOp::kAsinh: return std::asinh(x);
    case ExprOp::kAcosh: return std::acosh(x);
    case ExprOp::kAtanh: return std::atanh(x);
    case ExprOp::kErf: return std::erf(x);
    case ExprOp::kSigmoid: return 1 / (1 + std::exp(-x));
    default: break;
  }
  AOTC_CHECK(false) << "no float operator " << ExprOpName(op);
  return 0;
}

double ApplyBinary(ExprOp op, double a, double b) {
  const bool nan = std::isnan(a) || std::isnan(b);
  switch (op) {
    case ExprOp::kAdd: return a + b;
    case ExprOp::kSub: return a - b;
    case ExprOp::kMul: return a * b;
    case ExprOp::kDiv: return a / b;
    case ExprOp::kFloorDiv: return std::floor(a / b);
    case ExprOp::kMod: return FloorMod(a, b);
    case ExprOp::kTruncMod: return std::fmod(a, b);
    case ExprOp::kMin: return nan ? a + b : std::fmin(a, b);
    case ExprOp::kMax: return nan ? a + b : std::fmax(a, b);
    case ExprOp::kPow: return std::pow(a, b);
    default: break;
  }
  AOTC_CHECK(false) << "no float operator " << ExprOpName(op);
  return 0;
}

}  // namespace

double RoundTo(DType dtype, double value) {
  if (dtype == DType::kF64) return value;
  if (dtype == DType::kF32) return static_cast<double>(static_cast<float>(value));
  uint8_t bytes[8] = {};
  StoreElement(dtype, bytes, 0, value);
  return LoadElement(dtype, bytes, 0);
}

Lane CastLane(DType from, DType to, Lane x) {
  if (IsFloat(from) && IsFloat(to)) return {.f = RoundTo(to, x.f)};
  if (to == DType::kBool) return {.i = IsFloat(from) ? x.f != 0 : x.i != 0};
  if (!IsFloat(from) && !IsFloat(to)) return {.i = WrapInt(x.i, to)};
  if (IsFloat(to)) {
    const bool is_unsigned = from == DType::kU64;
    return {.f = RoundTo(to, is_unsigned ? static_cast<double>(static_cast<uint64_t>(x.i))
                                         : static_cast<double>(x.i))};
  }
  uint8_t bytes[8] = {};
  StoreElement(to, bytes, 0, x.f);
  return {.i = LoadIntElement(to, bytes, 0)};
}

Lane BitCastLane(DType from, DType to, Lane x) {
  const int64_t bits = IsFloat(from) ? BitsOfFloat(from, x.f) : x.i;
  return IsFloat(to) ? Lane{.f = FloatOfBits(to, bits)} : Lane{.i = WrapInt(bits, to)};
}

double UnaryFloat(ExprOp op, DType dtype, double x) { return RoundTo(dtype, ApplyUnary(op, x)); }

double BinaryFloat(ExprOp op, DType dtype, double a, double b) {
  return RoundTo(dtype, ApplyBinary(op, a, b));
}

bool TestFloat(ExprOp op, double a, double b) {
  switch (op) {
    case ExprOp::kIsNan: return std::isnan(a);
    case ExprOp::kIsInf: return std::isinf(a);
    case ExprOp::kEq: return a == b;
    case ExprOp::kNe: return a != b;
    case ExprOp::kLt: return a < b;
    case ExprOp::kLe: return a <= b;
    default: break;
  }
  AOTC_CHECK(false) << "no test of floats " << ExprOpName(op);
  return false;
}

Lane LoadLane(const Memory& memory, int64_t index) {
  if (memory.dtype == DType::kF32) {
    float value;
    std::memcpy(&value, memory.data + index * 4, 4);
    return {.f = value};
  }
  if (IsFloat(memory.dtype)) return {.f = LoadElement(memory.dtype, memory.data, index)};
  const int64_t value = LoadIntElement(memory.dtype, memory.data, index);
  return {.i = memory.dtype == DType::kBool ? value != 0 : value};
}

void StoreLane(const Memory& memory, int64_t index, Lane value) {
  if (IsFloat(memory.dtype)) {
    StoreElement(memory.dtype, memory.data, index, value.f);
  } else {
    StoreIntElement(memory.dtype, memory.data, index, value.i);
  }
}

}  // namespace aotc
