// TypeProto to ValueType, with the flags that pin and bound dims applied to the inputs.
#ifndef AOTC_COMPILER_IMPORT_ONNX_TYPES_H_
#define AOTC_COMPILER_IMPORT_ONNX_TYPES_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/onnx_import.h"
#include "compiler/import/onnx_proto.h"
#include "compiler/import/symbol_table.h"
#include "compiler/ir/graph.h"

namespace aotc {

// An input that --bind made a constant of these dims: they state what its symbols are.
struct BoundInput {
  const pb::ValueInfoProto* input;
  std::vector<int64_t> dims;
};

struct MainInputs {
  std::vector<const pb::ValueInfoProto*> inputs;  // those that are no constants
  std::vector<BoundInput> bound;
};

// An input that is a sequence, an optional or a map: how large its parts are (ir/bundle.h).
struct CompositeInput {
  BundleKind kind = BundleKind::kSequence;
  DType dtype = DType::kUndefined;  // of a map, of its values
  int64_t room = 0;                 // in items or entries
  std::vector<int64_t> most = {};   // per axis of an item
  bool varies = false;              // items may have other dims
};

struct InputValue {
  ValueType type = {};
  std::optional<CompositeInput> composite = {};
  // Of an input of integers of which a flag bounds one: a symbol each.
  std::optional<std::vector<Expr>> elements = {};
};

// The graph inputs that are no constants, in order. Every finding goes into `diagnostics`; an input
// with one has an unknown type.
std::vector<InputValue> ImportInputValues(const MainInputs& main, const ImportOptions& options,
                                          SymbolTable& symbols, Diagnostics& diagnostics);

// The number that a dim states; exporters also write -1 for none.
std::optional<int64_t> NumberOf(const pb::TensorShapeProto::Dimension& dim);
// The text that a dim states; exporters also write "-1", "?" or "" for none.
std::string DimText(const pb::TensorShapeProto::Dimension& dim);

// What a shape states, as a hint: "its dims are [batch, 3, ?]".
std::string DimsHint(const pb::TensorShapeProto& shape);

// One error for all symbols without a bound, with the command and the flags that give them one.
void ReportUnbound(const SymbolTable& symbols, const std::string& command,
                   Diagnostics& diagnostics);

// A type as a declaration states it, with dims only where all of them are known from the inputs:
// what outputs of the graph and inputs of regions say of themselves. Nothing known gives
// UnknownType().
ValueType DeclaredType(const pb::ValueInfoProto& info, const SymbolTable& symbols);

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_ONNX_TYPES_H_
