#include "compiler/import/graph_importer.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "compiler/import/map_values.h"
#include "compiler/import/opset.h"
#include "compiler/import/schema_check.h"
#include "compiler/import/size_limits.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// A limit as kMaxDepth is.
constexpr int64_t kMaxNodes = 250'000;

}  // namespace

absl::Status NestedTooDeeply() {
  return AOTC_REFUSAL(InvalidArgument, StrCat("is nested too deeply: subgraphs, and functions that "
                                              "call one another, are at most ",
                                              kMaxDepth, " deep"));
}

GraphImporter::GraphImporter(const pb::ModelProto& model, const ImportOptions& options,
                             std::string folder, Diagnostics& diagnostics)
    : model_(model),
      options_(options),
      diagnostics_(diagnostics),
      bindings_(model.graph(), options, diagnostics),
      tensors_(std::move(folder)),
      functions_(model) {}

Location GraphImporter::LocationOf(const pb::NodeProto& node, const Body& body) const {
  Location location{.node = body.prefix + NodeName(node),
                    .op = QualifiedOp(node.domain(), node.op_type())};
  auto found = body.opsets->find(CanonicalDomain(node.domain()));
  if (found != body.opsets->end()) location.opset = found->second;
  return location;
}

Opsets GraphImporter::ReadOpsets(
    const google::protobuf::RepeatedPtrField<pb::OperatorSetIdProto>& imports) {
  Opsets opsets;
  for (const pb::OperatorSetIdProto& import : imports) {
    int version = static_cast<int>(std::clamp<int64_t>(import.version(), 0, 1 << 20));
    auto [found, added] = opsets.emplace(CanonicalDomain(import.domain()), version);
    if (!added && found->second != version) {
      diagnostics_.Error(
          {}, AOTC_REFUSAL(InvalidArgument,
                           StrCat("opset ", found->second, " and opset ", version, " of domain '",
                                  DisplayName(import.domain()), "' are both imported")));
    }
  }
  return opsets;
}

absl::StatusOr<int> GraphImporter::OpsetOf(const pb::NodeProto& node, const Body& body) const {
  std::string domain = CanonicalDomain(node.domain());
  auto found = body.opsets->find(domain);
  if (!domain.empty()) return found == body.opsets->end() ? 0 : found->second;
  if (found == body.opsets->end()) {
    return AOTC_REFUSAL(InvalidArgument, "the model does not say which opset of ai.onnx it uses");
  }
  if (found->second >= kOldestOpset && found->second <= kNewestOpset) return found->second;
  return AOTC_REFUSAL(
      Unimplemented,
      StrCat("opset ", found->second, " of ai.onnx; opsets ", kOldestOpset, " to ", kNewestOpset,
             " are supported; hint: onnx.version_converter brings a model to another opset"));
}

void GraphImporter::ImportInitializers(const pb::GraphProto& graph, Scope& scope,
                                       const std::string& prefix) {
  std::set<std::string> seen;
  const auto import = [&](const std::string& name,
                          const std::function<absl::StatusOr<Constant>()>& read) {
    std::string place = StrCat("initializer '", DisplayName(name), "'");
    if (name.empty() || !seen.insert(name).second) {
      diagnostics_.Error({},
                         AOTC_REFUSAL(InvalidArgument, StrCat(place, " has no name of its own")));
      return;
    }
    if (scope.Contains(name)) return;  // an input that is kept, or bound
    absl::StatusOr<Constant> constant = read();
    ValueId id;
    if (constant.ok()) {
      id = AddConstant(prefix + DisplayName(name), *std::move(constant));
    } else {
      diagnostics_.Error({}, About(place, constant.status()));
      id = graph_.AddValue(prefix + DisplayName(name), UnknownType());
    }
    scope.Define(name, id);
  };
  for (const pb::TensorProto& tensor : graph.initializer()) {
    import(tensor.name(), [&] { return tensors_.Read(tensor); });
  }
  for (const pb::SparseTensorProto& tensor : graph.sparse_initializer()) {
    import(tensor.values().name(), [&] { return tensors_.ReadSparse(tensor); });
  }
}

absl::Status GraphImporter::ImportNodes(const NodeList& nodes, const Body& body) {
  AOTC_ASSIGN_OR_RETURN(std::vector<int> order, TopologicalOrder(nodes));
  for (int index : order) {
    const pb::NodeProto& node = nodes[index];
    if (++node_count_ > kMaxNodes) {
      return AOTC_REFUSAL(ResourceExhausted,
                          StrCat("the model has too many nodes once functions are inlined; hint: "
                                 "at most ",
                                 kMaxNodes, " are read"));
    }
    absl::Status status = ImportNode(node, body);
    if (status.ok()) continue;
    if (absl::IsResourceExhausted(status)) return status;
    Location location = LocationOf(node, body);
    diagnostics_.AddStatus(status, NodePlace(location.node, location.op, location.opset));
    for (const std::string& output : node.output()) {  // so that its readers do not complain too
      body.scope->Define(output, graph_.AddValue(DisplayName(output), UnknownType()));
    }
  }
  return absl::OkStatus();
}

absl::Status GraphImporter::ImportNode(const pb::NodeProto& node, const Body& body) {
  if (const pb::FunctionProto* function = functions_.Find(node)) {
    return InlineCall(*function, node, body);
  }
  return ImportOp(node, body);
}

absl::StatusOr<std::vector<ValueId>> GraphImporter::ImportOperands(const pb::NodeProto& node,
                                                                   const Body& body) {
  std::vector<ValueId> operands;
  for (const std::string& name : node.input()) {
    ValueId id = name.empty() ? ValueId() : body.scope->Find(name);
    // A formal input of a function that the call leaves out is in scope, but has no value.
    if (!name.empty() && !id.valid() && !body.scope->Knows(name)) {
      return AOTC_REFUSAL(InvalidArgument,
                          StrCat("input '", DisplayName(name), "' is not defined anywhere"));
    }
    operands.push_back(id);
  }
  while (!operands.empty() && !operands.back().valid()) operands.pop_back();
  return operands;
}

// Behind the values that are given for them: xs, zs, y. Names mean nothing later.
absl::Status GraphImporter::AddNamedTensors(const NamedTensors& named, const Body& body,
                                            Node& node) {
  std::vector<std::string> names = named.xs;
  names.insert(names.end(), named.zs.begin(), named.zs.end());
  if (named.xs.empty() || names.size() != node.inputs.size()) {
    return AOTC_REFUSAL(InvalidArgument,
                        StrCat("has ", node.inputs.size(), " inputs; its attributes 'xs' and 'zs' ",
                               "name ", names.size(), " tensors, each of which takes one"));
  }
  if (std::set(names.begin(), names.end()).size() != names.size()) {
    return AOTC_REFUSAL(InvalidArgument, "its attributes 'xs' and 'zs' name a tensor twice");
  }
  names.push_back(named.y);
  for (const std::string& name : names) {
    const ValueId value = body.scope->Find(name);
    if (!value.valid()) {
      return AOTC_REFUSAL(InvalidArgument, StrCat("its attributes name '", DisplayName(name),
                                                  "', which is not defined anywhere"));
    }
    if (composites_.Find(value) != nullptr || composites_.FindStrings(value) != nullptr) {
      return AOTC_REFUSAL(Unimplemented, StrCat("its attributes name '", DisplayName(name),
                                                "', which is no tensor of numbers"));
    }
    node.inputs.push_back(value);
  }
  node.attributes = {};
  node.attributes.Set("xs", static_cast<int64_t>(named.xs.size()));
  return absl::OkStatus();
}

absl::Status GraphImporter::DefineOutputs(const pb::NodeProto& node, const Body& body,
                                          Node& result) {
  for (const std::string& name : node.output()) {
    if (name.empty()) {
      result.outputs.push_back({});
      continue;
    }
    ValueId id = graph_.AddValue(body.prefix + DisplayName(name), UnknownType());
    result.outputs.push_back(id);
    if (!body.scope->Define(name, id)) {
      return AOTC_REFUSAL(
          InvalidArgument,
          StrCat("output '", DisplayName(name), "' is also an input or initializer of its graph"));
    }
  }
  return absl::OkStatus();
}

absl::Status GraphImporter::ImportOp(const pb::NodeProto& node, const Body& body) {
  AOTC_ASSIGN_OR_RETURN(int opset, OpsetOf(node, body));
  AOTC_ASSIGN_OR_RETURN(std::vector<pb::AttributeProto> attributes,
                        ResolveAttributes(node, *body.attributes));
  AOTC_RETURN_IF_ERROR(CheckName(node));
  AOTC_RETURN_IF_ERROR(CheckAgainstSchema(node, attributes, opset));
  Node result;
  result.op = QualifiedOp(node.domain(), node.op_type());
  if (result.op == "Constant") return ImportConstantNode(attributes, node, body);
  result.locations = {LocationOf(node, body)};
  AOTC_ASSIGN_OR_RETURN(result.inputs, ImportOperands(node, body));
  const bool standard = CanonicalDomain(node.domain()).empty();
  AOTC_ASSIGN_OR_RETURN(const bool uses_maps, UsesMaps(result, composites_));
  if (standard && !uses_maps) {
    AOTC_ASSIGN_OR_RETURN(const bool is_done, ImportComposite(node, attributes, result, body));
    if (is_done) return absl::OkStatus();
  }
  for (const pb::AttributeProto& attribute : attributes) {
    AOTC_RETURN_IF_ERROR(ImportAttribute(attribute, body, result));
  }
  if (const std::optional<NamedTensors> named = TensorsNamedBy(node)) {
    AOTC_RETURN_IF_ERROR(AddNamedTensors(*named, body, result));
  }
  AOTC_RETURN_IF_ERROR(DefineOutputs(node, body, result));
  if (uses_maps) return ImportMapNode(graph_, body.region, result, composites_);
  AOTC_RETURN_IF_ERROR(FlattenControl(result, body));
  if (UsesStrings(result, composites_)) {
    const StringNodeOptions how = {opset, standard, options_.max_string_bytes};
    return ImportStringNode(graph_, body.region, result, how, composites_);
  }
  if (standard) return NormalizeNode(graph_, body.region, std::move(result), opset);
  graph_.AddNode(body.region, std::move(result));
  return absl::OkStatus();
}

absl::Status GraphImporter::ImportConstantNode(const std::vector<pb::AttributeProto>& attributes,
                                               const pb::NodeProto& node, const Body& body) {
  AOTC_ASSIGN_OR_RETURN(Constant constant, ConstantOf(attributes, tensors_));
  Node result;
  AOTC_RETURN_IF_ERROR(DefineOutputs(node, body, result));
  if (result.outputs.size() != 1 || !result.outputs[0].valid()) {
    return AOTC_REFUSAL(InvalidArgument, "needs exactly one output");
  }
  if (constant.dtype() == DType::kString) {
    const std::string name = graph_.values[result.outputs[0]].name;
    composites_.Define(result.outputs[0], AddStringConstant(graph_, name, constant));
    return absl::OkStatus();
  }
  Value& value = graph_.values[result.outputs[0]];
  value.type = TensorType(constant.dtype(), MakeShape(constant.dims()));
  value.constant = std::move(constant);
  return absl::OkStatus();
}

absl::Status GraphImporter::ImportAttribute(const pb::AttributeProto& attribute, const Body& body,
                                            Node& node) {
  if (attribute.has_g()) {
    AOTC_ASSIGN_OR_RETURN(RegionId region, ImportRegion(attribute.g(), body, node));
    node.regions[DisplayName(attribute.name())] = region;
    return absl::OkStatus();
  }
  absl::StatusOr<AttributeValue> value = AttributeOf(attribute, tensors_);
  if (!value.ok()) {
    return absl::Status(value.status().code(), StrCat("attribute '", DisplayName(attribute.name()),
                                                      "': ", value.status().message()));
  }
  node.attributes.Set(DisplayName(attribute.name()), *std::move(value));
  return absl::OkStatus();
}

absl::StatusOr<RegionId> GraphImporter::ImportRegion(const pb::GraphProto& graph, const Body& outer,
                                                     const Node& node) {
  if (outer.depth >= kMaxDepth) return NestedTooDeeply();
  Scope scope(outer.scope);
  Body body = outer;
  body.scope = &scope;
  body.region = graph_.regions.Add({});
  ++body.depth;
  for (const pb::ValueInfoProto& input : graph.input()) {
    const std::string name = body.prefix + DisplayName(input.name());
    AOTC_ASSIGN_OR_RETURN(const ValueId id, AddRegionInput(input, name, node, body.region));
    if (!scope.Define(input.name(), id)) {
      return AOTC_REFUSAL(InvalidArgument,
                          StrCat("its subgraph has two inputs '", DisplayName(input.name()), "'"));
    }
  }
  ImportInitializers(graph, scope, body.prefix);
  AOTC_RETURN_IF_ERROR(ImportNodes(graph.node(), body));
  for (const pb::ValueInfoProto& output : graph.output()) {
    ValueId id = scope.Find(output.name());
    if (!id.valid()) {
      return AOTC_REFUSAL(InvalidArgument, StrCat("output '", DisplayName(output.name()),
                                                  "' of its subgraph is not defined"));
    }
    if (composites_.FindMap(id) != nullptr) return NoMapHere();
    if (composites_.FindStrings(id) != nullptr && node.op != "If" && node.op != "Loop") {
      return AOTC_REFUSAL(
          Unimplemented,
          "its subgraph gives strings, which is not supported; hint: let it give numbers, and "
          "gather the strings behind it");
    }
    graph_.regions[body.region].outputs.push_back(id);
  }
  return body.region;
}

absl::Status GraphImporter::InlineCall(const pb::FunctionProto& function, const pb::NodeProto& node,
                                       const Body& outer) {
  bool active = std::ranges::find(outer.calls, &function) != outer.calls.end();
  if (active) return AOTC_REFUSAL(InvalidArgument, "the function calls itself");
  if (outer.depth >= kMaxDepth) return NestedTooDeeply();
  if (node.input_size() > function.input_size() || node.output_size() > function.output_size()) {
    return AOTC_REFUSAL(InvalidArgument, "has more inputs or outputs than the function");
  }
  AOTC_ASSIGN_OR_RETURN(AttributeScope attributes,
                        FunctionTable::Bind(function, node, *outer.attributes));
  AOTC_ASSIGN_OR_RETURN(std::vector<ValueId> operands, ImportOperands(node, outer));
  operands.resize(static_cast<size_t>(function.input_size()));
  Opsets opsets = ReadOpsets(function.opset_import());
  for (const auto& [domain, version] : *outer.opsets) opsets.emplace(domain, version);
  Scope scope;
  Body body{.scope = &scope,
            .region = outer.region,
            .opsets = &opsets,
            .attributes = &attributes,
            .prefix = StrCat(outer.prefix, NodeName(node), "/"),
            .depth = outer.depth + 1,
            .calls = outer.calls};
  body.calls.push_back(&function);
  for (int i = 0; i < function.input_size(); ++i) {
    if (!scope.Define(function.input(i), operands[static_cast<size_t>(i)])) {
      return AOTC_REFUSAL(InvalidArgument, StrCat("the function has two inputs '",
                                                  DisplayName(function.input(i)), "'"));
    }
  }
  AOTC_RETURN_IF_ERROR(ImportNodes(function.node(), body));
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    ValueId id = scope.Find(function.output(i));
    if (!id.valid()) {
      return AOTC_REFUSAL(InvalidArgument, StrCat("the function does not define its output '",
                                                  DisplayName(function.output(i)), "'"));
    }
    if (!outer.scope->Define(node.output(i), id)) {
      return AOTC_REFUSAL(InvalidArgument,
                          StrCat("output '", DisplayName(node.output(i)), "' is defined already"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Graph> GraphImporter::Run() {
  for (const std::string& name : functions_.duplicates()) {
    diagnostics_.Error(
        {}, AOTC_REFUSAL(InvalidArgument, StrCat("function '", name, "' is defined twice")));
  }
  Opsets opsets = ReadOpsets(model_.opset_import());
  if (!model_.graph().name().empty()) graph_.name = DisplayName(model_.graph().name());
  Scope scope;
  AttributeScope no_attributes;
  ImportMainInputs(scope);
  ImportInitializers(model_.graph(), scope, "");
  Body body{
      .scope = &scope, .region = graph_.main, .opsets = &opsets, .attributes = &no_attributes};
  AOTC_RETURN_IF_ERROR(ImportNodes(model_.graph().node(), body));
  ImportMainOutputs(scope);
  ReadLimits(model_.graph(), options_, scope, graph_, diagnostics_);
  composites_.ShareLimits(graph_);
  return std::move(graph_);
}

}  // namespace aotc
