#include "compiler/fuse/grown_outputs.h"

#include <optional>

#include "compiler/schedule/join.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {

GrownOutputs::GrownOutputs(const Graph& graph, const Region& region,
                           const std::vector<Alias>& aliases, Places& places)
    : graph_(graph), places_(places) {
  if (&region != &graph.main_region()) return;
  for (const Alias& alias : aliases) {
    if (!alias.axis) continue;
    aliases_[alias.output] = alias;
    places_.PlaceAlias(alias);
  }
  for (NodeId id : region.nodes) {
    const Node& node = graph.nodes[id];
    if (node.outputs.empty() || !aliases_.contains(node.outputs[0])) continue;
    written_.insert(node.outputs[0]);
    if (HasInput(node, 1)) written_.insert(node.inputs.begin() + 1, node.inputs.end());
  }
}

absl::StatusOr<bool> GrownOutputs::Place(const FusedKernel& fused,
                                         std::vector<std::string>& decisions) {
  const auto found = aliases_.find(fused.args.back());
  if (found == aliases_.end() || fused.args[0] != found->second.input) return false;
  const Alias& alias = found->second;
  const std::string& input = graph_.values[alias.input].name;
  const std::optional<Join> join = ReadJoin(fused.kernel);
  absl::Status status = absl::FailedPreconditionError("no kernel of its own joins its parts");
  std::vector<Part> parts;
  if (join) {
    parts = PartsOf(fused, *join);
    status =
        places_.CheckParts(alias.output, {.axis = join->axis}, {parts.begin() + 1, parts.end()});
  }
  if (!status.ok()) {
    return absl::InternalError(StrCat("--alias: '", graph_.values[alias.output].name,
                                      "' cannot lie in the memory of '", input,
                                      "': ", std::string(status.message())));
  }
  places_.PlaceParts(alias.output, {.axis = join->axis}, parts);
  decisions.push_back(StrCat(fused.kernel.name, ": what is new lies behind %", input));
  return true;
}

std::vector<ValueId> GrownOutputs::Inputs() const {
  std::vector<ValueId> inputs;
  for (const auto& [output, alias] : aliases_) inputs.push_back(alias.input);
  return inputs;
}

}  // namespace aotc
