// A conformance case of ONNX: one model of one node, with inputs and expected outputs.
//
//   AOTC_ASSIGN_OR_RETURN(NodeModel model, ReadNodeModel(root / "test_abs"));
//   AOTC_RETURN_IF_ERROR(RunNodeModel(model, Operands::kKnown));
#ifndef AOTC_TESTS_CONFORMANCE_NODE_MODEL_H_
#define AOTC_TESTS_CONFORMANCE_NODE_MODEL_H_

#include <filesystem>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace aotc {

struct NodeModel {
  Graph graph;  // its inputs have the types of the data
  Node node;
  std::vector<Constant> inputs;   // one per input of the main region
  std::vector<Constant> outputs;  // expected, one per output of the node that is there
};

// Unimplemented where the model has several nodes or an op or a type that is not supported: not a
// case of ours yet. Any other error is one of the data.
absl::StatusOr<NodeModel> ReadNodeModel(const std::filesystem::path& folder);

// What of the inputs is known when the kernel is built: all, or only what the op has to know.
enum class Operands { kKnown, kDynamic };

// Builds and evaluates the kernel of the node. Error: anything that fails, or the first output that
// differs.
absl::Status RunNodeModel(const NodeModel& model, Operands operands);

}  // namespace aotc

#endif  // AOTC_TESTS_CONFORMANCE_NODE_MODEL_H_
