// Types of If and Repeat (ir/control_flow.h), whose regions are walked as part of the graph.
//
//   ControlInference control(graph, known, diagnostics);
//   if (ControlInference::Handles(node)) return control.Visit(rebuilder, node);
//
// * An If whose condition is known, for all sizes, gives way to the branch that is taken.
// * Both branches have to give tensors of one element type and rank. A dim that is not the same in
//   both is a symbol that the branch taken sets.
// * A condition of one element and another rank is reshaped to bool [].
#ifndef AOTC_COMPILER_CANONICALIZE_INFER_CONTROL_H_
#define AOTC_COMPILER_CANONICALIZE_INFER_CONTROL_H_

#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "compiler/canonicalize/known_elements.h"
#include "compiler/canonicalize/run_sizes.h"
#include "compiler/ir/graph_rebuild.h"
#include "compiler/support/diagnostics.h"

namespace aotc {

class ControlInference {
 public:
  // `known`: what the walk has found so far.
  ControlInference(const Graph& old_graph, const KnownElements& known, SizeWalk& sizes,
                   Diagnostics& diagnostics);

  static bool Handles(const Node& node);
  // Complaints about the node go to the diagnostics; an error is one of the walk.
  absl::Status Visit(Rebuilder& rebuilder, const Node& node);
  // `old_value` is an output of a region that stays one: not of a branch that replaced its If.
  bool IsRegionOutput(ValueId old_value) const { return region_outputs_.contains(old_value); }

 private:
  void Complain(const Node& node, const absl::Status& refusal, const char* hint = "") const;
  // The branch of an If that is always taken; nothing where that is not known.
  std::optional<RegionId> DecidedBranch(Rebuilder& rebuilder, const Node& node) const;
  absl::Status TakeBranch(Rebuilder& rebuilder, const Node& node, RegionId branch);
  absl::Status VisitIf(Rebuilder& rebuilder, const Node& node);
  // `impossible`: why no run can take a branch of the new node.
  void DropImpossible(Graph& graph, NodeId node, const Node& old_node,
                      const std::map<RegionId, absl::Status>& impossible) const;
  void NoteTwoRanks(const Node& old_node) const;
  void TypeIf(Rebuilder& rebuilder, NodeId node, const Node& old_node) const;

  const Graph& old_;
  const KnownElements& known_;
  SizeWalk& sizes_;
  Diagnostics& diagnostics_;
  std::set<ValueId> region_outputs_;  // of the old graph
};

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_INFER_CONTROL_H_
