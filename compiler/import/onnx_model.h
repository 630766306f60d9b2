// ONNX's message of a whole model, from a file.
#ifndef AOTC_COMPILER_IMPORT_ONNX_MODEL_H_
#define AOTC_COMPILER_IMPORT_ONNX_MODEL_H_

#include <string>

#include "absl/status/status.h"
#include "compiler/import/onnx_proto.h"

namespace aotc {

// Error (to be read after the name of the file): no such file, larger than protobuf can read, no
// model, without a graph, of a version of the format that is not known.
absl::Status ReadModelFile(const std::string& path, pb::ModelProto& model);

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_ONNX_MODEL_H_
