// Tensors of strings on their way into a graph: constants and nodes, over the parts of each (those
// of ops/strings.h).
//
//   CompositeTable table;
//   table.Define(id, AddStringConstant(graph, "words", constant));
//   if (UsesStrings(node, table)) return ImportStringNode(graph, region, node, how, table);
#ifndef AOTC_COMPILER_IMPORT_STRING_VALUES_H_
#define AOTC_COMPILER_IMPORT_STRING_VALUES_H_

#include <string_view>

#include "absl/status/status.h"
#include "compiler/import/composite.h"
#include "compiler/ir/graph.h"

namespace aotc {

inline bool IsStringTensor(const ValueType& type) {
  return type.kind == ValueKind::kTensor && type.dtype == DType::kString;
}

// What stands for constant strings.
Composite AddStringConstant(Graph& graph, std::string_view name, const Constant& constant);

// Whether a node takes or gives strings. Its inputs and outputs are handles where they are.
bool UsesStrings(const Node& node, const CompositeTable& table);

struct StringNodeOptions {
  int opset = 0;            // of ai.onnx, where the op is of that domain
  bool is_standard = true;  // it is
  int64_t max_string_bytes = 0;
};

// Appends what makes of the parts of the operands those of the results, which become known. Error
// (without place): an op that is not for strings, or not in this form.
absl::Status ImportStringNode(Graph& graph, RegionId region, const Node& node,
                              const StringNodeOptions& options, CompositeTable& table);

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_STRING_VALUES_H_
