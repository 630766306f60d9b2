#include "compiler/canonicalize/expand_ops.h"

#include <algorithm>

#include "compiler/canonicalize/place.h"
#include "compiler/ops/expansion.h"
#include "compiler/ops/op.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

absl::Status Expand(Rebuilder& rebuilder, const Node& node) {
  AOTC_RETURN_IF_ERROR(FindOp(node.op)->expand(rebuilder, node));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (rebuilder.IsDefined(node.outputs[i])) continue;
    return AOTC_REFUSAL(InvalidArgument, StrCat("the op has no output ", i));
  }
  return absl::OkStatus();
}

absl::StatusOr<Graph> ExpandOnce(const Graph& graph, Diagnostics& diagnostics) {
  return ExpandRound(graph, [&](Rebuilder& rebuilder, const Node& node) -> absl::StatusOr<bool> {
    const absl::Status status = Expand(rebuilder, node);
    if (status.ok()) return true;
    diagnostics.Error(PlaceOf(graph, node), status);
    return false;
  });
}

}  // namespace

absl::StatusOr<Graph> ExpandOps(const Graph& graph, PassContext& context) {
  // An op's definition never leads back to itself: the depth of the definitions bounds the rounds
  // of each that comes in turn, and of what is there first.
  constexpr int64_t kDeepestDefinition = 16;
  const int64_t in_turn = std::ranges::count_if(
      graph.nodes, [](const Node& node) { return HasTrait(node.op, kExpandsLast); });
  Graph current = in_turn > 0 ? DropDead(graph) : graph;  // so that what is there is read
  for (int64_t round = 0; round < kDeepestDefinition * (in_turn + 1); ++round) {
    if (std::none_of(current.nodes.begin(), current.nodes.end(), IsDefinedByOthers)) return current;
    AOTC_ASSIGN_OR_RETURN(current, ExpandOnce(current, context.diagnostics()));
    AOTC_RETURN_IF_ERROR(context.diagnostics().ToStatus());
  }
  return absl::InternalError("the definitions of ops do not end");
}

absl::StatusOr<bool> ExpandNodes(Graph& graph,
                                 const std::map<ValueId, std::vector<int64_t>>& results,
                                 PassContext& context) {
  bool is_any = false;
  const auto expand = [&](Rebuilder& rebuilder, const Node& node) -> absl::StatusOr<bool> {
    const auto asked = std::ranges::find_if(results, [&](const auto& known) {
      return std::ranges::count(node.outputs, known.first) > 0;
    });
    const OpDef* op = asked != results.end() ? FindOp(node.op) : nullptr;
    if (op == nullptr || op->compute == nullptr || op->expand == nullptr) return false;
    Node known = node;
    known.attributes.Set(Expansion::kRanks, asked->second);
    AOTC_RETURN_IF_ERROR(Expand(rebuilder, known));
    is_any = true;
    return true;
  };
  if (results.empty()) return false;
  AOTC_ASSIGN_OR_RETURN(graph, RebuildGraph(graph, expand));
  AOTC_ASSIGN_OR_RETURN(graph, ExpandOps(graph, context));
  return is_any;
}

}  // namespace aotc
