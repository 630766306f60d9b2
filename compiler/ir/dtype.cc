#include "compiler/ir/dtype.h"

#include <algorithm>
#include <array>

#include "compiler/support/status.h"

namespace aotc {
namespace {

enum class Family : uint8_t { kNone, kFloat, kSigned, kUnsigned, kOther };

struct Row {
  std::string_view name;
  int bits;
  Family family;
};

// Indexed by the number of the enumerator.
constexpr std::array<Row, 27> kRows = {{
    {"undefined", 0, Family::kNone},   {"f32", 32, Family::kFloat},
    {"u8", 8, Family::kUnsigned},      {"i8", 8, Family::kSigned},
    {"u16", 16, Family::kUnsigned},    {"i16", 16, Family::kSigned},
    {"i32", 32, Family::kSigned},      {"i64", 64, Family::kSigned},
    {"string", 0, Family::kOther},     {"bool", 8, Family::kOther},
    {"f16", 16, Family::kFloat},       {"f64", 64, Family::kFloat},
    {"u32", 32, Family::kUnsigned},    {"u64", 64, Family::kUnsigned},
    {"c64", 64, Family::kOther},       {"c128", 128, Family::kOther},
    {"bf16", 16, Family::kFloat},      {"f8e4m3fn", 8, Family::kFloat},
    {"f8e4m3fnuz", 8, Family::kFloat}, {"f8e5m2", 8, Family::kFloat},
    {"f8e5m2fnuz", 8, Family::kFloat}, {"u4", 4, Family::kUnsigned},
    {"i4", 4, Family::kSigned},        {"f4e2m1", 4, Family::kFloat},
    {"f8e8m0", 8, Family::kFloat},     {"uint2", 2, Family::kUnsigned},
    {"int2", 2, Family::kSigned},
}};

const Row& RowOf(DType type) { return kRows[static_cast<size_t>(type)]; }

}  // namespace

std::string_view DTypeName(DType type) { return RowOf(type).name; }

std::optional<DType> ParseDType(std::string_view name) {
  for (size_t i = 1; i < kRows.size(); ++i) {
    if (kRows[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

bool IsKnownDType(int onnx_number) {
  return onnx_number > 0 && onnx_number < static_cast<int>(kRows.size());
}

int BitWidth(DType type) { return RowOf(type).bits; }

int ByteWidth(DType type) {
  constexpr int kStringBytes = 16;  // aotc_string: a pointer and a size
  return type == DType::kString ? kStringBytes : RowOf(type).bits / 8;
}

bool IsSubByte(DType type) { return BitWidth(type) > 0 && BitWidth(type) < 8; }

bool IsFloat(DType type) { return RowOf(type).family == Family::kFloat; }
bool IsSignedInteger(DType type) { return RowOf(type).family == Family::kSigned; }
bool IsUnsignedInteger(DType type) { return RowOf(type).family == Family::kUnsigned; }
bool IsInteger(DType type) { return IsSignedInteger(type) || IsUnsignedInteger(type); }

std::pair<int64_t, int64_t> IntegerRange(DType type) {
  const int bits = BitWidth(type);
  const bool is_unsigned = IsUnsignedInteger(type);
  if (bits == 64) return {INT64_MIN, INT64_MAX};
  const int64_t max = (int64_t{1} << (is_unsigned ? bits : bits - 1)) - 1;
  return {is_unsigned ? 0 : -max - 1, max};
}

DType UnsignedOfWidth(DType type) {
  const auto is_it = [&](const Row& row) {
    return row.family == Family::kUnsigned && row.bits == BitWidth(type);
  };
  const auto found = std::find_if(kRows.begin(), kRows.end(), is_it);
  AOTC_CHECK(found != kRows.end()) << DTypeName(type);
  return static_cast<DType>(found - kRows.begin());
}

int SignificandBits(DType type) {
  switch (type) {
    case DType::kF64: return 53;
    case DType::kF32: return 24;
    case DType::kF16: return 11;
    case DType::kBF16: return 8;
    default: return 0;
  }
}

DType ComputeType(DType type) {
  return IsFloat(type) && RowOf(type).bits < 32 ? DType::kF32 : type;
}

}  // namespace aotc
