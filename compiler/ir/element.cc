// Elements of constants: loads and stores of one element of any arithmetic dtype.
#include <algorithm>
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

// Elements of less than a byte, two or four in each, the first in the lowest bits.
uint8_t ReadBits(int width, const uint8_t* bytes, int64_t index) {
  const int64_t first = index * width;
  return static_cast<uint8_t>(bytes[first / 8] >> (first % 8) & ((1 << width) - 1));
}

void WriteBits(int width, uint8_t* bytes, int64_t index, int64_t value) {
  const int64_t first = index * width, mask = (int64_t{1} << width) - 1;
  uint8_t& byte = bytes[first / 8];
  byte = static_cast<uint8_t>((byte & ~(mask << (first % 8))) | (value & mask) << (first % 8));
}

bool IsPackedInteger(DType dtype) { return IsSubByte(dtype) && IsInteger(dtype); }

int64_t ReadPackedInteger(DType dtype, const uint8_t* bytes, int64_t index) {
  const int64_t value = ReadBits(BitWidth(dtype), bytes, index);
  const auto [min, max] = IntegerRange(dtype);
  return value > max ? value - (max - min + 1) : value;
}

uint16_t ReadSmallFloat(const SmallFloat& format, const uint8_t* bytes, int64_t index) {
  if (format.bits == 16) return ReadAs<uint16_t>(bytes, index);
  return format.bits == 8 ? bytes[index] : ReadBits(format.bits, bytes, index);
}

void WriteSmallFloat(const SmallFloat& format, uint8_t* bytes, int64_t index, uint16_t code) {
  if (format.bits == 16) return WriteAs<uint16_t>(bytes, index, code);
  if (format.bits == 8) return WriteAs<uint8_t>(bytes, index, static_cast<uint8_t>(code));
  WriteBits(format.bits, bytes, index, code);
}

// As ToInteger, in the range of a type of less than a byte.
int64_t ToPackedInteger(DType dtype, double value) {
  const auto [min, max] = IntegerRange(dtype);
  return std::clamp<int64_t>(ToInteger<int8_t>(value), min, max);
}

}  // namespace

double LoadElement(DType dtype, const uint8_t* bytes, int64_t index) {
  if (dtype == DType::kF32) return ReadAs<float>(bytes, index);
  if (dtype == DType::kF64) return ReadAs<double>(bytes, index);
  if (const SmallFloat* format = SmallFloatOf(dtype)) {
    return DecodeSmallFloat(*format, ReadSmallFloat(*format, bytes, index));
  }
  if (IsPackedInteger(dtype)) return static_cast<double>(LoadIntElement(dtype, bytes, index));
  return DispatchInteger(
      dtype, [&](auto zero) { return static_cast<double>(ReadAs<decltype(zero)>(bytes, index)); });
}

void StoreElement(DType dtype, uint8_t* bytes, int64_t index, double value) {
  if (dtype == DType::kF32) return WriteAs(bytes, index, static_cast<float>(value));
  if (dtype == DType::kF64) return WriteAs(bytes, index, value);
  if (const SmallFloat* format = SmallFloatOf(dtype)) {
    return WriteSmallFloat(*format, bytes, index, EncodeSmallFloat(*format, value));
  }
  if (IsPackedInteger(dtype)) {
    return WriteBits(BitWidth(dtype), bytes, index, ToPackedInteger(dtype, value));
  }
  if (dtype == DType::kBool) return WriteAs<uint8_t>(bytes, index, value != 0 ? 1 : 0);
  DispatchInteger(dtype,
                  [&](auto zero) { WriteAs(bytes, index, ToInteger<decltype(zero)>(value)); });
}

int64_t LoadIntElement(DType dtype, const uint8_t* bytes, int64_t index) {
  if (IsPackedInteger(dtype)) return ReadPackedInteger(dtype, bytes, index);
  if (IsFloat(dtype)) return ToInteger<int64_t>(LoadElement(dtype, bytes, index));
  return DispatchInteger(
      dtype, [&](auto zero) { return static_cast<int64_t>(ReadAs<decltype(zero)>(bytes, index)); });
}

void StoreIntElement(DType dtype, uint8_t* bytes, int64_t index, int64_t value) {
  if (IsPackedInteger(dtype)) return WriteBits(BitWidth(dtype), bytes, index, value);
  if (dtype == DType::kF32) return WriteAs(bytes, index, static_cast<float>(value));
  if (IsFloat(dtype)) return StoreElement(dtype, bytes, index, static_cast<double>(value));
  if (dtype == DType::kBool) return WriteAs<uint8_t>(bytes, index, value != 0 ? 1 : 0);
  DispatchInteger(dtype,
                  [&](auto zero) { WriteAs(bytes, index, static_cast<decltype(zero)>(value)); });
}

int64_t BitsOfFloat(DType dtype, double value) {
  uint8_t bytes[8] = {};
  StoreElement(dtype, bytes, 0, value);
  return LoadIntElement(UnsignedOfWidth(dtype), bytes, 0);
}

double FloatOfBits(DType dtype, int64_t bits) {
  uint8_t bytes[8] = {};
  StoreIntElement(UnsignedOfWidth(dtype), bytes, 0, bits);
  return LoadElement(dtype, bytes, 0);
}

double RoundToDType(DType dtype, double value) {
  if (dtype == DType::kF32) return static_cast<float>(value);
  const SmallFloat* format = SmallFloatOf(dtype);
  return format == nullptr ? value : DecodeSmallFloat(*format, EncodeSmallFloat(*format, value));
}

}  // namespace aotc
