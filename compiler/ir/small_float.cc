#include "compiler/ir/small_float.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace aotc {
namespace {

constexpr int kDoubleMantissa = 52;
constexpr int kDoubleBias = 1023;
constexpr uint64_t kHiddenBit = uint64_t{1} << kDoubleMantissa;

constexpr SmallFloat kF16 = {16, 10, 15, 0x7bff, 0x7c00, 0x7e00, true};
constexpr SmallFloat kBF16 = {16, 7, 127, 0x7f7f, 0x7f80, 0x7fc0, true};
// "OCP 8-bit Floating Point Specification"; the UZ forms: "8-bit Numerical Formats for Deep Neural
// Networks".
constexpr SmallFloat kF8E4M3FN = {8, 3, 7, 0x7e, 0x7f, 0x7f, true};
constexpr SmallFloat kF8E4M3FNUZ = {8, 3, 8, 0x7f, 0x80, 0x80, false};
constexpr SmallFloat kF8E5M2 = {8, 2, 15, 0x7b, 0x7c, 0x7e, true};
constexpr SmallFloat kF8E5M2FNUZ = {8, 2, 16, 0x7f, 0x80, 0x80, false};
// Has neither infinity nor NaN: a NaN becomes -0, as in ONNX's data.
constexpr SmallFloat kF4E2M1 = {4, 1, 1, 0x7, 0x7, 0x8, true};

// "OCP Microscaling Formats (MX) Specification".
constexpr SmallFloat kF8E8M0 = {8, 0, 127, 0xfe, 0xfe, 0xff, false, true};

uint16_t EncodePower(const SmallFloat& format, double value) {
  int exponent = 0;
  const double fraction = std::frexp(std::abs(value), &exponent);  // 0.5 .. 1, or 0 or infinity
  constexpr double kExact = 0.5;
  if (fraction == 0) return 0;
  if (std::isinf(value)) return format.largest;
  const int power = fraction == kExact ? exponent - 1 : exponent;
  return static_cast<uint16_t>(std::clamp(power + format.bias, 0, int{format.largest}));
}

double DecodePower(const SmallFloat& format, uint16_t code) {
  if (code > format.largest) return std::numeric_limits<double>::quiet_NaN();
  return std::ldexp(1.0, code - format.bias);
}

// Magnitude code of a finite, normal double, before the check for overflow.
uint64_t RoundedCode(const SmallFloat& format, uint64_t bits) {
  int exponent = static_cast<int>(bits >> kDoubleMantissa & 0x7ff) - kDoubleBias + format.bias;
  uint64_t mantissa = (bits & (kHiddenBit - 1)) | kHiddenBit;
  // A subnormal result has exponent code 0 and loses one more bit per binade below the first.
  int shift = kDoubleMantissa - format.mantissa_bits + std::max(0, 1 - exponent);
  if (shift > kDoubleMantissa + 1) return 0;  // below half of the smallest subnormal
  uint64_t quotient = mantissa >> shift;
  uint64_t remainder = mantissa & ((uint64_t{1} << shift) - 1);
  uint64_t half = uint64_t{1} << (shift - 1);
  if (remainder > half || (remainder == half && (quotient & 1) != 0)) ++quotient;
  // The hidden bit of `quotient` adds one to the exponent code; a carry of the rounding does as
  // well.
  return (static_cast<uint64_t>(std::max(exponent, 1) - 1) << format.mantissa_bits) + quotient;
}

}  // namespace

const SmallFloat* SmallFloatOf(DType type) {
  switch (type) {
    case DType::kF16: return &kF16;
    case DType::kBF16: return &kBF16;
    case DType::kF8E4M3FN: return &kF8E4M3FN;
    case DType::kF8E4M3FNUZ: return &kF8E4M3FNUZ;
    case DType::kF8E5M2: return &kF8E5M2;
    case DType::kF8E5M2FNUZ: return &kF8E5M2FNUZ;
    case DType::kF4E2M1: return &kF4E2M1;
    case DType::kF8E8M0: return &kF8E8M0;
    default: return nullptr;
  }
}

uint16_t EncodeSmallFloat(const SmallFloat& format, double value) {
  if (value != value) return format.nan;
  if (format.is_power) return EncodePower(format, value);
  uint64_t bits = std::bit_cast<uint64_t>(value);
  bool negative = (bits >> 63) != 0;
  uint64_t magnitude = bits & ~(uint64_t{1} << 63);
  // Doubles below their normal range are far below half of any subnormal here.
  uint64_t code = magnitude < kHiddenBit ? 0 : RoundedCode(format, magnitude);
  if (code > format.largest) code = format.beyond;
  if (negative && (code != 0 || format.has_negative_zero)) code |= uint64_t{1} << (format.bits - 1);
  return static_cast<uint16_t>(code);
}

double DecodeSmallFloat(const SmallFloat& format, uint16_t code) {
  if (format.is_power) return DecodePower(format, code);
  uint64_t sign = uint64_t{code} >> (format.bits - 1) & 1;
  uint64_t magnitude = code & ((uint64_t{1} << (format.bits - 1)) - 1);
  if (!format.has_negative_zero && code == format.nan)
    return std::numeric_limits<double>::quiet_NaN();
  if (magnitude > format.largest) {
    bool infinite = magnitude == format.beyond && format.beyond != format.nan;
    if (!infinite) return std::numeric_limits<double>::quiet_NaN();
    double infinity = std::numeric_limits<double>::infinity();
    return sign != 0 ? -infinity : infinity;
  }
  int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  uint64_t mantissa = magnitude & ((uint64_t{1} << format.mantissa_bits) - 1);
  // 2^(exponent - bias), the weight of the hidden bit, as a double of its own: all are in double's
  // range.
  uint64_t weight = static_cast<uint64_t>(std::max(exponent, 1) - format.bias + kDoubleBias);
  double unit = std::bit_cast<double>(weight << kDoubleMantissa);
  double fraction = static_cast<double>(mantissa) / static_cast<double>(1 << format.mantissa_bits);
  double value = unit * (fraction + (exponent > 0 ? 1.0 : 0.0));
  return sign != 0 ? -value : value;
}

NormalRange NormalRangeOf(DType type) {
  if (const SmallFloat* format = SmallFloatOf(type)) {
    const int least = format->is_power ? 0 : 1;
    return {std::ldexp(1.0, least - format->bias), DecodeSmallFloat(*format, format->largest)};
  }
  if (type == DType::kF64) {
    return {std::numeric_limits<double>::min(), std::numeric_limits<double>::max()};
  }
  return {std::numeric_limits<float>::min(), std::numeric_limits<float>::max()};
}

}  // namespace aotc
