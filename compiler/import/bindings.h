// The values that --bind gives to inputs and initializers of the main graph.
//
//   Bindings bindings(model.graph(), options, diagnostics);
//   if (const Constant* value = bindings.Find("anchors")) ...
#ifndef AOTC_COMPILER_IMPORT_BINDINGS_H_
#define AOTC_COMPILER_IMPORT_BINDINGS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/import/onnx_import.h"
#include "compiler/import/onnx_proto.h"
#include "compiler/ir/constant.h"

namespace aotc {

class Bindings {
 public:
  // Reads the files. Findings: a name that the graph does not have, or has as a kept input, a name
  // bound twice, a file that cannot be read, another element type, other dims than the initializer
  // has. The dims of inputs are compared where their symbols are known (onnx_types.h).
  Bindings(const pb::GraphProto& graph, const ImportOptions& options, Diagnostics& diagnostics);

  // Null where nothing is bound to that name.
  const Constant* Find(const std::string& name) const;
  const std::map<std::string, Constant>& values() const { return values_; }

 private:
  absl::StatusOr<Constant> Read(const BindOption& option) const;

  const pb::GraphProto& graph_;
  std::map<std::string, Constant> values_;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_BINDINGS_H_
