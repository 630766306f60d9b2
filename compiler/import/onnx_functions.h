// Model-local functions: who they are and what attributes a call gives to their bodies.
//
//   FunctionTable functions(model);
//   if (const pb::FunctionProto* f = functions.Find(node)) {
//     AttributeScope inner = functions.Bind(*f, node, outer);
//   }
#ifndef AOTC_COMPILER_IMPORT_ONNX_FUNCTIONS_H_
#define AOTC_COMPILER_IMPORT_ONNX_FUNCTIONS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/onnx_proto.h"

namespace aotc {

// Attributes that the body of a function may refer to (ref_attr_name), by name; absent ones are not
// in it.
using AttributeScope = std::map<std::string, pb::AttributeProto>;

class FunctionTable {
 public:
  explicit FunctionTable(const pb::ModelProto& model);

  // Functions that exist twice: findings for the caller.
  const std::vector<std::string>& duplicates() const { return duplicates_; }

  const pb::FunctionProto* Find(const pb::NodeProto& node) const;

  // What the body of `function` sees when `node`, in whose place `outer` holds, calls it.
  static absl::StatusOr<AttributeScope> Bind(const pb::FunctionProto& function,
                                             const pb::NodeProto& node,
                                             const AttributeScope& outer);

 private:
  std::map<std::string, const pb::FunctionProto*> functions_;
  std::vector<std::string> duplicates_;
};

// The attributes of a node with references into `scope` resolved; a reference to an attribute that
// the call does not give is left out. Error: an attribute given twice.
absl::StatusOr<std::vector<pb::AttributeProto>> ResolveAttributes(const pb::NodeProto& node,
                                                                  const AttributeScope& scope);

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_ONNX_FUNCTIONS_H_
