// A conformance case of ONNX: a small model with inputs and expected outputs.
//
//   AOTC_ASSIGN_OR_RETURN(NodeModel model, ReadNodeModel(root / "test_abs"));
//   AOTC_RETURN_IF_ERROR(CheckValues(model));
//   AOTC_RETURN_IF_ERROR(CheckCompiled(model));
#ifndef AOTC_TESTS_CONFORMANCE_NODE_MODEL_H_
#define AOTC_TESTS_CONFORMANCE_NODE_MODEL_H_

#include <filesystem>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "tests/conformance/node_values.h"

namespace aotc {

struct NodeModel {
  Graph graph;                     // as imported, for inputs of the data's shapes
  std::vector<Bundle> bundles;     // of its inputs and outputs
  std::vector<Constant> inputs;    // one per input of the graph
  std::vector<NodeValue> outputs;  // expected, one per output of the model
  double absolute = 1e-7;          // tolerance of their floats, as ONNX's runner has it
};

// Imports a model and reads its data. Unimplemented where the model has an op without a definition:
// it is no case of ours yet.
absl::StatusOr<NodeModel> ReadNodeModel(const std::filesystem::path& folder);

// Evaluates the graph, every value known to every node, and compares the outputs by the rule of
// ONNX's runner; but what is no float has to be equal.
absl::Status CheckValues(const NodeModel& model);

// The way that a model compiles, every input one of the run: infers types, folds, verifies the
// kernel of each node that is left, evaluates, and compares the outputs.
absl::Status CheckCompiled(const NodeModel& model);

}  // namespace aotc

#endif  // AOTC_TESTS_CONFORMANCE_NODE_MODEL_H_
