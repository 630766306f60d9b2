// Tensors while a kernel is evaluated: cells of a plain C++ type, with strides.
//
//   TensorData x = *ReadTensor(constant);       // no copy unless the type needs unpacking
//   TensorData y = MakeTensor(DType::kF16, {2, 3});
//   Constant result = WriteTensor(y);
//
// Cells of floats of 16 bits and fewer are f32 (exact), of integers of less than a byte i8 or u8,
// of bool u8. A splat has one cell and strides of 0.
#ifndef AOTC_COMPILER_EVAL_TENSOR_DATA_H_
#define AOTC_COMPILER_EVAL_TENSOR_DATA_H_

#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/constant.h"

namespace aotc {

struct TensorData {
  DType dtype = DType::kUndefined;
  DType cell = DType::kUndefined;  // f32, f64 or an integer type of 8 to 64 bits
  std::vector<int64_t> dims = {};
  std::vector<int64_t> strides = {};  // in cells
  Constant source = {};               // of inputs; owns `data` where it needs no unpacking
  std::vector<uint8_t> cells = {};    // owns `data` otherwise
  const uint8_t* data = nullptr;

  bool is_splat() const;
};

// The type in which cells of `dtype` are held.
DType CellType(DType dtype);

// Error: strings and complex numbers have no arithmetic.
absl::StatusOr<TensorData> ReadTensor(const Constant& constant);
// A tensor to be written: dense and zero, or of one cell.
TensorData MakeTensor(DType dtype, std::vector<int64_t> dims, bool splat = false);
Constant WriteTensor(TensorData tensor);

// Calls `f` with a zero of the C++ type of a cell.
template <class F>
auto WithCell(DType cell, F f) {
  switch (cell) {
    case DType::kF64: return f(double{});
    case DType::kI8: return f(int8_t{});
    case DType::kU8: return f(uint8_t{});
    case DType::kI16: return f(int16_t{});
    case DType::kU16: return f(uint16_t{});
    case DType::kI32: return f(int32_t{});
    case DType::kU32: return f(uint32_t{});
    case DType::kI64: return f(int64_t{});
    case DType::kU64: return f(uint64_t{});
    default: return f(float{});
  }
}

template <class T>
T ReadCell(const uint8_t* data, int64_t index) {
  T value;
  std::memcpy(&value, data + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <class T>
void WriteCell(uint8_t* data, int64_t index, T value) {
  std::memcpy(data + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

}  // namespace aotc

#endif  // AOTC_COMPILER_EVAL_TENSOR_DATA_H_
