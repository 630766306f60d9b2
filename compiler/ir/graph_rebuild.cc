#include "compiler/ir/graph_rebuild.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "compiler/ir/control_flow.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// What stands between a value and an output that has to be a node's own.
Node CopyNode(ValueId value, ValueId copy, const std::string& name) {
  constexpr const char kIdentity[] = "Identity";
  return {.op = kIdentity,
          .inputs = {value},
          .outputs = {copy},
          .locations = {{.node = name, .op = kIdentity}}};
}

bool AnyNeeded(const std::vector<ValueId>& values, const IdVector<ValueId, char>& needed) {
  return std::any_of(values.begin(), values.end(),
                     [&](ValueId value) { return value.valid() && needed[value] != 0; });
}

void MarkAll(const std::vector<ValueId>& values, IdVector<ValueId, char>& needed) {
  for (ValueId value : values) {
    if (value.valid()) needed[value] = 1;
  }
}

void MarkNode(const Graph& graph, const Node& node, IdVector<ValueId, char>& needed);

// Marks what the needed values of a region need. One walk backwards suffices: nodes are in
// topological order and read only values of their own and of enclosing regions.
void MarkNodes(const Graph& graph, RegionId id, IdVector<ValueId, char>& needed) {
  const Region& region = graph.regions[id];
  for (auto it = region.nodes.rbegin(); it != region.nodes.rend(); ++it) {
    const Node& node = graph.nodes[*it];
    if (GivesSizes(node)) MarkAll(node.outputs, needed);
    if (AnyNeeded(node.outputs, needed)) MarkNode(graph, node, needed);
  }
}

void MarkRegion(const Graph& graph, RegionId id, IdVector<ValueId, char>& needed) {
  MarkAll(graph.regions[id].outputs, needed);
  MarkNodes(graph, id, needed);
}

void MarkLive(const std::vector<ValueId>& values, const std::vector<char>& live,
              IdVector<ValueId, char>& needed) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].valid() && live[i] != 0) needed[values[i]] = 1;
  }
}

// Of an If and a Repeat only what is read.
void MarkNode(const Graph& graph, const Node& node, IdVector<ValueId, char>& needed) {
  if (!IsIf(node) && !IsRepeat(node)) {
    MarkAll(node.inputs, needed);
    for (const auto& [name, region] : node.regions) MarkRegion(graph, region, needed);
    return;
  }
  const LivePorts live = LivePortsOf(graph, node, needed);
  for (const auto& [name, region] : node.regions) {
    MarkLive(graph.regions[region].outputs, live.region_outputs, needed);
    MarkNodes(graph, region, needed);
  }
  MarkLive(node.inputs, LivePortsOf(graph, node, needed).node_inputs, needed);
}

// The values at the positions that hold; all where no positions are given.
std::vector<ValueId> Chosen(const std::vector<ValueId>& values, const std::vector<char>& holds) {
  if (holds.empty()) return values;
  std::vector<ValueId> chosen;
  for (size_t i = 0; i < values.size(); ++i) {
    if (holds[i] != 0) chosen.push_back(values[i]);
  }
  return chosen;
}

// Those of the stacked outputs that stay.
void KeepStackAxes(const RepeatForm& form, const LivePorts& live, Attributes& attributes) {
  if (!attributes.Has(kStackAxes)) return;
  std::vector<int64_t> kept;
  const std::vector<int64_t> axes = attributes.Ints(kStackAxes);
  for (size_t j = 0; j < axes.size(); ++j) {
    if (live.node_outputs[form.carried + j] != 0) kept.push_back(axes[j]);
  }
  attributes.Set(kStackAxes, std::move(kept));
}

// A carried value that a body turns out to read is needed from the iteration before: with a Repeat
// the walk is repeated until it finds nothing new.
IdVector<ValueId, char> NeededValues(const Graph& graph) {
  IdVector<ValueId, char> needed(graph.values.size(), 0);
  const bool repeats = std::any_of(graph.nodes.begin(), graph.nodes.end(), IsRepeat);
  for (bool again = true; again;) {
    const IdVector<ValueId, char> before = needed;
    MarkRegion(graph, graph.main, needed);
    for (const Function& function : graph.functions) MarkRegion(graph, function.region, needed);
    again = repeats && !std::equal(needed.begin(), needed.end(), before.begin());
  }
  return needed;
}

}  // namespace

Rebuilder::Rebuilder(const Graph& old_graph)
    : old_(old_graph), map_(old_graph.values.size()), needed_(NeededValues(old_graph)) {
  new_.name = old_.name;
  new_.symbols = old_.symbols;
  region_ = new_.main;
}

ValueId Rebuilder::CopyValue(ValueId old_value) {
  const Value& value = old_.values[old_value];
  ValueId id = new_.AddValue(value.name, value.type);
  std::string name = std::move(new_.values[id].name);
  new_.values[id] = value;
  new_.values[id].name = std::move(name);
  return map_[old_value] = id;
}

ValueId Rebuilder::Mapped(ValueId old_value) {
  if (!old_value.valid()) return {};
  if (map_[old_value].valid()) return map_[old_value];
  const Value& value = old_.values[old_value];
  AOTC_CHECK(value.constant.has_value()) << "'" << value.name << "' is used before its definition";
  return CopyValue(old_value);
}

void Rebuilder::Replace(ValueId old_value, ValueId new_value) {
  if (!old_value.valid()) return;
  replaced_.emplace_back(old_value, map_[old_value]);
  map_[old_value] = new_value;
  if (provisional_names_.erase(new_value) == 0) return;
  new_.Rename(new_value, old_.values[old_value].name);
  new_.values[new_value].limits = old_.values[old_value].limits;
}

absl::Status Rebuilder::Copy(const Node& node, const RegionHooks& hooks) {
  Node copy = node;
  RegionPorts ports;
  if (IsIf(node) || IsRepeat(node)) {
    LivePorts live = LivePortsOf(old_, node, needed_);
    if (IsRepeat(node)) KeepStackAxes(FormOf(old_, node), live, copy.attributes);
    copy.inputs = Chosen(node.inputs, live.node_inputs);
    copy.outputs = Chosen(node.outputs, live.node_outputs);
    ports = {.inputs = std::move(live.region_inputs), .outputs = std::move(live.region_outputs)};
  }
  for (ValueId& input : copy.inputs) input = Mapped(input);
  for (auto& [name, region] : copy.regions) {
    AOTC_ASSIGN_OR_RETURN(region, CopyRegion(region, hooks, ports));
  }
  for (ValueId& output : copy.outputs) {
    if (output.valid()) output = needed_[output] != 0 ? CopyValue(output) : ValueId();
  }
  new_.AddNode(region_, std::move(copy));
  return absl::OkStatus();
}

ValueId Rebuilder::Emit(std::string_view op, std::vector<ValueId> inputs, Attributes attributes,
                        ValueType type, const Node& origin) {
  std::string base = "value";
  for (auto it = origin.outputs.rbegin(); it != origin.outputs.rend(); ++it) {
    if (it->valid()) base = old_.values[*it].name;
  }
  ValueId output =
      new_.AddValue(StrCat(base, "_", absl::AsciiStrToLower(std::string(op))), std::move(type));
  provisional_names_.insert(output);
  new_.AddNode(region_, {.op = std::string(op),
                         .inputs = std::move(inputs),
                         .outputs = {output},
                         .attributes = std::move(attributes),
                         .locations = origin.locations});
  return output;
}

absl::StatusOr<RegionId> Rebuilder::BuildRegion(const std::function<absl::Status(RegionId)>& fill) {
  const RegionId id = new_.regions.Add({});
  const RegionId enclosing = std::exchange(region_, id);
  const int32_t first_node = std::exchange(first_node_, static_cast<int32_t>(new_.nodes.size()));
  enclosing_.insert(enclosing);
  const size_t replaced_before = replaced_.size();
  AOTC_RETURN_IF_ERROR(fill(id));
  FinishOutputs(id);
  for (; replaced_.size() > replaced_before; replaced_.pop_back()) {
    map_[replaced_.back().first] = replaced_.back().second;
  }
  first_node_ = first_node;
  enclosing_.erase(enclosing);
  region_ = enclosing;
  return id;
}

absl::StatusOr<RegionId> Rebuilder::CopyRegion(RegionId old_region, const RegionHooks& hooks,
                                               const RegionPorts& ports) {
  return BuildRegion([&](RegionId) { return FillRegion(old_region, hooks, ports); });
}

// The region where nodes go now.
absl::Status Rebuilder::FillRegion(RegionId old_region, const RegionHooks& hooks,
                                   const RegionPorts& ports) {
  const Region& region = old_.regions[old_region];
  for (ValueId input : Chosen(region.inputs, ports.inputs)) {
    ValueId copy = CopyValue(input);
    new_.regions[region_].inputs.push_back(copy);
  }
  if (hooks.enter) AOTC_RETURN_IF_ERROR(hooks.enter(region_));
  AOTC_RETURN_IF_ERROR(Splice(old_region));
  for (ValueId output : Chosen(region.outputs, ports.outputs)) {
    const auto own = outputs_.find(output);
    const ValueId copy = own == outputs_.end() ? Mapped(output) : own->second;
    new_.regions[region_].outputs.push_back(copy);
  }
  return hooks.leave ? hooks.leave(region_) : absl::OkStatus();
}

// Every output of a region is that of a node in it, each of another one.
void Rebuilder::FinishOutputs(RegionId id) {
  std::set<ValueId> free;
  for (NodeId node : new_.regions[id].nodes) {
    free.insert(new_.nodes[node].outputs.begin(), new_.nodes[node].outputs.end());
  }
  for (size_t i = 0; i < new_.regions[id].outputs.size(); ++i) {
    const ValueId output = new_.regions[id].outputs[i];
    if (free.erase(output) > 0) continue;
    const ValueId copy =
        new_.AddValue(StrCat(new_.values[output].name, "_copy"), new_.values[output].type);
    const std::string name = new_.values[copy].name;
    new_.AddNode(id, CopyNode(output, copy, name));
    new_.regions[id].outputs[i] = copy;
  }
}

bool Rebuilder::IsDefined(ValueId old_value) const {
  return !old_value.valid() || needed_[old_value] == 0 || map_[old_value].valid() ||
         outputs_.contains(old_value);
}

absl::Status Rebuilder::Splice(RegionId old_region, size_t first) {
  const std::vector<NodeId>& nodes = old_.regions[old_region].nodes;
  for (size_t i = first; i < nodes.size(); ++i) {
    const Node& node = old_.nodes[nodes[i]];
    if (!AnyNeeded(node.outputs, needed_)) continue;
    bool replaced = false;
    if (visit_) {
      AOTC_ASSIGN_OR_RETURN(replaced, visit_(*this, node));
    }
    if (!replaced) AOTC_RETURN_IF_ERROR(Copy(node));
  }
  return absl::OkStatus();
}

void Rebuilder::FinishMainOutputs() {
  const Region& old_main = old_.main_region();
  std::set<ValueId> taken(new_.main_region().inputs.begin(), new_.main_region().inputs.end());
  for (size_t i = 0; i < old_main.outputs.size(); ++i) {
    ValueId output = new_.main_region().outputs[i];
    const std::string& name = old_.values[old_main.outputs[i]].name;
    bool own = taken.insert(output).second && !new_.values[output].constant;
    if (own) {
      new_.ClaimName(output, name);
      new_.values[output].output_name = old_.values[old_main.outputs[i]].output_name;
      continue;
    }
    if (new_.values[output].constant) new_.Rename(output, StrCat(name, "_value"));
    ValueId copy = new_.AddValue("", new_.values[output].type);
    new_.ClaimName(copy, name);
    new_.values[copy].output_name = old_.values[old_main.outputs[i]].output_name;
    new_.AddNode(new_.main, CopyNode(output, copy, name));
    new_.main_region().outputs[i] = copy;
  }
}

absl::Status Rebuilder::CopyAll() {
  for (const Function& function : old_.functions) {
    AOTC_ASSIGN_OR_RETURN(RegionId region, CopyRegion(function.region));
    new_.functions.push_back({.name = function.name, .region = region});
  }
  AOTC_RETURN_IF_ERROR(FillRegion(old_.main, {}, {}));
  FinishMainOutputs();
  return absl::OkStatus();
}

absl::StatusOr<Graph> RebuildGraph(const Graph& graph, const NodeVisitor& visit) {
  Rebuilder rebuilder(graph);
  rebuilder.visit_ = visit;
  AOTC_RETURN_IF_ERROR(rebuilder.CopyAll());
  return DropDead(rebuilder.new_);
}

Graph DropDead(const Graph& graph) {
  Rebuilder rebuilder(graph);
  absl::Status status = rebuilder.CopyAll();
  AOTC_CHECK(status.ok()) << status.ToString();
  return std::move(rebuilder.new_);
}

}  // namespace aotc
