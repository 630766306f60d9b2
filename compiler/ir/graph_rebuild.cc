#include "compiler/ir/graph_rebuild.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

bool AnyNeeded(const std::vector<ValueId>& values, const IdVector<ValueId, char>& needed) {
  return std::any_of(values.begin(), values.end(),
                     [&](ValueId value) { return value.valid() && needed[value] != 0; });
}

void MarkAll(const std::vector<ValueId>& values, IdVector<ValueId, char>& needed) {
  for (ValueId value : values) {
    if (value.valid()) needed[value] = 1;
  }
}

// Marks what the outputs of `id` need. One walk backwards suffices: a region's nodes are in
// topological order and read only values of their own and of enclosing regions.
void MarkRegion(const Graph& graph, RegionId id, IdVector<ValueId, char>& needed) {
  const Region& region = graph.regions[id];
  MarkAll(region.outputs, needed);
  for (auto it = region.nodes.rbegin(); it != region.nodes.rend(); ++it) {
    const Node& node = graph.nodes[*it];
    if (!AnyNeeded(node.outputs, needed)) continue;
    MarkAll(node.inputs, needed);
    for (const auto& [name, nested] : node.regions) MarkRegion(graph, nested, needed);
  }
}

IdVector<ValueId, char> NeededValues(const Graph& graph) {
  IdVector<ValueId, char> needed(graph.values.size(), 0);
  MarkRegion(graph, graph.main, needed);
  for (const Function& function : graph.functions) MarkRegion(graph, function.region, needed);
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
  map_[old_value] = new_value;
  if (provisional_names_.erase(new_value) > 0) new_.Rename(new_value, old_.values[old_value].name);
}

absl::Status Rebuilder::Copy(const Node& node) {
  Node copy = node;
  for (ValueId& input : copy.inputs) input = Mapped(input);
  for (auto& [name, region] : copy.regions) {
    AOTC_ASSIGN_OR_RETURN(region, CopyRegion(region));
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
  ValueId output = new_.AddValue(absl::StrCat(base, "_", absl::AsciiStrToLower(std::string(op))),
                                 std::move(type));
  provisional_names_.insert(output);
  new_.AddNode(region_, {.op = std::string(op),
                         .inputs = std::move(inputs),
                         .outputs = {output},
                         .attributes = std::move(attributes),
                         .locations = origin.locations});
  return output;
}

absl::StatusOr<RegionId> Rebuilder::CopyRegion(RegionId old_region) {
  RegionId new_region = new_.regions.Add({});
  AOTC_RETURN_IF_ERROR(FillRegion(old_region, new_region));
  return new_region;
}

absl::Status Rebuilder::FillRegion(RegionId old_region, RegionId new_region) {
  RegionId enclosing = std::exchange(region_, new_region);
  const Region& region = old_.regions[old_region];
  for (ValueId input : region.inputs) {
    ValueId copy = CopyValue(input);
    new_.regions[new_region].inputs.push_back(copy);
  }
  AOTC_RETURN_IF_ERROR(Splice(old_region));
  for (ValueId output : region.outputs) {
    const auto own = new_region == new_.main ? outputs_.find(output) : outputs_.end();
    const ValueId copy = own == outputs_.end() ? Mapped(output) : own->second;
    new_.regions[new_region].outputs.push_back(copy);
  }
  region_ = enclosing;
  return absl::OkStatus();
}

absl::Status Rebuilder::Splice(RegionId old_region) {
  for (NodeId id : old_.regions[old_region].nodes) {
    const Node& node = old_.nodes[id];
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
    if (new_.values[output].constant) new_.Rename(output, absl::StrCat(name, "_value"));
    ValueId copy = new_.AddValue("", new_.values[output].type);
    new_.ClaimName(copy, name);
    new_.values[copy].output_name = old_.values[old_main.outputs[i]].output_name;
    new_.AddNode(new_.main, {.op = "Identity",
                             .inputs = {output},
                             .outputs = {copy},
                             .locations = {{.node = name, .op = "Identity"}}});
    new_.main_region().outputs[i] = copy;
  }
}

absl::Status Rebuilder::CopyAll() {
  for (const Function& function : old_.functions) {
    AOTC_ASSIGN_OR_RETURN(RegionId region, CopyRegion(function.region));
    new_.functions.push_back(
        {.name = function.name, .region = region, .compiler = function.compiler});
  }
  AOTC_RETURN_IF_ERROR(FillRegion(old_.main, new_.main));
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
