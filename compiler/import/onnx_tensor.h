// TensorProto to Constant: raw, typed and external values of every element type.
//
//   TensorReader reader("/path/of/the/model's/folder");
//   AOTC_ASSIGN_OR_RETURN(Constant weight, reader.Read(initializer));
#ifndef AOTC_COMPILER_IMPORT_ONNX_TENSOR_H_
#define AOTC_COMPILER_IMPORT_ONNX_TENSOR_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/onnx_proto.h"
#include "compiler/ir/constant.h"

namespace aotc {

class TensorReader {
 public:
  // External data is read from files in `folder` and below it, and from nowhere else.
  explicit TensorReader(std::string folder) : folder_(std::move(folder)) {}

  // Errors (without the tensor's name): unknown element type, dims that are negative or overflow,
  // values that do not fill the dims, external data that is missing, outside the folder or too
  // short.
  absl::StatusOr<Constant> Read(const pb::TensorProto& tensor);

  // The same as a dense tensor, whose other elements are 0. Errors: also indices that do not name
  // an element for each value, in ascending order.
  absl::StatusOr<Constant> ReadSparse(const pb::SparseTensorProto& tensor);

  // External files read so far, relative to the folder as the model names them.
  const std::set<std::string>& files() const { return files_; }

 private:
  absl::StatusOr<std::vector<uint8_t>> ReadExternal(const pb::TensorProto& tensor, int64_t bytes);

  std::string folder_;
  std::set<std::string> files_;
};

// The element type, or an error that names the number.
absl::StatusOr<DType> DTypeFromOnnx(int number);

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_ONNX_TENSOR_H_
