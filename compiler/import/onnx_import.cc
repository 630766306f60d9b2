#include "compiler/import/onnx_import.h"

#include <filesystem>
#include <utility>

#include "compiler/import/graph_importer.h"
#include "compiler/import/onnx_model.h"
#include "compiler/import/onnx_types.h"
#include "compiler/ir/graph_rebuild.h"
#include "compiler/ir/graph_text.h"
#include "compiler/ops/op.h"
#include "compiler/ops/random_bits.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/support/suggestion.h"

namespace aotc {
namespace {

namespace fs = std::filesystem;

// Calls `visit` for every node, those in regions too.
template <class Visit>
void ForEachNode(const Graph& graph, RegionId region, const Visit& visit) {
  for (NodeId id : graph.regions[region].nodes) {
    const Node& node = graph.nodes[id];
    visit(node);
    for (const auto& [name, nested] : node.regions) ForEachNode(graph, nested, visit);
  }
}

// Not the nodes If with what their branches hold: inference may find out which branch is taken.
template <class Visit>
void ForEachCertainNode(const Graph& graph, RegionId region, const Visit& visit) {
  for (NodeId id : graph.regions[region].nodes) {
    const Node& node = graph.nodes[id];
    if (node.op == "If") continue;
    visit(node);
    for (const auto& [name, nested] : node.regions) ForEachCertainNode(graph, nested, visit);
  }
}

std::string QuotedNames(const std::vector<std::string>& names) {
  constexpr size_t kMost = 8;
  std::string text;
  for (size_t i = 0; i < names.size() && i < kMost; ++i) {
    StrAppend(&text, i > 0 ? ", " : "", "'", names[i], "'");
  }
  if (names.size() > kMost) StrAppend(&text, " and ", names.size() - kMost, " more");
  return text;
}

void FillInfo(const pb::ModelProto& model, const GraphImporter& importer, ModelInfo& info) {
  for (const pb::OperatorSetIdProto& import : model.opset_import()) {
    info.opsets[CanonicalDomain(import.domain())] = static_cast<int>(import.version());
  }
  info.bundles = importer.bundles();
  info.producer = DisplayName(model.producer_name());
  for (const std::string& name : importer.symbols().Unbound()) {
    for (const Symbol& symbol : importer.symbols().Symbols()) {
      if (symbol.name == DisplayName(name)) info.unbound_symbols.insert(symbol.var);
    }
  }
  info.data_files.assign(importer.data_files().begin(), importer.data_files().end());
}

// A way on for errors that state none: what is against the rules of ONNX, its checker may name too.
std::string HintFor(const Diagnostic& finding) {
  switch (finding.code) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kDataLoss:
      return "onnx.checker.check_model tells whether the model itself is sound";
    case absl::StatusCode::kUnimplemented:
      return StrCat(finding.place.op.empty() ? "README.md" : "docs/operators.md",
                    " says what is supported");
    case absl::StatusCode::kNotFound: return "is the path the one of the model?";
    default: return "";
  }
}

// What to do about an op that there is not.
std::string HintForOp(const std::string& op) {
  std::vector<std::string> known;
  bool is_domain_known = op.find('.') == std::string::npos;
  const std::string domain = op.substr(0, op.rfind('.') + 1);
  for (const OpDef* def : AllOps()) {
    known.emplace_back(def->name);
    is_domain_known |= !domain.empty() && def->name.starts_with(domain);
  }
  return MeantOr(op, known,
                 is_domain_known
                     ? "docs/operators.md lists those that are"
                     : "a function of the model (onnx.helper.make_function) may define it by "
                       "operators of ONNX");
}

// What went wrong inside the importer.
void AddFindings(const Diagnostics& found, Diagnostics& diagnostics) {
  for (Diagnostic finding : found.Sorted()) {
    if (finding.hint.empty()) finding.hint = HintFor(finding);
    diagnostics.Add(std::move(finding));
  }
}

// Input `aotc_seed`, i64 [1], on which all random numbers depend.
void AddSeedInput(Graph& graph, Diagnostics& diagnostics) {
  constexpr const char* kName = "aotc_seed";
  const ValueId seed = graph.AddValue(kName, TensorType(DType::kI64, {1}));
  if (graph.values[seed].name != kName) {
    diagnostics.Error(
        {},
        AOTC_REFUSAL(InvalidArgument,
                     StrCat("--random-seed-input: the model has a tensor '", kName, "' itself")),
        "rename it, or leave the flag out");
    return;
  }
  graph.main_region().inputs.push_back(seed);
  const ValueId scalar = graph.AddValue(StrCat(kName, "_element"), TensorType(DType::kI64, {}));
  const ValueId dims = graph.AddConstant(StrCat(kName, "_dims"), Constant::Ints({}));
  std::vector<NodeId> others = std::exchange(graph.main_region().nodes, {});
  graph.AddNode(graph.main, {.op = "Reshape",
                             .inputs = {seed, dims},
                             .outputs = {scalar},
                             .locations = {{.node = kName, .op = "Reshape"}}});
  std::vector<NodeId>& nodes = graph.main_region().nodes;
  nodes.insert(nodes.end(), others.begin(), others.end());
  DrawByNumber(graph, graph.main, scalar);
}

absl::StatusOr<Graph> Import(const std::string& path, const ImportOptions& options,
                             Diagnostics& diagnostics, ModelInfo* info) {
  pb::ModelProto model;
  absl::Status status = ReadModelFile(path, model);
  if (!status.ok()) {
    diagnostics.AddStatus(status, FilePlace(path));
    return status;
  }
  GraphImporter importer(model, options, fs::path(path).parent_path().string(), diagnostics);
  absl::StatusOr<Graph> graph = importer.Run();
  if (!graph.ok()) diagnostics.AddStatus(graph.status(), FilePlace(path));
  if (info != nullptr) FillInfo(model, importer, *info);
  if (diagnostics.error_count() > 0) return diagnostics.ToStatus();
  if (status = VerifyStructure(*graph); !status.ok()) {
    return absl::InternalError(StrCat("import made a broken graph: ", status.message()));
  }
  if (options.random_seed_input) AddSeedInput(*graph, diagnostics);
  if (diagnostics.error_count() > 0) return diagnostics.ToStatus();
  Graph live = DropDead(*graph);
  ReportUnbound(importer.symbols(), options.command, diagnostics);
  ReportUnsupported(live, diagnostics);
  if (diagnostics.error_count() > 0 && !options.lenient) return diagnostics.ToStatus();
  return live;
}

}  // namespace

absl::StatusOr<Graph> ImportOnnx(const std::string& path, const ImportOptions& options,
                                 Diagnostics& diagnostics, ModelInfo* info) {
  Diagnostics found;
  absl::StatusOr<Graph> graph = Import(path, options, found, info);
  AddFindings(found, diagnostics);
  if (!graph.ok() && found.error_count() > 0) return diagnostics.ToStatus();
  return graph;
}

std::map<std::string, int> UnsupportedOps(const Graph& graph) {
  std::map<std::string, int> counts;
  ForEachNode(graph, graph.main, [&](const Node& node) {
    if (!IsSupportedOp(node.op)) ++counts[node.op];
  });
  return counts;
}

void ReportUnsupported(const Graph& graph, Diagnostics& diagnostics) {
  std::map<std::string, std::vector<const Node*>> by_op;
  ForEachCertainNode(graph, graph.main, [&](const Node& node) {
    if (!IsSupportedOp(node.op)) by_op[node.op].push_back(&node);
  });
  for (const auto& [op, nodes] : by_op) {
    std::vector<std::string> names;
    for (const Node* node : nodes) {
      names.push_back(node->locations.empty() ? "" : node->locations[0].node);
    }
    Location first = nodes[0]->locations.empty() ? Location{.op = op} : nodes[0]->locations[0];
    diagnostics.Error(
        NodePlace(first.node, op, first.opset),
        AOTC_REFUSAL(Unimplemented,
                     StrCat("the op ", op, " is not supported (", names.size(),
                            names.size() == 1 ? " node: " : " nodes: ", QuotedNames(names), ")")),
        HintForOp(op));
  }
}

}  // namespace aotc
