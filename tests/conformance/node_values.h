// Inputs and outputs of conformance cases as their files have them: tensors, sequences, optionals;
// and as the constants of a graph, which are tensors (compiler/ir/bundle.h).
//
//   AOTC_ASSIGN_OR_RETURN(NodeValue value, ReadNodeValue(folder / "input_0.pb", bundle));
//   for (Constant& part : PartsOf(value, types)) inputs.push_back(std::move(part));
#ifndef AOTC_TESTS_CONFORMANCE_NODE_VALUES_H_
#define AOTC_TESTS_CONFORMANCE_NODE_VALUES_H_

#include <filesystem>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/bundle.h"
#include "compiler/ir/graph.h"

namespace aotc {

// One tensor; the items of a sequence; none or one of an optional.
struct NodeValue {
  std::vector<Constant> items = {};
  bool present = true;  // of an optional
};

// `bundle` is null for a tensor. Error: the file is missing, or holds something else.
absl::StatusOr<NodeValue> ReadNodeValue(const std::filesystem::path& path, const Bundle* bundle);

// The parts of a value, for graph inputs of these types. Error: they have no room for it.
absl::StatusOr<std::vector<Constant>> PartsOf(const NodeValue& value, BundleKind kind,
                                              const std::vector<ValueType>& types);
// The other way.
NodeValue ValueOfParts(BundleKind kind, const std::vector<Constant>& parts);

}  // namespace aotc

#endif  // AOTC_TESTS_CONFORMANCE_NODE_VALUES_H_
