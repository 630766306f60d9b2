// Element types of tensors and expressions. The numbers are those of onnx.TensorProto.DataType.
//
//   DType type = *ParseDType("f16");   // DType::kF16
//   BitWidth(type);                    // 16
#ifndef AOTC_COMPILER_IR_DTYPE_H_
#define AOTC_COMPILER_IR_DTYPE_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace aotc {

enum class DType : uint8_t {
  kUndefined = 0,
  kF32 = 1,
  kU8 = 2,
  kI8 = 3,
  kU16 = 4,
  kI16 = 5,
  kI32 = 6,
  kI64 = 7,
  kString = 8,
  kBool = 9,
  kF16 = 10,
  kF64 = 11,
  kU32 = 12,
  kU64 = 13,
  kC64 = 14,
  kC128 = 15,
  kBF16 = 16,
  kF8E4M3FN = 17,
  kF8E4M3FNUZ = 18,
  kF8E5M2 = 19,
  kF8E5M2FNUZ = 20,
  kU4 = 21,
  kI4 = 22,
  kF4E2M1 = 23,
  kF8E8M0 = 24,
  kU2 = 25,
  kI2 = 26,
};

// The name in our text forms: "f32", "i64", "bool", ... Two-bit integers are "int2" and "uint2": i2
// is a common name of an axis.
std::string_view DTypeName(DType type);
std::optional<DType> ParseDType(std::string_view name);
// True for every enumerator but kUndefined.
bool IsKnownDType(int onnx_number);

// Bits of one element in storage; 0 for strings.
int BitWidth(DType type);
// Bytes of one element in storage; sub-byte types are not byte-addressed and give 0, strings
// give 16.
int ByteWidth(DType type);

// Two elements or more lie in one byte, the first in the low bits.
bool IsSubByte(DType type);

bool IsFloat(DType type);            // f64, f32, f16, bf16, f8, f4
bool IsSignedInteger(DType type);    // int2, i4 .. i64
bool IsUnsignedInteger(DType type);  // uint2, u4 .. u64, not bool
bool IsInteger(DType type);          // either of the two

// The least and the largest value of an integer type; of u64, whose values pass as their bits,
// those of i64.
std::pair<int64_t, int64_t> IntegerRange(DType type);

// The unsigned integer type of as many bits: u4 for f4e2m1. AOTC_CHECK: there is one, of 2 to 64
// bits.
DType UnsignedOfWidth(DType type);

// Bits of the significand of f64, f32, f16 and bf16, the implied one included; 0 for all other
// types: f8 and f4 are computed in f32.
int SignificandBits(DType type);

// The type in which kernels compute values stored as `type`: f32 for f16, bf16, f8 and f4; else
// itself.
DType ComputeType(DType type);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_DTYPE_H_
