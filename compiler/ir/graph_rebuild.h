// Rebuilding: how passes change a graph. Walk the old graph in order, emit into a new one through a
// value map; what no output needs is never copied, order is deterministic.
//
//   return RebuildGraph(graph, [](Rebuilder& r, const Node& node) -> absl::StatusOr<bool> {
//     if (node.op != "Identity") return false;                 // keep: copied as it is
//     r.Replace(node.outputs[0], r.Mapped(node.inputs[0]));    // drop
//     return true;
//   });
#ifndef AOTC_COMPILER_IR_GRAPH_REBUILD_H_
#define AOTC_COMPILER_IR_GRAPH_REBUILD_H_

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace aotc {

class Rebuilder;

// True where the visitor has replaced all outputs of the (old) node, false to copy it.
using NodeVisitor = std::function<absl::StatusOr<bool>(Rebuilder&, const Node&)>;

// Called for each region of a node that is copied, with the new region, into which nodes go:
// `enter` when it has its inputs, `leave` when it has all nodes and its outputs.
struct RegionHooks {
  std::function<absl::Status(RegionId)> enter = {};
  std::function<absl::Status(RegionId)> leave = {};
};

// Which inputs and outputs of a region are copied; all of them where none are given.
struct RegionPorts {
  std::vector<char> inputs = {};
  std::vector<char> outputs = {};
};

class Rebuilder {
 public:
  explicit Rebuilder(const Graph& old_graph);

  const Graph& old_graph() const { return old_; }
  Graph& graph() { return new_; }
  RegionId region() const { return region_; }  // of the new graph, where nodes go now
  // The node is one of that region: not of one around it.
  bool IsLocal(NodeId node) const { return node.index() >= first_node_; }
  // That region, or one that encloses it: nodes there may read the values of `region`.
  bool IsOpen(RegionId region) const { return region == region_ || enclosing_.contains(region); }

  // The new value for an old one (copied on first use if it is a constant); invalid stays invalid.
  ValueId Mapped(ValueId old_value);
  // From now on readers of `old_value` read `new_value`, to the end of the region where nodes go
  // now; a value that Emit made takes the old one's name.
  void Replace(ValueId old_value, ValueId new_value);
  // As an output of its region `old_value` is `new_value`, whatever its readers read.
  void ReplaceAsOutput(ValueId old_value, ValueId new_value) { outputs_[old_value] = new_value; }
  // The value has its new one, or nothing needs it.
  bool IsDefined(ValueId old_value) const;
  // Copies a node of the old graph, regions too, with mapped inputs; its outputs become new values.
  // Outputs that nothing needs become invalid; those of an If or a Repeat go, with what only they
  // need in the regions.
  absl::Status Copy(const Node& node, const RegionHooks& hooks = {});
  // A new region that `fill` gives inputs, nodes and outputs: Emit, Copy and Splice go there.
  absl::StatusOr<RegionId> BuildRegion(const std::function<absl::Status(RegionId)>& fill);
  // Walks the nodes of a region of the old graph, from that position on, as if they stood here: for
  // a branch that is always taken, whose outputs are Mapped afterwards.
  absl::Status Splice(RegionId old_region, size_t first = 0);
  // Adds a node with one output of the given type and returns that.
  ValueId Emit(std::string_view op, std::vector<ValueId> inputs, Attributes attributes,
               ValueType type, const Node& origin);

 private:
  friend absl::StatusOr<Graph> RebuildGraph(const Graph&, const NodeVisitor&);
  friend Graph DropDead(const Graph&);

  absl::Status CopyAll();
  ValueId CopyValue(ValueId old_value);
  absl::StatusOr<RegionId> CopyRegion(RegionId old_region, const RegionHooks& hooks = {},
                                      const RegionPorts& ports = {});
  absl::Status FillRegion(RegionId old_region, const RegionHooks& hooks, const RegionPorts& ports);
  void FinishOutputs(RegionId id);
  void FinishMainOutputs();

  const Graph& old_;
  Graph new_;
  RegionId region_;
  int32_t first_node_ = 0;        // of those that came after region_ was begun
  std::set<RegionId> enclosing_;  // of region_
  IdVector<ValueId, ValueId> map_;
  std::map<ValueId, ValueId> outputs_;   // of regions, where they are not as in map_
  IdVector<ValueId, char> needed_;       // of the old graph
  std::set<ValueId> provisional_names_;  // results of Emit that replace nothing so far
  // What `map_` held before each Replace, so that the end of a region can undo those in it.
  std::vector<std::pair<ValueId, ValueId>> replaced_;
  NodeVisitor visit_;
};

// Walks the nodes that outputs need, regions and functions included. Nodes and constants that
// nothing needs are dropped from the result; graph inputs and outputs keep name and order: where an
// output's replacement is an input, a constant or another output, an Identity is put between. So it
// is in regions, where an output is never a value from outside either.
absl::StatusOr<Graph> RebuildGraph(const Graph& graph, const NodeVisitor& visit);

// The graph without what no output needs.
Graph DropDead(const Graph& graph);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_GRAPH_REBUILD_H_
