// Tensors of ONNX's test data: files that hold one serialized TensorProto each.
//
//   AOTC_ASSIGN_OR_RETURN(Constant x, ReadTensorFile("test_data_set_0/input_0.pb"));
#ifndef AOTC_COMPILER_IMPORT_TENSOR_FILE_H_
#define AOTC_COMPILER_IMPORT_TENSOR_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/ir/constant.h"

namespace aotc {

// Errors name the file: missing, no tensor (sequences and optionals lie in such files too), an
// element type that constants do not have.
absl::StatusOr<Constant> ReadTensorFile(const std::string& path);

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_TENSOR_FILE_H_
