// Elements of constants: loads and stores of one element of any arithmetic dtype.
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "compiler/ir/constant.h"
#include "compiler/ir/small_float.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

template <class T>
T ReadAs(const uint8_t* bytes, int64_t index) {
  T value;
  std::memcpy(&value, bytes + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <class T>
void WriteAs(uint8_t* bytes, int64_t index, T value) {
  std::memcpy(bytes + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

// Truncates; what is out of range becomes the nearest value of T, a NaN becomes 0.
template <class T>
T ToInteger(double value) {
  constexpr T kHalf = std::numeric_limits<T>::max() / 2 + 1;
  constexpr double kLimit = static_cast<double>(kHalf) * 2;  // max + 1
  if (value != value) return 0;
  if (value >= kLimit) return std::numeric_limits<T>::max();
  if constexpr (std::is_signed_v<T>) {
    if (value < -kLimit) return std::numeric_limits<T>::min();
  } else {
    if (value <= 0) return 0;
  }
  return static_cast<T>(value);
}

// Calls `f` with a value of the C++ type of an 8- to 64-bit integer or bool dtype.
template <class F>
auto DispatchInteger(DType dtype, F f) {
  switch (dtype) {
    case DType::kU8: return f(uint8_t{});
    case DType::kBool: return f(uint8_t{});
    case DType::kI8: return f(int8_t{});
    case DType::kU16: return f(uint16_t{});
    case DType::kI16: return f(int16_t{});
    case DType::kU32: return f(uint32_t{});
    case DType::kI32: return f(int32_t{});
    case DType::kU64: return f(uint64_t{});
    default: break;
  }
  AOTC_CHECK(dtype == DType::kI64) << "no arithmetic on elements of type " << DTypeName(dtype);
  return f(int64_t{});
}

// Sub-byte elements: two a byte, the first in the low half.
uint8_t ReadNibble(const uint8_t* bytes, int64_t index) {
  return static_cast<uint8_t>(bytes[index / 2] >> (index % 2 * 4) & 0xf);
}

void WriteNibble(uint8_t* bytes, int64_t index, uint8_t value) {
  int shift = static_cast<int>(index % 2 * 4);
  uint8_t kept = static_cast<uint8_t>(bytes[index / 2] & ~(0xf << shift));
  bytes[index / 2] = static_cast<uint8_t>(kept | (value & 0xf) << shift);
}

int64_t SignedNibble(uint8_t nibble) { return nibble < 8 ? nibble : nibble - 16; }

bool IsNibbleInteger(DType dtype) { return dtype == DType::kU4 || dtype == DType::kI4; }

uint16_t ReadSmallFloat(const SmallFloat& format, const uint8_t* bytes, int64_t index) {
  if (format.bits == 16) return ReadAs<uint16_t>(bytes, index);
  return format.bits == 8 ? bytes[index] : ReadNibble(bytes, index);
}

void WriteSmallFloat(const SmallFloat& format, uint8_t* bytes, int64_t index, uint16_t code) {
  if (format.bits == 16) return WriteAs<uint16_t>(bytes, index, code);
  if (format.bits == 8) return WriteAs<uint8_t>(bytes, index, static_cast<uint8_t>(code));
  WriteNibble(bytes, index, static_cast<uint8_t>(code));
}

uint8_t NibbleFromDouble(DType dtype, double value) {
  double low = dtype == DType::kI4 ? -8 : 0, high = dtype == DType::kI4 ? 7 : 15;
  return static_cast<uint8_t>(ToInteger<int8_t>(std::fmin(std::fmax(value, low), high)));
}

}  // namespace

double LoadElement(DType dtype, const uint8_t* bytes, int64_t index) {
  if (dtype == DType::kF32) return ReadAs<float>(bytes, index);
  if (dtype == DType::kF64) return ReadAs<double>(bytes, index);
  if (const SmallFloat* format = SmallFloatOf(dtype)) {
    return DecodeSmallFloat(*format, ReadSmallFloat(*format, bytes, index));
  }
  if (IsNibbleInteger(dtype)) return static_cast<double>(LoadIntElement(dtype, bytes, index));
  return DispatchInteger(
      dtype, [&](auto zero) { return static_cast<double>(ReadAs<decltype(zero)>(bytes, index)); });
}

void StoreElement(DType dtype, uint8_t* bytes, int64_t index, double value) {
  if (dtype == DType::kF32) return WriteAs(bytes, index, static_cast<float>(value));
  if (dtype == DType::kF64) return WriteAs(bytes, index, value);
  if (const SmallFloat* format = SmallFloatOf(dtype)) {
    return WriteSmallFloat(*format, bytes, index, EncodeSmallFloat(*format, value));
  }
  if (IsNibbleInteger(dtype)) return WriteNibble(bytes, index, NibbleFromDouble(dtype, value));
  if (dtype == DType::kBool) return WriteAs<uint8_t>(bytes, index, value != 0 ? 1 : 0);
  DispatchInteger(dtype,
                  [&](auto zero) { WriteAs(bytes, index, ToInteger<decltype(zero)>(value)); });
}

int64_t LoadIntElement(DType dtype, const uint8_t* bytes, int64_t index) {
  if (dtype == DType::kU4) return ReadNibble(bytes, index);
  if (dtype == DType::kI4) return SignedNibble(ReadNibble(bytes, index));
  if (IsFloat(dtype)) return ToInteger<int64_t>(LoadElement(dtype, bytes, index));
  return DispatchInteger(
      dtype, [&](auto zero) { return static_cast<int64_t>(ReadAs<decltype(zero)>(bytes, index)); });
}

void StoreIntElement(DType dtype, uint8_t* bytes, int64_t index, int64_t value) {
  if (IsNibbleInteger(dtype)) return WriteNibble(bytes, index, static_cast<uint8_t>(value));
  if (dtype == DType::kF32) return WriteAs(bytes, index, static_cast<float>(value));
  if (IsFloat(dtype)) return StoreElement(dtype, bytes, index, static_cast<double>(value));
  if (dtype == DType::kBool) return WriteAs<uint8_t>(bytes, index, value != 0 ? 1 : 0);
  DispatchInteger(dtype,
                  [&](auto zero) { WriteAs(bytes, index, static_cast<decltype(zero)>(value)); });
}

double RoundToDType(DType dtype, double value) {
  if (dtype == DType::kF32) return static_cast<float>(value);
  const SmallFloat* format = SmallFloatOf(dtype);
  return format == nullptr ? value : DecodeSmallFloat(*format, EncodeSmallFloat(*format, value));
}

}  // namespace aotc
