// SequenceMap: a copy of the body for each item where the items are known as the model is read,
// else a Loop that takes an item of each sequence a round.
#include <utility>

#include "compiler/import/graph_importer.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr const char* kBody = "body";

const pb::GraphProto* BodyOf(const std::vector<pb::AttributeProto>& attributes) {
  for (const pb::AttributeProto& attribute : attributes) {
    if (attribute.name() == kBody && attribute.has_g()) return &attribute.g();
  }
  return nullptr;
}

}  // namespace

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
      return AOTC_REFUSAL(InvalidArgument, StrCat("output '", DisplayName(output.name()),
                                                  "' of its body is no tensor"));
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
    return AOTC_REFUSAL(InvalidArgument, "needs a sequence and a body");
  }
  if (body.depth >= kMaxDepth) return NestedTooDeeply();
  if (graph->input_size() != static_cast<int>(map.inputs.size()) ||
      graph->output_size() < node.output_size()) {
    return AOTC_REFUSAL(InvalidArgument, "its inputs and outputs are not those of its body");
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
    inner.prefix = StrCat(map.locations.front().node, "/", k, "/");
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
  inner.prefix = StrCat(name, "/");
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
