#include "compiler/fuse/parts_in_turn.h"

#include <algorithm>
#include <utility>

#include "compiler/schedule/join.h"

namespace aotc {

std::optional<FusedKernel> KernelOfReader(const Graph& graph, const Region& region, ValueId value) {
  for (NodeId id : region.nodes) {
    const Node& node = graph.nodes[id];
    if (std::ranges::find(node.inputs, value) == node.inputs.end()) continue;
    if (!node.regions.empty()) return std::nullopt;
    absl::StatusOr<FusedKernel> reader = KernelOfNode(graph, node);
    return reader.ok() ? std::optional(*std::move(reader)) : std::nullopt;
  }
  return std::nullopt;
}

bool IsPartInTurn(const Graph& graph, const Region& region, const FusedKernel& fused) {
  const Value& from = graph.values[fused.args[0]];
  const Value& to = graph.values[fused.args[1]];
  if (from.layout != to.layout || from.type.dims.size() != to.type.dims.size()) return false;
  const std::optional<FusedKernel> reader = KernelOfReader(graph, region, fused.args[1]);
  const std::optional<Join> join = reader ? ReadJoin(reader->kernel) : std::nullopt;
  return join && join->step > 1;
}

}  // namespace aotc
