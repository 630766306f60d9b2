// The parts of GraphImporter that know of sequences and optionals: operators on them, and what
// branches and loops hand on.
#include <algorithm>
#include <utility>

#include "compiler/import/graph_importer.h"
#include "compiler/import/sequence_ops.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr size_t kFirstState = 2;  // of a Loop, behind iteration and condition
constexpr const char* kBody = "body";

const pb::GraphProto* BodyOf(const std::vector<pb::AttributeProto>& attributes) {
  for (const pb::AttributeProto& attribute : attributes) {
    if (attribute.name() == kBody && attribute.has_g()) return &attribute.g();
  }
  return nullptr;
}

// The kind that holds values of both.
absl::StatusOr<BundleKind> CommonKind(const Composite* a, const Composite* b) {
  if (a == nullptr || b == nullptr) {
    return absl::InvalidArgumentError("one branch gives a tensor where the other gives none");
  }
  if (a->kind == b->kind) return a->kind;
  const bool tensor = a->kind == BundleKind::kOptional || b->kind == BundleKind::kOptional;
  if (!tensor) return BundleKind::kOptionalSequence;
  return absl::InvalidArgumentError("its branches give values of different kinds");
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
    return absl::InvalidArgumentError("takes a sequence or an optional where it needs a tensor");
  }
  if (std::ranges::any_of(result.inputs, is_strings)) return NoItemsOfStrings();
  if (node.output_size() != 1 || node.output(0).empty()) {
    return absl::InvalidArgumentError("needs exactly one output");
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
  return absl::InvalidArgumentError(StrCat("output '", DisplayName(node.output(0)),
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
  const ValueId id = graph_.AddValue(name, DeclaredType(input, symbols_));
  region_inputs_[region].push_back(id);
  const bool is_strings = (given != nullptr && given->kind == BundleKind::kStrings) ||
                          input.type().tensor_type().elem_type() == pb::TensorProto::STRING;
  if (is_strings) {
    return absl::UnimplementedError(
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
    for (const auto& [name, region] : node.regions) {
      const Composite result = *composites_.Find(graph_.regions[region].outputs[k]);
      CompositeBuilder builder =
          BuilderFor(Node{.outputs = {outputs[k]}, .locations = node.locations}, region);
      AOTC_ASSIGN_OR_RETURN(const Composite common, builder.As(kind, result));
      const Composite room = builder.WithRoom(common, std::nullopt, 0);
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
    if (formal == nullptr) {
      if (composites_.Find(result) != nullptr) {
        return absl::InvalidArgumentError("stacks values that are no tensors");
      }
      if (is_state) node.inputs.push_back(inputs[k + kFirstState]);
      flat_outputs.push_back(output);
      next.push_back(result);
      continue;
    }
    const ValueId first = inputs[k + kFirstState];
    const std::optional<int64_t> most =
        MaxItemsOf({output, first, formals[k + kFirstState], result});
    const BundleKind kind = formal->kind;
    const auto with_room = [&](ValueId value, RegionId place) -> absl::StatusOr<Composite> {
      const Composite* composite = composites_.Find(value);
      if (composite == nullptr) {
        return absl::InvalidArgumentError("carries a tensor where its body takes none");
      }
      const Composite given = *composite;
      CompositeBuilder builder(graph_, place, graph_.values[value].name, node.locations.front());
      AOTC_ASSIGN_OR_RETURN(const Composite same, builder.As(kind, given));
      const int64_t least = kind == BundleKind::kOptional ? 1 : options_.max_items;
      return builder.WithRoom(
          same, kind == BundleKind::kOptional ? std::optional<int64_t>(1) : most, least);
    };
    AOTC_ASSIGN_OR_RETURN(const Composite start, with_room(first, body.region));
    AOTC_ASSIGN_OR_RETURN(const Composite again, with_room(result, region));
    node.inputs.insert(node.inputs.end(), start.parts.begin(), start.parts.end());
    next.insert(next.end(), again.parts.begin(), again.parts.end());
    AddParts(output.valid() ? output : graph_.AddValue("unused", UnknownType()), kind,
             flat_outputs);
  }
  node.outputs = std::move(flat_outputs);
  graph_.regions[region].outputs = std::move(next);
  return absl::OkStatus();
}

// --- SequenceMap ------------------------------------------------------------------------------

// Tensors by the names of the body's outputs, of one item: its nodes go into `body`.
absl::StatusOr<std::vector<ValueId>> GraphImporter::ImportMapBody(
    const pb::GraphProto& graph, const std::vector<ValueId>& arguments, Body body) {
  Scope scope(body.scope);
  body.scope = &scope;
  ++body.depth;
  for (int i = 0; i < graph.input_size(); ++i) {
    scope.Define(graph.input(i).name(), arguments[static_cast<size_t>(i)]);
  }
  ImportInitializers(graph, scope, body.prefix);
  AOTC_RETURN_IF_ERROR(ImportNodes(graph.node(), body));
  std::vector<ValueId> results;
  for (const pb::ValueInfoProto& output : graph.output()) {
    const ValueId id = scope.Find(output.name());
    if (composites_.FindStrings(id) != nullptr) return NoItemsOfStrings();
    if (!id.valid() || composites_.Find(id) != nullptr) {
      return absl::InvalidArgumentError(
          StrCat("output '", DisplayName(output.name()), "' of its body is no tensor"));
    }
    results.push_back(id);
  }
  return results;
}

// How many items there are, where the tensors of all sequences are known and few.
std::optional<size_t> GraphImporter::KnownItems(const std::vector<ValueId>& operands) const {
  constexpr size_t kMostCopies = 64;  // of a body
  std::optional<size_t> count;
  for (const ValueId operand : operands) {
    const Composite* sequence = composites_.FindItems(operand);
    if (sequence == nullptr) continue;
    if (!sequence->items || sequence->items->size() > kMostCopies) return std::nullopt;
    if (count && *count != sequence->items->size()) return std::nullopt;
    count = sequence->items->size();
  }
  return count;
}

absl::Status GraphImporter::ImportSequenceMap(const pb::NodeProto& node,
                                              const std::vector<pb::AttributeProto>& attributes,
                                              const Node& map, const Body& body) {
  const pb::GraphProto* graph = BodyOf(attributes);
  const bool is_sequence = !map.inputs.empty() && composites_.FindItems(map.inputs[0]) != nullptr;
  if (graph == nullptr || !is_sequence) {
    return absl::InvalidArgumentError("needs a sequence and a body");
  }
  if (body.depth >= kMaxDepth) return absl::InvalidArgumentError("is nested too deeply");
  if (graph->input_size() != static_cast<int>(map.inputs.size()) ||
      graph->output_size() < node.output_size()) {
    return absl::InvalidArgumentError("its inputs and outputs are not those of its body");
  }
  const std::optional<size_t> count = KnownItems(map.inputs);
  if (count && *count > 0) return UnrollMap(node, *graph, map, *count, body);
  return LoopOverItems(node, *graph, map, body);
}

absl::Status GraphImporter::UnrollMap(const pb::NodeProto& node, const pb::GraphProto& graph,
                                      const Node& map, size_t count, const Body& body) {
  std::vector<std::vector<ValueId>> items(static_cast<size_t>(graph.output_size()));
  for (size_t k = 0; k < count; ++k) {
    std::vector<ValueId> arguments;
    for (const ValueId operand : map.inputs) {
      const Composite* sequence = composites_.FindItems(operand);
      arguments.push_back(sequence == nullptr ? operand : (*sequence->items)[k]);
    }
    Body inner = body;
    inner.prefix = StrCat(body.prefix, map.locations.front().node, "/", k, "/");
    AOTC_ASSIGN_OR_RETURN(const std::vector<ValueId> results,
                          ImportMapBody(graph, arguments, std::move(inner)));
    for (size_t j = 0; j < results.size(); ++j) items[j].push_back(results[j]);
  }
  Node outputs;
  AOTC_RETURN_IF_ERROR(DefineOutputs(node, body, outputs));
  for (size_t j = 0; j < outputs.outputs.size(); ++j) {
    if (!outputs.outputs[j].valid()) continue;
    CompositeBuilder builder(graph_, body.region, graph_.values[outputs.outputs[j]].name,
                             map.locations.front());
    composites_.Define(outputs.outputs[j], builder.OfTensors(items[j]));
  }
  return absl::OkStatus();
}

// A Loop that takes an item of each sequence a round, and grows the results.
absl::Status GraphImporter::LoopOverItems(const pb::NodeProto& node, const pb::GraphProto& graph,
                                          const Node& map, const Body& body) {
  Node loop = {.op = "Loop", .locations = map.locations};
  AOTC_RETURN_IF_ERROR(DefineOutputs(node, body, loop));
  loop.outputs.resize(static_cast<size_t>(graph.output_size()));
  const std::string name = map.locations.front().node;
  AOTC_ASSIGN_OR_RETURN(const Composite sequence,
                        CompositeBuilder(graph_, body.region, name, map.locations.front())
                            .As(BundleKind::kSequence, *composites_.Find(map.inputs[0])));
  loop.inputs = {sequence.length(), {}};
  const RegionId region = loop.regions[kBody] = graph_.regions.Add({});
  const ValueId round = graph_.AddValue(name + "_round", TensorType(DType::kI64, {}));
  const ValueId goes_on = graph_.AddValue(name + "_goes_on", TensorType(DType::kBool, {}));
  graph_.regions[region].inputs = region_inputs_[region] = {round, goes_on};
  CompositeBuilder builder(graph_, region, name, map.locations.front());
  std::vector<ValueId> arguments;
  for (const ValueId operand : map.inputs) {
    const Composite* from = composites_.FindItems(operand);
    if (from == nullptr) {
      arguments.push_back(operand);
      continue;
    }
    AOTC_ASSIGN_OR_RETURN(const Composite items, builder.As(BundleKind::kSequence, *from));
    arguments.push_back(builder.ItemAt(items, builder.Place(items, round, false)));
  }
  Body inner = body;
  inner.region = region;
  inner.prefix = StrCat(body.prefix, name, "/");
  AOTC_ASSIGN_OR_RETURN(const std::vector<ValueId> results,
                        ImportMapBody(graph, arguments, std::move(inner)));
  std::vector<ValueId> next = {goes_on};
  for (size_t j = 0; j < results.size(); ++j) {
    AOTC_ASSIGN_OR_RETURN(
        const DType dtype,
        DTypeFromOnnx(graph.output(static_cast<int>(j)).type().tensor_type().elem_type()));
    const ValueId start = graph_.AddValue(name + "_none", UnknownType());
    composites_.Define(start, builder.Empty(BundleKind::kSequence, dtype));
    loop.inputs.push_back(start);
    const ValueId state = graph_.AddValue(name + "_so_far", UnknownType());
    region_inputs_[region].push_back(state);
    AddParts(state, BundleKind::kSequence, graph_.regions[region].inputs);
    const ValueId grown = graph_.AddValue(name + "_grown", UnknownType());
    composites_.Define(grown, builder.Append(*composites_.Find(state), results[j]));
    next.push_back(grown);
  }
  graph_.regions[region].outputs = std::move(next);
  AOTC_RETURN_IF_ERROR(FlattenLoop(loop, body));
  graph_.AddNode(body.region, std::move(loop));
  return absl::OkStatus();
}

}  // namespace aotc
