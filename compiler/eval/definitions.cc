#include "compiler/eval/definitions.h"

#include <algorithm>

#include "compiler/ir/graph_rebuild.h"
#include "compiler/ops/op.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

bool IsDefinedByOthers(const Node& node) {
  const OpDef* op = node.regions.empty() ? nullptr : FindOp(node.op);
  return op != nullptr && op->expand != nullptr;
}

}  // namespace

bool NeedsDefinitions(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, IsDefinedByOthers);
}

absl::StatusOr<Graph> WithDefinitions(const Graph& graph) {
  return RebuildGraph(graph, [](Rebuilder& rebuilder, const Node& node) -> absl::StatusOr<bool> {
    if (!IsDefinedByOthers(node)) return false;
    AOTC_RETURN_IF_ERROR(FindOp(node.op)->expand(rebuilder, node));
    return true;
  });
}

}  // namespace aotc
