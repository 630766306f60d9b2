#include "compiler/import/onnx_tensor.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "compiler/import/external_data.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 46;

absl::StatusOr<int64_t> CountElements(const std::vector<int64_t>& dims) {
  int64_t count = 1;
  bool empty = false;
  for (int64_t dim : dims) {
    if (dim < 0) return AOTC_REFUSAL(InvalidArgument, StrCat("dim ", dim, " is negative"));
    empty |= dim == 0;
    if (dim > 0 && (__builtin_mul_overflow(count, dim, &count) || count > kMaxBytes)) {
      return AOTC_REFUSAL(InvalidArgument, "its dims overflow");
    }
  }
  return empty ? 0 : count;
}

absl::Status WrongSize(int64_t found, int64_t needed, std::string_view unit) {
  return AOTC_REFUSAL(InvalidArgument,
                      StrCat("holds ", found, " ", unit, ", its dims need ", needed));
}

// The low ByteWidth bytes of each item, which is how TensorProto widens small types.
template <class Field>
std::vector<uint8_t> Narrow(const Field& field, size_t width) {
  std::vector<uint8_t> bytes(static_cast<size_t>(field.size()) * width);
  for (int i = 0; i < field.size(); ++i) {
    auto item = field.Get(i);
    std::memcpy(bytes.data() + static_cast<size_t>(i) * width, &item, width);
  }
  return bytes;
}

// The typed field of an element type as bytes.
std::vector<uint8_t> TypedBytes(const pb::TensorProto& tensor, DType dtype) {
  switch (dtype) {
    case DType::kF32: return Narrow(tensor.float_data(), 4);
    case DType::kC64: return Narrow(tensor.float_data(), 4);
    case DType::kF64: return Narrow(tensor.double_data(), 8);
    case DType::kC128: return Narrow(tensor.double_data(), 8);
    case DType::kI64: return Narrow(tensor.int64_data(), 8);
    case DType::kU32: return Narrow(tensor.uint64_data(), 4);
    case DType::kU64: return Narrow(tensor.uint64_data(), 8);
    case DType::kU2:
    case DType::kI2:
    case DType::kU4:
    case DType::kI4:
    case DType::kF4E2M1: return Narrow(tensor.int32_data(), 1);  // bytes, as in raw data
    default: return Narrow(tensor.int32_data(), static_cast<size_t>(ByteWidth(dtype)));
  }
}

bool HasTypedData(const pb::TensorProto& tensor) {
  return tensor.float_data_size() + tensor.int32_data_size() + tensor.int64_data_size() +
             tensor.double_data_size() + tensor.uint64_data_size() + tensor.string_data_size() >
         0;
}

absl::StatusOr<Constant> ReadStrings(const pb::TensorProto& tensor,
                                     const std::vector<int64_t>& dims, int64_t count) {
  if (tensor.string_data_size() != count) {
    return WrongSize(tensor.string_data_size(), count, "strings");
  }
  return Constant::Strings(dims, {tensor.string_data().begin(), tensor.string_data().end()});
}

absl::StatusOr<int64_t> ParseOffset(const std::string& key, const std::string& text) {
  int64_t value = 0;
  if (!absl::SimpleAtoi(text, &value) || value < 0) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("external data with ", key, " '", DisplayName(text),
                                                "'; hint: a number of bytes is due"));
  }
  return value;
}

absl::StatusOr<ExternalRange> ParseRange(const pb::TensorProto& tensor) {
  ExternalRange range;
  for (const pb::StringStringEntryProto& entry : tensor.external_data()) {
    if (entry.key() == "location") range.location = entry.value();
    if (entry.key() == "offset") {
      AOTC_ASSIGN_OR_RETURN(range.offset, ParseOffset(entry.key(), entry.value()));
    }
    if (entry.key() == "length") {
      AOTC_ASSIGN_OR_RETURN(range.length, ParseOffset(entry.key(), entry.value()));
    }
  }
  return range;
}

// Any value but 0 is true in the file, 1 is in ours.
void NormalizeBools(std::vector<uint8_t>& bytes) {
  for (uint8_t& byte : bytes) byte = byte != 0 ? 1 : 0;
}

// Where the values of a sparse tensor of those dims are, row-major. The indices are such places, or
// [values, rank].
absl::StatusOr<std::vector<int64_t>> PlacesOf(const Constant& indices, int64_t values,
                                              const std::vector<int64_t>& dims) {
  const auto rank = static_cast<int64_t>(dims.size());
  const bool linear = indices.dims() == std::vector<int64_t>{values};
  if (indices.dtype() != DType::kI64 ||
      (!linear && indices.dims() != std::vector<int64_t>{values, rank})) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("its indices are no int64 of [", values,
                                                "] or of [", values, ", ", rank, "]"));
  }
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  std::vector<int64_t> places;
  for (int64_t k = 0; k < values; ++k) {
    int64_t place = linear ? indices.IntAt(k) : 0;
    bool inside = place >= 0 && place < count;
    for (int64_t d = 0; d < rank && !linear; ++d) {
      const int64_t index = indices.IntAt(k * rank + d), dim = dims[static_cast<size_t>(d)];
      inside = inside && index >= 0 && index < dim;
      place = inside ? place * dim + index : 0;
    }
    if (!inside || (k > 0 && place <= places.back())) {
      return AOTC_REFUSAL(InvalidArgument,
                          "its indices are not those of elements in ascending order");
    }
    places.push_back(place);
  }
  return places;
}

// Zeros of a type with each value at its place.
Constant Scattered(const Constant& values, const std::vector<int64_t>& places,
                   const std::vector<int64_t>& dims, int64_t count) {
  const DType dtype = values.dtype();
  if (dtype == DType::kString) {
    std::vector<std::string> strings(static_cast<size_t>(count));
    for (size_t k = 0; k < places.size(); ++k) {
      strings[static_cast<size_t>(places[k])] = values.strings()[k];
    }
    return Constant::Strings(dims, std::move(strings));
  }
  std::vector<uint8_t> bytes(static_cast<size_t>(StorageBytes(dtype, count)));
  const auto width = static_cast<size_t>(ByteWidth(dtype));
  const std::span<const uint8_t> given = values.bytes();
  for (size_t k = 0; k < places.size(); ++k) {
    const auto place = static_cast<size_t>(places[k]);
    if (width > 0) {
      std::memcpy(bytes.data() + place * width, given.data() + k * width, width);
    } else {  // of less than a byte, which a double holds
      StoreElement(dtype, bytes.data(), places[k],
                   LoadElement(dtype, given.data(), static_cast<int64_t>(k)));
    }
  }
  return Constant::Dense(dtype, dims, std::move(bytes));
}

}  // namespace

absl::StatusOr<DType> DTypeFromOnnx(int number) {
  if (!IsKnownDType(number)) {
    return AOTC_REFUSAL(Unimplemented,
                        number == 0 ? "has no element type"
                                    : StrCat("element type ", number, " of ONNX is not supported"));
  }
  return static_cast<DType>(number);
}

absl::StatusOr<std::vector<uint8_t>> TensorReader::ReadExternal(const pb::TensorProto& tensor,
                                                                int64_t bytes) {
  AOTC_ASSIGN_OR_RETURN(ExternalRange range, ParseRange(tensor));
  AOTC_ASSIGN_OR_RETURN(std::vector<uint8_t> content, ReadExternalData(folder_, range, bytes));
  files_.insert(range.location);
  return content;
}

absl::StatusOr<Constant> TensorReader::Read(const pb::TensorProto& tensor) {
  AOTC_ASSIGN_OR_RETURN(DType dtype, DTypeFromOnnx(tensor.data_type()));
  std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  AOTC_ASSIGN_OR_RETURN(int64_t count, CountElements(dims));
  if (tensor.has_segment()) return AOTC_REFUSAL(Unimplemented, "is split into segments");
  bool external = tensor.data_location() == pb::TensorProto::EXTERNAL;
  if (dtype == DType::kString) {
    if (external) return AOTC_REFUSAL(InvalidArgument, "strings cannot be external data");
    return ReadStrings(tensor, dims, count);
  }
  int64_t needed = StorageBytes(dtype, count);
  std::vector<uint8_t> bytes;
  if (external) {
    AOTC_ASSIGN_OR_RETURN(bytes, ReadExternal(tensor, needed));
  } else if (tensor.has_raw_data()) {
    if (!tensor.raw_data().empty() && HasTypedData(tensor)) {
      return AOTC_REFUSAL(InvalidArgument, "holds its values twice, raw and typed");
    }
    bytes.assign(tensor.raw_data().begin(), tensor.raw_data().end());
    if (bytes.empty() && HasTypedData(tensor)) bytes = TypedBytes(tensor, dtype);
  } else {
    bytes = TypedBytes(tensor, dtype);
  }
  auto found = static_cast<int64_t>(bytes.size());
  if (found != needed) return WrongSize(found, needed, "bytes");
  if (dtype == DType::kBool) NormalizeBools(bytes);
  return Constant::Dense(dtype, std::move(dims), std::move(bytes));
}

absl::StatusOr<Constant> TensorReader::ReadSparse(const pb::SparseTensorProto& tensor) {
  constexpr int64_t kMostBytes = int64_t{1} << 31;  // the file is no bound
  const std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  AOTC_ASSIGN_OR_RETURN(const int64_t count, CountElements(dims));
  AOTC_ASSIGN_OR_RETURN(const Constant values, Read(tensor.values()));
  if (std::max(count, StorageBytes(values.dtype(), count)) > kMostBytes) {
    return AOTC_REFUSAL(Unimplemented, "is sparse, and as a dense tensor larger than 2 GiB");
  }
  AOTC_ASSIGN_OR_RETURN(const Constant indices, Read(tensor.indices()));
  AOTC_ASSIGN_OR_RETURN(const std::vector<int64_t> places,
                        PlacesOf(indices, values.element_count(), dims));
  return Scattered(values, places, dims, count);
}

}  // namespace aotc
