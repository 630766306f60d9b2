// Tensors of ONNX's test data: files that hold one serialized TensorProto each.
//
//   absl::StatusOr<Constant> x = ReadTensorFile(folder / "input_0.pb");
#ifndef AOTC_TESTS_CONFORMANCE_TENSOR_FILE_H_
#define AOTC_TESTS_CONFORMANCE_TENSOR_FILE_H_

#include <filesystem>

#include "absl/status/statusor.h"
#include "compiler/ir/constant.h"

namespace onnx {
class TensorProto;
}

namespace aotc {

// Error where the file holds another kind of value (a sequence) or a type that constants do not
// have.
absl::StatusOr<Constant> ReadTensorFile(const std::filesystem::path& path);
absl::StatusOr<Constant> ToConstant(const onnx::TensorProto& proto);

}  // namespace aotc

#endif  // AOTC_TESTS_CONFORMANCE_TENSOR_FILE_H_
