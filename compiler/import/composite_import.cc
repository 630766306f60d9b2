// The parts of GraphImporter that know of sequences and optionals: operators on them, and what
// branches and loops hand on.
#include <algorithm>
#include <utility>

#include "compiler/import/graph_importer.h"
#include "compiler/import/map_values.h"
#include "compiler/import/sequence_ops.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr size_t kFirstState = 2;  // of a Loop, behind iteration and condition
constexpr const char* kBody = "body";

// The kind that holds values of both.
absl::StatusOr<BundleKind> CommonKind(const Composite* a, const Composite* b) {
  if (a == nullptr || b == nullptr) {
    return AOTC_REFUSAL(InvalidArgument, "one branch gives a tensor where the other gives none");
  }
  if (a->kind == b->kind) return a->kind;
  if (a->kind == BundleKind::kStrings || b->kind == BundleKind::kStrings) {
    return AOTC_REFUSAL(InvalidArgument, "one branch gives strings where the other gives none");
  }
  const bool tensor = a->kind == BundleKind::kOptional || b->kind == BundleKind::kOptional;
  if (!tensor) return BundleKind::kOptionalSequence;
  return AOTC_REFUSAL(InvalidArgument, "its branches give values of different kinds");
}

}  // namespace

CompositeBuilder GraphImporter::BuilderFor(const Node& node, RegionId region) {
  std::string name = node.op;
  for (const ValueId output : node.outputs) {
    if (output.valid()) name = graph_.values[output].name;
  }
  return {graph_, region, std::move(name), node.locations.front()};
}

absl::StatusOr<bool> GraphImporter::ImportComposite(
    const pb::NodeProto& node, const std::vector<pb::AttributeProto>& attributes,
    const Node& result, const Body& body) {
  const auto has_items = [&](ValueId id) { return composites_.FindItems(id) != nullptr; };
  const auto is_strings = [&](ValueId id) { return composites_.FindStrings(id) != nullptr; };
  const bool any = std::ranges::any_of(result.inputs, has_items);
  if (result.op == "SequenceMap") {
    AOTC_RETURN_IF_ERROR(ImportSequenceMap(node, attributes, result, body));
    return true;
  }
  const CompositeOp op = FindCompositeOp(result.op);
  if (op == nullptr || (result.op == "Identity" && !any)) {
    if (!any || result.op == "Loop" || result.op == "If") return false;
    return AOTC_REFUSAL(InvalidArgument, "takes a sequence or an optional where it needs a tensor");
  }
  if (std::ranges::any_of(result.inputs, is_strings)) return NoItemsOfStrings();
  if (node.output_size() != 1 || node.output(0).empty()) {
    return AOTC_REFUSAL(InvalidArgument, "needs exactly one output");
  }
  const std::string name = body.prefix + DisplayName(node.output(0));
  CompositeCall call{.operands = result.inputs,
                     .attributes = attributes,
                     .table = composites_,
                     .builder = {graph_, body.region, name, result.locations.front()}};
  AOTC_ASSIGN_OR_RETURN(CompositeResult made, op(call));
  ValueId id;
  if (Composite* composite = std::get_if<Composite>(&made)) {
    id = graph_.AddValue(name, UnknownType());
    composites_.Define(id, std::move(*composite));
  } else {
    id = std::get<ValueId>(made);
    const std::vector<NodeId>& nodes = graph_.regions[body.region].nodes;
    const bool is_new = !nodes.empty() && graph_.nodes[nodes.back()].outputs[0] == id;
    if (is_new) graph_.Rename(id, name);
  }
  if (body.scope->Define(node.output(0), id)) return true;
  return AOTC_REFUSAL(InvalidArgument, StrCat("output '", DisplayName(node.output(0)),
                                              "' is also an input or initializer of its graph"));
}

// --- Branches and loops -----------------------------------------------------------------------

absl::StatusOr<ValueId> GraphImporter::AddRegionInput(const pb::ValueInfoProto& input,
                                                      const std::string& name, const Node& node,
                                                      RegionId region) {
  const size_t index = region_inputs_[region].size();
  const bool is_state = node.op == "Loop" && index < node.inputs.size();
  const Composite* given = is_state ? composites_.Find(node.inputs[index]) : nullptr;
  AOTC_ASSIGN_OR_RETURN(const std::optional<CompositeType> declared, CompositeTypeOf(input.type()));
  if (declared && MapFormOf(declared->kind)) return NoMapHere();
  const ValueId id = graph_.AddValue(name, DeclaredType(input, symbols_));
  region_inputs_[region].push_back(id);
  if (given == nullptr && input.type().tensor_type().elem_type() == pb::TensorProto::STRING) {
    return AOTC_REFUSAL(
        Unimplemented,
        "its subgraph takes strings, which is not supported; hint: a subgraph may read the strings "
        "of the graph around it");
  }
  if (declared) {
    AddParts(id, declared->kind, graph_.regions[region].inputs);
  } else if (given != nullptr) {
    AddParts(id, given->kind, graph_.regions[region].inputs);
  } else {
    graph_.regions[region].inputs.push_back(id);
  }
  return id;
}

void GraphImporter::AddParts(ValueId handle, BundleKind kind, std::vector<ValueId>& into) {
  const std::string name = graph_.values[handle].name;
  Composite composite = aotc::AddParts(graph_, kind, name);
  into.insert(into.end(), composite.parts.begin(), composite.parts.end());
  composites_.Define(handle, std::move(composite));
}

absl::Status GraphImporter::FlattenControl(Node& node, const Body& body) {
  if (node.op == "If") return FlattenIf(node);
  return node.op == "Loop" ? FlattenLoop(node, body) : absl::OkStatus();
}

absl::Status GraphImporter::FlattenIf(Node& node) {
  const std::vector<ValueId> outputs = std::exchange(node.outputs, {});
  std::map<RegionId, std::vector<ValueId>> results;  // of each branch, flattened
  const auto result_of = [&](const char* branch, size_t k) {
    return graph_.regions[node.regions.at(branch)].outputs[k];
  };
  for (size_t k = 0; k < outputs.size(); ++k) {
    const ValueId taken = result_of("then_branch", k), other = result_of("else_branch", k);
    const Composite *a = composites_.Find(taken), *b = composites_.Find(other);
    if (a == nullptr && b == nullptr) {
      node.outputs.push_back(outputs[k]);
      for (const auto& [name, region] : node.regions) {
        results[region].push_back(graph_.regions[region].outputs[k]);
      }
      continue;
    }
    AOTC_ASSIGN_OR_RETURN(const BundleKind kind, CommonKind(a, b));
    const bool is_strings = kind == BundleKind::kStrings;
    for (const auto& [name, region] : node.regions) {
      const Composite result = *composites_.Find(graph_.regions[region].outputs[k]);
      CompositeBuilder builder =
          BuilderFor(Node{.outputs = {outputs[k]}, .locations = node.locations}, region);
      AOTC_ASSIGN_OR_RETURN(const Composite common, builder.As(kind, result));
      const Composite room = is_strings ? common : builder.WithRoom(common, std::nullopt, 0);
      results[region].insert(results[region].end(), room.parts.begin(), room.parts.end());
    }
    const ValueId handle =
        outputs[k].valid() ? outputs[k] : graph_.AddValue("unused", UnknownType());
    AddParts(handle, kind, node.outputs);
  }
  for (auto& [region, values] : results) graph_.regions[region].outputs = std::move(values);
  return absl::OkStatus();
}

// What the flags say of a loop's sequence, under any of its names.
std::optional<int64_t> GraphImporter::MaxItemsOf(const std::vector<ValueId>& names) const {
  for (const ValueId id : names) {
    if (!id.valid()) continue;
    const auto found = options_.max_items_of.find(graph_.values[id].name);
    if (found != options_.max_items_of.end()) return found->second;
  }
  return std::nullopt;
}

absl::StatusOr<Composite> GraphImporter::WithLoopRoom(const Node& loop, ValueId value,
                                                      RegionId region, const LoopRoom& room) {
  const Composite* composite = composites_.Find(value);
  if (composite == nullptr) {
    return AOTC_REFUSAL(InvalidArgument, "carries a tensor where its body takes none");
  }
  const Composite given = *composite;
  CompositeBuilder builder(graph_, region, graph_.values[value].name, loop.locations.front());
  AOTC_ASSIGN_OR_RETURN(const Composite same, builder.As(room.kind, given));
  if (room.kind == BundleKind::kStrings) return builder.Packed(same, options_.max_string_bytes);
  if (room.kind == BundleKind::kOptional) return builder.WithRoom(same, 1, 1);
  return builder.WithRoom(same, room.most, options_.max_items);
}

absl::Status GraphImporter::FlattenLoop(Node& node, const Body& body) {
  const RegionId region = node.regions.at(kBody);
  const std::vector<ValueId> formals = region_inputs_[region];
  const std::vector<ValueId> inputs = std::exchange(node.inputs, {}),
                             outputs = std::exchange(node.outputs, {}),
                             results = std::exchange(graph_.regions[region].outputs, {});
  std::vector<ValueId> next(results.begin(), results.begin() + 1), flat_outputs;
  for (size_t i = 0; i < std::min(inputs.size(), kFirstState); ++i) {
    node.inputs.push_back(inputs[i]);
  }
  for (size_t k = 0; k + 1 < results.size(); ++k) {
    const ValueId result = results[k + 1], output = k < outputs.size() ? outputs[k] : ValueId();
    const bool is_state = k + kFirstState < inputs.size();
    const Composite* formal = is_state ? composites_.Find(formals[k + kFirstState]) : nullptr;
    if (formal == nullptr && composites_.FindStrings(result) != nullptr) {
      return AOTC_REFUSAL(Unimplemented,
                          "stacks strings, which is not supported; hint: stack numbers, and gather "
                          "the strings behind the loop");
    }
    if (formal == nullptr && composites_.Find(result) != nullptr) {
      return AOTC_REFUSAL(InvalidArgument, "stacks values that are no tensors");
    }
    if (formal == nullptr) {
      if (is_state) node.inputs.push_back(inputs[k + kFirstState]);
      flat_outputs.push_back(output);
      next.push_back(result);
      continue;
    }
    const BundleKind kind = formal->kind;
    const LoopRoom room = {kind, MaxItemsOf({output, formals[k + kFirstState], result})};
    AOTC_ASSIGN_OR_RETURN(const Composite start,
                          WithLoopRoom(node, inputs[k + kFirstState], body.region, room));
    AOTC_ASSIGN_OR_RETURN(const Composite again, WithLoopRoom(node, result, region, room));
    node.inputs.insert(node.inputs.end(), start.parts.begin(), start.parts.end());
    next.insert(next.end(), again.parts.begin(), again.parts.end());
    AddParts(output.valid() ? output : graph_.AddValue("unused", UnknownType()), kind,
             flat_outputs);
  }
  node.outputs = std::move(flat_outputs);
  graph_.regions[region].outputs = std::move(next);
  return absl::OkStatus();
}

}  // namespace aotc
