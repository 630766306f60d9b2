#include "compiler/eval/tensor_data.h"

#include <algorithm>
#include <utility>

#include "compiler/support/strings.h"

namespace aotc {
namespace {

int64_t Product(const std::vector<int64_t>& dims) {
  int64_t product = 1;
  for (int64_t dim : dims) product *= dim;
  return product;
}

std::vector<int64_t> Strides(const std::vector<int64_t>& dims, bool splat) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = splat ? 0 : 1;
  for (size_t i = dims.size(); i-- > 0; stride *= dims[i]) strides[i] = stride;
  return strides;
}

// Copies `count` elements between the cell form and the storage form; floats through double, which
// holds every cell type but 64-bit integers, and those need no unpacking.
void Convert(DType from, const uint8_t* source, DType to, uint8_t* target, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    StoreElement(to, target, i, LoadElement(from, source, i));
  }
}

}  // namespace

bool TensorData::is_splat() const {
  return std::all_of(strides.begin(), strides.end(), [](int64_t stride) { return stride == 0; });
}

DType CellType(DType dtype) {
  if (dtype == DType::kBool) return DType::kU8;
  if (IsSubByte(dtype) && IsInteger(dtype)) {
    return IsSignedInteger(dtype) ? DType::kI8 : DType::kU8;
  }
  return ComputeType(dtype);
}

absl::StatusOr<TensorData> ReadTensor(const Constant& constant) {
  DType dtype = constant.dtype();
  if (!IsFloat(dtype) && !IsInteger(dtype) && dtype != DType::kBool) {
    return absl::InternalError(
        StrCat("elements of type ", DTypeName(dtype), " have no arithmetic"));
  }
  TensorData tensor = {.dtype = dtype, .cell = CellType(dtype), .dims = constant.dims()};
  tensor.strides = Strides(tensor.dims, constant.is_splat());
  tensor.source = constant;
  if (tensor.cell == dtype || dtype == DType::kBool) {
    tensor.data = tensor.source.bytes().data();
    return tensor;
  }
  int64_t count = constant.is_splat() ? 1 : constant.element_count();
  tensor.cells.resize(static_cast<size_t>(StorageBytes(tensor.cell, count)));
  Convert(dtype, constant.bytes().data(), tensor.cell, tensor.cells.data(), count);
  tensor.data = tensor.cells.data();
  return tensor;
}

TensorData MakeTensor(DType dtype, std::vector<int64_t> dims, bool splat) {
  TensorData tensor = {.dtype = dtype, .cell = CellType(dtype), .dims = std::move(dims)};
  tensor.strides = Strides(tensor.dims, splat);
  int64_t count = splat ? 1 : Product(tensor.dims);
  tensor.cells.resize(static_cast<size_t>(StorageBytes(tensor.cell, count)));
  tensor.data = tensor.cells.data();
  return tensor;
}

Constant WriteTensor(TensorData tensor) {
  if (tensor.cells.empty() && tensor.source.dtype() != DType::kUndefined) return tensor.source;
  bool splat = tensor.is_splat() && !tensor.dims.empty() && Product(tensor.dims) != 0;
  if (tensor.cell != tensor.dtype && tensor.dtype != DType::kBool) {
    int64_t count = splat ? 1 : Product(tensor.dims);
    std::vector<uint8_t> packed(static_cast<size_t>(StorageBytes(tensor.dtype, count)));
    Convert(tensor.cell, tensor.cells.data(), tensor.dtype, packed.data(), count);
    tensor.cells = std::move(packed);
  }
  return splat ? Constant::SplatBytes(tensor.dtype, tensor.dims, std::move(tensor.cells))
               : Constant::Dense(tensor.dtype, tensor.dims, std::move(tensor.cells));
}

}  // namespace aotc
