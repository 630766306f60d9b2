#include "compiler/eval/definitions.h"

#include <algorithm>

#include "compiler/ops/expansion.h"
#include "compiler/ops/op.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

bool HasDefinition(const Node& node) {
  const OpDef* op = node.regions.empty() ? nullptr : FindOp(node.op);
  return op != nullptr && op->expand != nullptr;
}

// Its definition reads the graph around it.
bool ReadsGraph(const Node& node) { return HasTrait(node.op, kExpandsLast); }

absl::StatusOr<bool> Define(Rebuilder& rebuilder, const Node& node) {
  AOTC_RETURN_IF_ERROR(FindOp(node.op)->expand(rebuilder, node));
  return true;
}

}  // namespace

bool NeedsDefinitions(const Graph& graph) {
  return std::ranges::any_of(
      graph.nodes, [](const Node& node) { return HasDefinition(node) || ReadsGraph(node); });
}

absl::StatusOr<Graph> WithDefinitions(const Graph& graph) {
  Graph current = std::ranges::any_of(graph.nodes, ReadsGraph) ? DropDead(graph) : graph;
  while (std::ranges::any_of(current.nodes, ReadsGraph)) {
    AOTC_ASSIGN_OR_RETURN(current, ExpandRound(current, Define));
  }
  return RebuildGraph(current, [](Rebuilder& rebuilder, const Node& node) -> absl::StatusOr<bool> {
    return HasDefinition(node) ? Define(rebuilder, node) : false;
  });
}

}  // namespace aotc
