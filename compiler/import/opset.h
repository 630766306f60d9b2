// Normalisation: nodes of older opsets in the form of the newest that compiler/ops defines.
//
//   NormalizeNode(graph, region, node, /*opset=*/9);   // appends Slice-9 as Slice-13, and so on
//
// A rule holds for all opsets before the one that made it needless; the table is in opset.cc.
#ifndef AOTC_COMPILER_IMPORT_OPSET_H_
#define AOTC_COMPILER_IMPORT_OPSET_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace aotc {

inline constexpr int kOldestOpset = 1;
inline constexpr int kNewestOpset = 27;

// A node on its way into a graph: rules change it and put nodes before and after it.
class NodeEdit {
 public:
  NodeEdit(Graph& graph, RegionId region, Node node, int opset);

  Node& node() { return node_; }
  int opset() const { return opset_; }

  bool HasInput(size_t index) const;
  bool HasOutput(size_t index) const;
  const Constant* ConstInput(size_t index) const;
  // Puts a value at an input position; positions before it that are missing become absent inputs.
  void SetInput(size_t index, ValueId value);

  ValueId AddConstant(std::string_view suffix, Constant constant);
  ValueId AddInts(std::string_view suffix, const std::vector<int64_t>& values);
  // A node before this one; its only output.
  ValueId Before(std::string_view op, std::vector<ValueId> inputs, Attributes attributes = {});
  // A node after this one that takes over its output `index`; returns what this node now defines
  // there. `inputs` follow that value.
  ValueId After(size_t index, std::string_view op, std::vector<ValueId> inputs,
                Attributes attributes = {});

  // Turns the attribute into a constant i64 input, where it is present.
  void IntsAttributeToInput(std::string_view name, size_t index);

  // Appends the node and what follows it.
  void Finish();
  // What its first output is called in the model.
  std::string BaseName() const;

  // For rules that change a region of the node, or put the node into one. Nodes that Before adds go
  // to `region` until the next call; the result is where they went until then.
  Graph& graph() { return graph_; }
  RegionId GoTo(RegionId region) { return std::exchange(region_, region); }

 private:
  Graph& graph_;
  RegionId region_;
  Node node_;
  int opset_;
  std::vector<Node> after_;
};

struct OpsetRule {
  std::string_view op;
  int until;  // applies to opsets below
  absl::Status (*apply)(NodeEdit& edit);
};

// Error (without place): a form that has no equivalent.
absl::Status NormalizeNode(Graph& graph, RegionId region, Node node, int opset);

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_OPSET_H_
