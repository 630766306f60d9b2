// Constants: tensors known at compile time. A handle; the bytes are shared and never change.
//
//   Constant one = Constant::Splat(DType::kF32, {64, 32}, 1.0);  // stays one element until packed
//   Constant w = Constant::Dense(DType::kF32, {2, 2}, bytes);    // little-endian, row-major, dense
//   shape.AsInts();                                              // of integer tensors, as of sizes
#ifndef AOTC_COMPILER_IR_CONSTANT_H_
#define AOTC_COMPILER_IR_CONSTANT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/dtype.h"

namespace aotc {

class Constant {
 public:
  Constant() = default;
  // `bytes` has element count x ByteWidth bytes (sub-byte types packed as in ONNX raw data).
  static Constant Dense(DType dtype, std::vector<int64_t> dims, std::vector<uint8_t> bytes);
  static Constant Splat(DType dtype, std::vector<int64_t> dims, double value);
  static Constant SplatInt(DType dtype, std::vector<int64_t> dims, int64_t value);
  // From the bytes of the one element.
  static Constant SplatBytes(DType dtype, std::vector<int64_t> dims, std::vector<uint8_t> bytes);
  static Constant Ints(const std::vector<int64_t>& values);  // i64, rank 1
  static Constant Strings(std::vector<int64_t> dims, std::vector<std::string> strings);
  // Values of a seeded generator, spread over the dtype's useful range: for tests and text cases.
  static Constant Random(DType dtype, std::vector<int64_t> dims, uint64_t seed);
  // For a constant whose values a text does not give: random ones, under the hash that it gives.
  static Constant StandIn(DType dtype, std::vector<int64_t> dims, uint64_t hash);

  DType dtype() const { return dtype_; }
  const std::vector<int64_t>& dims() const { return dims_; }
  int64_t element_count() const;
  bool is_splat() const { return splat_; }
  // Dense bytes; for a splat the bytes of its one element.
  std::span<const uint8_t> bytes() const;
  const std::vector<std::string>& strings() const { return *strings_; }
  // The bytes of the element that all others equal bit by bit, dense or not; nothing where they
  // differ or there are none.
  std::optional<std::vector<uint8_t>> UniformElement() const;
  // The same values, dense.
  Constant Expanded() const;
  // The same values under other dims of equal count.
  Constant Reshaped(std::vector<int64_t> dims) const;

  // Element `index` (row-major) as a double or an integer; exact for all types but 64-bit integers.
  double FloatAt(int64_t index) const;
  int64_t IntAt(int64_t index) const;
  // All elements of an integer or bool tensor.
  std::vector<int64_t> AsInts() const;

  // Same dtype, dims and values bit by bit (a splat equals its dense form).
  bool SameValue(const Constant& other) const;
  // Stable over runs and machines; of a stand-in what was given.
  uint64_t ContentHash() const;

 private:
  DType dtype_ = DType::kUndefined;
  bool splat_ = false;
  std::optional<uint64_t> given_hash_;  // of a stand-in
  std::vector<int64_t> dims_;
  std::shared_ptr<const std::vector<uint8_t>> bytes_;
  std::shared_ptr<const std::vector<std::string>> strings_;
};

// Bytes of `count` packed elements; 0 for strings.
int64_t StorageBytes(DType dtype, int64_t count);

// Reads / writes element `index` of packed ones of `dtype`, converting from or to
// double with the rounding of a store (nearest even; integers truncate, what is out of range
// becomes the nearest value and NaN becomes 0). The Int forms wrap; an unsigned 64-bit element
// passes through as its bits.
double LoadElement(DType dtype, const uint8_t* bytes, int64_t index);
void StoreElement(DType dtype, uint8_t* bytes, int64_t index, double value);
int64_t LoadIntElement(DType dtype, const uint8_t* bytes, int64_t index);
void StoreIntElement(DType dtype, uint8_t* bytes, int64_t index, int64_t value);
// The bits of an element of a float type, which `value` is rounded to, in the low bits; and back. A
// NaN is a quiet one, of types of 16 bits and fewer the one of EncodeSmallFloat.
int64_t BitsOfFloat(DType dtype, double value);
double FloatOfBits(DType dtype, int64_t bits);
// Rounds to the nearest value of a float type.
double RoundToDType(DType dtype, double value);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_CONSTANT_H_
