#include "compiler/import/tensor_file.h"

#include <google/protobuf/stubs/logging.h>

#include "compiler/import/onnx_tensor.h"
#include "compiler/support/files.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {

absl::StatusOr<Constant> ReadTensorFile(const std::string& path) {
  AOTC_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
  google::protobuf::LogSilencer silencer;
  pb::TensorProto tensor;
  if (!tensor.ParseFromString(bytes)) {
    return AOTC_REFUSAL(InvalidArgument, StrCat(path, ": holds no tensor"));
  }
  absl::StatusOr<Constant> constant = TensorReader("").Read(tensor);
  if (constant.ok()) return constant;
  return absl::Status(constant.status().code(), StrCat(path, ": ", constant.status().message()));
}

}  // namespace aotc
