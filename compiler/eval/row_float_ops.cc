// Float arithmetic of row programs, in double.
#include <cmath>
#include <limits>

#include "compiler/eval/row_loops.h"
#include "compiler/ir/constant.h"
#include "compiler/ir/expr_evaluate.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

double Sign(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x == 0 ? 0.0 : x; }
double Sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double FloorMod(double a, double b) {
  double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
double Minimum(double a, double b) { return a < b || a != a ? a : b; }
double Maximum(double a, double b) { return a > b || a != a ? a : b; }

// By the enumerator where the loop is worth inlining, else through a pointer to a function of libm.
using Function = double (*)(double);

Function LibraryFunction(ExprOp op) {
  switch (op) {
    case ExprOp::kExp: return std::exp;
    case ExprOp::kLog: return std::log;
    case ExprOp::kSin: return std::sin;
    case ExprOp::kCos: return std::cos;
    case ExprOp::kTan: return std::tan;
    case ExprOp::kAsin: return std::asin;
    case ExprOp::kAcos: return std::acos;
    case ExprOp::kAtan: return std::atan;
    case ExprOp::kSinh: return std::sinh;
    case ExprOp::kCosh: return std::cosh;
    case ExprOp::kTanh: return std::tanh;
    case ExprOp::kAsinh: return std::asinh;
    case ExprOp::kAcosh: return std::acosh;
    case ExprOp::kAtanh: return std::atanh;
    case ExprOp::kErf: return std::erf;
    case ExprOp::kSigmoid: return Sigmoid;
    case ExprOp::kSign: return Sign;
    case ExprOp::kFloor: return std::floor;
    case ExprOp::kCeil: return std::ceil;
    case ExprOp::kRound: return std::nearbyint;  // ties to even: nobody changes the rounding mode
    case ExprOp::kTrunc: return std::trunc;
    default: return nullptr;
  }
}

}  // namespace

void FloatUnaryRow(ExprOp op, RowOperand<double> a, double* result, int count) {
  switch (op) {
    case ExprOp::kNeg: return MapLanes(a, result, count, [](double x) { return -x; });
    case ExprOp::kAbs: return MapLanes(a, result, count, [](double x) { return std::fabs(x); });
    case ExprOp::kSqrt: return MapLanes(a, result, count, [](double x) { return std::sqrt(x); });
    default: break;
  }
  Function function = LibraryFunction(op);
  AOTC_CHECK(function != nullptr) << ExprOpName(op) << " of a float";
  MapLanes(a, result, count, function);
}

void FloatTestRow(ExprOp op, RowOperand<double> a, int64_t* result, int count) {
  if (op == ExprOp::kIsNan) {
    return MapLanes(a, result, count, [](double x) { return int64_t{x != x}; });
  }
  AOTC_CHECK(op == ExprOp::kIsInf) << ExprOpName(op);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  MapLanes(a, result, count, [](double x) { return int64_t{std::fabs(x) == kInfinity}; });
}

void FloatBinaryRow(ExprOp op, RowOperand<double> a, RowOperand<double> b, double* result,
                    int count) {
  switch (op) {
    case ExprOp::kAdd:
      return ZipLanes(a, b, result, count, [](double x, double y) { return x + y; });
    case ExprOp::kSub:
      return ZipLanes(a, b, result, count, [](double x, double y) { return x - y; });
    case ExprOp::kMul:
      return ZipLanes(a, b, result, count, [](double x, double y) { return x * y; });
    case ExprOp::kDiv:
      return ZipLanes(a, b, result, count, [](double x, double y) { return x / y; });
    case ExprOp::kFloorDiv:
      return ZipLanes(a, b, result, count, [](double x, double y) { return std::floor(x / y); });
    case ExprOp::kMod: return ZipLanes(a, b, result, count, FloorMod);
    case ExprOp::kTruncMod:
      return ZipLanes(a, b, result, count, [](double x, double y) { return std::fmod(x, y); });
    case ExprOp::kMin:
      return ZipLanes(a, b, result, count, [](double x, double y) { return Minimum(x, y); });
    case ExprOp::kMax:
      return ZipLanes(a, b, result, count, [](double x, double y) { return Maximum(x, y); });
    case ExprOp::kPow:
      return ZipLanes(a, b, result, count, [](double x, double y) { return std::pow(x, y); });
    default: AOTC_CHECK(false) << ExprOpName(op) << " of floats";
  }
}

void FloatCompareRow(ExprOp op, RowOperand<double> a, RowOperand<double> b, int64_t* result,
                     int count) {
  switch (op) {
    case ExprOp::kEq:
      return ZipLanes(a, b, result, count, [](double x, double y) { return int64_t{x == y}; });
    case ExprOp::kNe:
      return ZipLanes(a, b, result, count, [](double x, double y) { return int64_t{x != y}; });
    case ExprOp::kLt:
      return ZipLanes(a, b, result, count, [](double x, double y) { return int64_t{x < y}; });
    default:
      AOTC_CHECK(op == ExprOp::kLe) << ExprOpName(op) << " of floats";
      return ZipLanes(a, b, result, count, [](double x, double y) { return int64_t{x <= y}; });
  }
}

void MulAddRow(RowOperand<double> a, RowOperand<double> b, double* result, int count) {
  if (a.uniform && b.uniform) {
    const double product = a.lanes[0] * b.lanes[0];
    for (int i = 0; i < count; ++i) result[i] += product;
    return;
  }
  if (a.uniform || b.uniform) {
    const double factor = a.uniform ? a.lanes[0] : b.lanes[0];
    const double* lanes = a.uniform ? b.lanes : a.lanes;
    AOTC_LANE_LOOP
    for (int i = 0; i < count; ++i) result[i] += factor * lanes[i];
    return;
  }
  AOTC_LANE_LOOP
  for (int i = 0; i < count; ++i) result[i] += a.lanes[i] * b.lanes[i];
}

double SumOfLanes(const double* lanes, int count) {
  constexpr int kWays = 8;  // partial sums hide the latency of an addition
  double partial[kWays] = {};
  int i = 0;
  for (; i + kWays <= count; i += kWays) {
    for (int way = 0; way < kWays; ++way) partial[way] += lanes[i + way];
  }
  for (; i < count; ++i) partial[i % kWays] += lanes[i];
  double sum = 0;
  for (double part : partial) sum += part;
  return sum;
}

void RoundRow(DType to, RowOperand<double> a, double* result, int count) {
  if (to == DType::kF32) {
    return MapLanes(a, result, count,
                    [](double x) { return static_cast<double>(static_cast<float>(x)); });
  }
  MapLanes(a, result, count, [to](double x) { return RoundToDType(to, x); });
}

void FloatToIntRow(DType to, RowOperand<double> a, int64_t* result, int count) {
  MapLanes(a, result, count, [to](double x) {
    uint8_t bytes[8] = {};
    StoreElement(to, bytes, 0, x);
    return LoadIntElement(to, bytes, 0);
  });
}

void BitsToFloatRow(DType to, RowOperand<int64_t> a, double* result, int count) {
  MapLanes(a, result, count, [to](int64_t x) { return FloatOfBits(to, x); });
}

void FloatToBitsRow(DType from, DType to, RowOperand<double> a, int64_t* result, int count) {
  MapLanes(a, result, count, [=](double x) { return WrapInt(BitsOfFloat(from, x), to); });
}

void FloatBitsToFloatRow(DType from, DType to, RowOperand<double> a, double* result, int count) {
  MapLanes(a, result, count, [=](double x) { return FloatOfBits(to, BitsOfFloat(from, x)); });
}

}  // namespace aotc
