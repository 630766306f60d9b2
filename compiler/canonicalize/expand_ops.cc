#include "compiler/canonicalize/expand_ops.h"

#include <algorithm>

#include "compiler/canonicalize/place.h"
#include "compiler/ir/graph_rebuild.h"
#include "compiler/ops/op.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

bool IsDefinedByOthers(const Node& node) {
  const OpDef* op = FindOp(node.op);
  return op != nullptr && op->compute == nullptr && op->expand != nullptr;
}

absl::Status Expand(Rebuilder& rebuilder, const Node& node) {
  AOTC_RETURN_IF_ERROR(FindOp(node.op)->expand(rebuilder, node));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (rebuilder.IsDefined(node.outputs[i])) continue;
    return AOTC_REFUSAL(InvalidArgument, StrCat("the op has no output ", i));
  }
  return absl::OkStatus();
}

absl::StatusOr<Graph> ExpandOnce(const Graph& graph, Diagnostics& diagnostics) {
  return RebuildGraph(graph, [&](Rebuilder& rebuilder, const Node& node) -> absl::StatusOr<bool> {
    if (!IsDefinedByOthers(node)) return false;
    const absl::Status status = Expand(rebuilder, node);
    if (status.ok()) return true;
    diagnostics.Error(PlaceOf(graph, node), MessageOf(status));
    return false;
  });
}

}  // namespace

absl::StatusOr<Graph> ExpandOps(const Graph& graph, PassContext& context) {
  // An op's definition never leads back to itself: the depth of the definitions bounds the rounds.
  constexpr int kDeepestDefinition = 16;
  Graph current = graph;
  for (int round = 0; round < kDeepestDefinition; ++round) {
    if (std::none_of(current.nodes.begin(), current.nodes.end(), IsDefinedByOthers)) return current;
    AOTC_ASSIGN_OR_RETURN(current, ExpandOnce(current, context.diagnostics()));
    AOTC_RETURN_IF_ERROR(context.diagnostics().ToStatus());
  }
  return absl::InternalError("the definitions of ops do not end");
}

}  // namespace aotc
