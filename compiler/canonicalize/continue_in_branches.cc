#include "compiler/canonicalize/continue_in_branches.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/ir/control_flow.h"
#include "compiler/ir/graph_rebuild.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

// Where a node is: at `position` of a region.
struct Place {
  RegionId region = {};
  size_t position = 0;
};

Place PlaceIn(const Graph& graph, NodeId node) {
  for (RegionId region : graph.regions.ids()) {
    const std::vector<NodeId>& nodes = graph.regions[region].nodes;
    const auto found = std::ranges::find(nodes, node);
    if (found != nodes.end()) return {region, static_cast<size_t>(found - nodes.begin())};
  }
  return {};
}

// The If that has the region as a branch.
std::optional<NodeId> IfAround(const Graph& graph, RegionId branch) {
  for (NodeId id : graph.nodes.ids()) {
    const Node& node = graph.nodes[id];
    const bool has = std::ranges::any_of(node.regions,
                                         [&](const auto& named) { return named.second == branch; });
    if (has && IsIf(node)) return id;
  }
  return std::nullopt;
}

// Whether that holds of the node or of one within it.
bool AnyWithin(const Graph& graph, const Node& node,
               const std::function<bool(const Node&)>& holds) {
  if (holds(node)) return true;
  return std::ranges::any_of(node.regions, [&](const auto& named) {
    return std::ranges::any_of(graph.regions[named.second].nodes, [&](NodeId inner) {
      return AnyWithin(graph, graph.nodes[inner], holds);
    });
  });
}

bool ReadsAny(const Graph& graph, const Node& node, const std::set<ValueId>& values) {
  const auto any = [&](const std::vector<ValueId>& read) {
    return std::ranges::any_of(read, [&](ValueId value) { return values.contains(value); });
  };
  return AnyWithin(graph, node, [&](const Node& inner) {
    return any(inner.inputs) || std::ranges::any_of(inner.regions, [&](const auto& named) {
             return any(graph.regions[named.second].outputs);
           });
  });
}

// Moves what the node has no part in from behind it to before it.
void MoveUp(Graph& graph, Place& place) {
  std::vector<NodeId>& nodes = graph.regions[place.region].nodes;
  const auto first = nodes.begin() + static_cast<std::ptrdiff_t>(place.position);
  const std::vector<ValueId>& given = graph.nodes[*first].outputs;
  std::set<ValueId> dependent(given.begin(), given.end());
  dependent.erase(ValueId());
  std::set<NodeId> stay = {*first};
  for (auto it = first + 1; it != nodes.end(); ++it) {
    const Node& node = graph.nodes[*it];
    if (!ReadsAny(graph, node, dependent)) continue;
    stay.insert(*it);
    dependent.insert(node.outputs.begin(), node.outputs.end());
    dependent.erase(ValueId());
  }
  const auto moved =
      std::stable_partition(first, nodes.end(), [&](NodeId id) { return !stay.contains(id); });
  place.position = static_cast<size_t>(moved - nodes.begin());
}

class Continuation {
 public:
  // Of the If at that place.
  Continuation(const Graph& graph, Place place)
      : graph_(graph),
        if_(graph.nodes[graph.regions[place.region].nodes[place.position]]),
        place_(place) {
    const Region& region = graph.regions[place_.region];
    std::set<ValueId> made;
    for (size_t i = place_.position; i < region.nodes.size(); ++i) {
      const Node& behind = graph.nodes[region.nodes[i]];
      made.insert(behind.outputs.begin(), behind.outputs.end());
      behind_.insert(&behind);
    }
    for (ValueId output : region.outputs) {
      if (made.erase(output) > 0) results_.push_back(output);
    }
  }

  // The graph with the rest of the region in both branches.
  absl::StatusOr<Graph> Build() {
    return RebuildGraph(
        graph_, [this](Rebuilder& rebuilder, const Node& node) { return Visit(rebuilder, node); });
  }

 private:
  absl::StatusOr<bool> Visit(Rebuilder& rebuilder, const Node& node) {
    if (in_branch_ || !behind_.contains(&node)) return false;
    if (&node == &if_) AOTC_RETURN_IF_ERROR(EmitWhole(rebuilder));
    return true;
  }

  absl::Status EmitWhole(Rebuilder& rebuilder) {
    Node whole = {.op = if_.op,
                  .inputs = {rebuilder.Mapped(if_.inputs[0])},
                  .attributes = if_.attributes,
                  .locations = if_.locations};
    for (const auto& [name, branch] : if_.regions) {
      in_branch_ = true;
      AOTC_ASSIGN_OR_RETURN(whole.regions[name], rebuilder.BuildRegion([&](RegionId into) {
        return Fill(rebuilder, branch, into);
      }));
      in_branch_ = false;
    }
    Graph& graph = rebuilder.graph();
    for (ValueId result : results_) {
      const Value& old = graph_.values[result];
      const ValueId made = graph.AddValue(old.name, old.type);
      graph.values[made].limits = old.limits;
      whole.outputs.push_back(made);
    }
    const std::vector<ValueId> outputs = whole.outputs;
    graph.AddNode(rebuilder.region(), std::move(whole));
    for (size_t i = 0; i < results_.size(); ++i) rebuilder.Replace(results_[i], outputs[i]);
    return absl::OkStatus();
  }

  absl::Status Fill(Rebuilder& rebuilder, RegionId branch, RegionId into) {
    AOTC_RETURN_IF_ERROR(rebuilder.Splice(branch));
    const std::vector<ValueId>& given = graph_.regions[branch].outputs;
    for (size_t i = 0; i < if_.outputs.size() && i < given.size(); ++i) {
      rebuilder.Replace(if_.outputs[i], rebuilder.Mapped(given[i]));
    }
    AOTC_RETURN_IF_ERROR(rebuilder.Splice(place_.region, place_.position + 1));
    for (ValueId result : results_) {
      rebuilder.graph().regions[into].outputs.push_back(rebuilder.Mapped(result));
    }
    return absl::OkStatus();
  }

  const Graph& graph_;
  const Node& if_;
  const Place place_;
  std::set<const Node*> behind_;  // and the If itself
  std::vector<ValueId> results_;  // of the region, made by these
  bool in_branch_ = false;
};

}  // namespace

absl::StatusOr<bool> ContinueInBranches(Graph& graph, NodeId node) {
  Place place = PlaceIn(graph, node);
  if (!place.region.valid() || graph.nodes[node].inputs.empty()) return false;
  MoveUp(graph, place);
  const std::vector<NodeId>& nodes = graph.regions[place.region].nodes;
  if (place.position + 1 == nodes.size()) {
    const std::optional<NodeId> around = IfAround(graph, place.region);
    return around ? ContinueInBranches(graph, *around) : false;
  }
  const bool has_sizes =
      std::any_of(nodes.begin() + static_cast<std::ptrdiff_t>(place.position), nodes.end(),
                  [&](NodeId id) { return AnyWithin(graph, graph.nodes[id], GivesSizes); });
  if (has_sizes) return false;
  AOTC_ASSIGN_OR_RETURN(Graph whole, Continuation(graph, place).Build());
  graph = std::move(whole);
  return true;
}

}  // namespace aotc
