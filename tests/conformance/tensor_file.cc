#include "tests/conformance/tensor_file.h"

#include <onnx/onnx_pb.h>

#include <cstring>
#include <fstream>

#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Element `i` of the typed field that ONNX keeps elements of this type in.
void StoreTyped(const onnx::TensorProto& proto, DType dtype, int i, uint8_t* bytes) {
  if (proto.float_data_size() > 0) {
    StoreElement(dtype, bytes, i, proto.float_data(i));
  } else if (proto.double_data_size() > 0) {
    StoreElement(dtype, bytes, i, proto.double_data(i));
  } else if (proto.int64_data_size() > 0) {
    StoreIntElement(dtype, bytes, i, proto.int64_data(i));
  } else if (proto.uint64_data_size() > 0) {
    StoreIntElement(dtype, bytes, i, static_cast<int64_t>(proto.uint64_data(i)));
  } else if (IsFloat(dtype)) {  // f16 and bf16: the bits, in 32-bit integers
    auto bits = static_cast<uint16_t>(proto.int32_data(i));
    std::memcpy(bytes + 2 * i, &bits, sizeof(bits));
  } else {
    StoreIntElement(dtype, bytes, i, proto.int32_data(i));
  }
}

}  // namespace

absl::StatusOr<Constant> ToConstant(const onnx::TensorProto& proto) {
  if (!IsKnownDType(proto.data_type())) {
    return absl::UnimplementedError(StrCat("element type ", proto.data_type()));
  }
  auto dtype = static_cast<DType>(proto.data_type());
  std::vector<int64_t> dims(proto.dims().begin(), proto.dims().end());
  if (dtype == DType::kString) {
    return Constant::Strings(dims, {proto.string_data().begin(), proto.string_data().end()});
  }
  if (ByteWidth(dtype) == 0) return absl::UnimplementedError(StrCat("type ", DTypeName(dtype)));
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  std::vector<uint8_t> bytes(static_cast<size_t>(count * ByteWidth(dtype)));
  if (proto.has_raw_data()) {
    if (proto.raw_data().size() != bytes.size()) return absl::DataLossError("size of raw data");
    std::memcpy(bytes.data(), proto.raw_data().data(), bytes.size());
  } else {
    for (int i = 0; i < count; ++i) StoreTyped(proto, dtype, i, bytes.data());
  }
  return Constant::Dense(dtype, std::move(dims), std::move(bytes));
}

absl::StatusOr<Constant> ReadTensorFile(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  onnx::TensorProto proto;
  if (!stream || !proto.ParseFromIstream(&stream)) {
    return absl::NotFoundError(StrCat("no tensor in ", path.filename().string()));
  }
  return ToConstant(proto);
}

}  // namespace aotc
