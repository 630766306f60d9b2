// The operators of ONNX on sequences and optionals, as nodes over the parts of those.
//
//   if (const CompositeOp op = FindCompositeOp("SequenceAt")) {
//     AOTC_ASSIGN_OR_RETURN(CompositeResult result, op(call));
//   }
//
// What is known as the model is read makes no node: item 1 of a sequence of three tensors is the
// second tensor.
#ifndef AOTC_COMPILER_IMPORT_SEQUENCE_OPS_H_
#define AOTC_COMPILER_IMPORT_SEQUENCE_OPS_H_

#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/composite.h"
#include "compiler/import/onnx_proto.h"

namespace aotc {

// A node of the model: `operands` are plain values, handles, or invalid where they are absent.
struct CompositeCall {
  std::vector<ValueId> operands;
  const std::vector<pb::AttributeProto>& attributes;
  const CompositeTable& table;
  CompositeBuilder builder;
};

// The one output of the node.
using CompositeResult = std::variant<ValueId, Composite>;
using CompositeOp = absl::StatusOr<CompositeResult> (*)(CompositeCall& call);

struct CompositeOpDef {
  std::string_view name;  // of ai.onnx
  std::string_view summary;
  CompositeOp run = nullptr;  // none of an op with a body, which its importer reads
};
// By name, for the operator table.
std::span<const CompositeOpDef> CompositeOps();
// Null where the op is none of these.
CompositeOp FindCompositeOp(std::string_view op);

// How a type is held; nothing for a plain tensor. Error: a nesting that nothing supports.
struct CompositeType {
  BundleKind kind = BundleKind::kSequence;
  const pb::TypeProto::Tensor* item = nullptr;  // of a map, a value
};
absl::StatusOr<std::optional<CompositeType>> CompositeTypeOf(const pb::TypeProto& type);

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_SEQUENCE_OPS_H_
