// Tensors of strings on their way into a graph, which holds plain tensors alone: three for each
// (ops/strings.h). Names of a model mean ids of values, for these too; such an id is only a handle,
// which no node reads.
//
//   StringTable strings;
//   strings.Define(id, AddStringConstant(graph, "words", constant));
//   if (UsesStrings(node, strings)) return ImportStringNode(graph, region, node, how, strings);
#ifndef AOTC_COMPILER_IMPORT_STRING_VALUES_H_
#define AOTC_COMPILER_IMPORT_STRING_VALUES_H_

#include <array>
#include <map>
#include <string_view>

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace aotc {

// The values that stand for a tensor of strings: starts, sizes, pool.
struct StringParts {
  ValueId starts = {}, sizes = {}, pool = {};

  std::array<ValueId, 3> all() const { return {starts, sizes, pool}; }
};

class StringTable {
 public:
  void Define(ValueId handle, const StringParts& parts) { known_[handle] = parts; }
  // Null where the value is no tensor of strings.
  const StringParts* Find(ValueId value) const {
    const auto found = known_.find(value);
    return found == known_.end() ? nullptr : &found->second;
  }
  // Bounds of the axes of a handle are those of its starts and sizes.
  void ShareLimits(Graph& graph) const;

 private:
  std::map<ValueId, StringParts> known_;
};

inline bool IsStringTensor(const ValueType& type) {
  return type.kind == ValueKind::kTensor && type.dtype == DType::kString;
}

// Values without types, which are called after `name`.
StringParts AddStringValues(Graph& graph, std::string_view name);
StringParts AddStringConstant(Graph& graph, std::string_view name, const Constant& constant);

// Whether a node takes or gives strings. Its inputs and outputs are handles where they are.
bool UsesStrings(const Node& node, const StringTable& strings);

struct StringNodeOptions {
  int opset = 0;            // of ai.onnx, where the op is of that domain
  bool is_standard = true;  // it is
  int64_t max_string_bytes = 0;
};

// Appends what makes of the parts of the operands those of the results, which become known. Error
// (without place): an op that is not for strings, or not in this form.
absl::Status ImportStringNode(Graph& graph, RegionId region, const Node& node,
                              const StringNodeOptions& options, StringTable& strings);

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_STRING_VALUES_H_
