// The order in which the nodes of an ONNX graph can be imported.
#ifndef AOTC_COMPILER_IMPORT_NODE_ORDER_H_
#define AOTC_COMPILER_IMPORT_NODE_ORDER_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/onnx_proto.h"

namespace aotc {

using NodeList = google::protobuf::RepeatedPtrField<pb::NodeProto>;

// Indices of `nodes` in topological order, the given order wherever it is one. Values that a node's
// subgraphs read, or its attributes name, count as its operands. Errors name the nodes: a cycle, a
// value defined twice.
absl::StatusOr<std::vector<int>> TopologicalOrder(const NodeList& nodes);

// The names that a node reads from outside: its inputs, what its subgraphs capture and its
// attributes name.
std::set<std::string> ReadsOf(const pb::NodeProto& node);

// The tensors of the graph that a node's attributes name: those between which Gradient
// differentiates. `xs`, then `zs`, then `y`.
struct NamedTensors {
  std::vector<std::string> xs = {};
  std::vector<std::string> zs = {};
  std::string y = {};
};
// Nothing for other ops.
std::optional<NamedTensors> TensorsNamedBy(const pb::NodeProto& node);

// The node's name, or that of its first output, fit for messages.
std::string NodeName(const pb::NodeProto& node);

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_NODE_ORDER_H_
