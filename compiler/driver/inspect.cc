#include "compiler/driver/inspect.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_format.h"
#include "compiler/canonicalize/infer_and_fold.h"
#include "compiler/driver/pipeline.h"
#include "compiler/ir/graph_rebuild.h"
#include "compiler/ir/graph_text.h"
#include "compiler/ops/op.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Names of nodes (as their locations have them) that inference cannot pass.
using Blockers = std::set<std::pair<std::string, std::string>>;

std::pair<std::string, std::string> KeyOf(const Node& node) {
  if (node.locations.empty()) return {"", node.op};
  return {node.locations[0].node, node.locations[0].op};
}

// The node, or one in its regions.
bool IsBlocked(const Graph& graph, const Node& node, const Blockers& blockers) {
  if (!IsSupportedOp(node.op) || blockers.contains(KeyOf(node))) return true;
  return std::ranges::any_of(node.regions, [&](const auto& region) {
    const std::vector<NodeId>& nodes = graph.regions[region.second].nodes;
    return std::ranges::any_of(
        nodes, [&](NodeId id) { return IsBlocked(graph, graph.nodes[id], blockers); });
  });
}

// The graph with the results of blocked nodes as further inputs of unknown type: inference walks
// past them.
Graph CutAt(const Graph& graph, const Blockers& blockers) {
  Graph cut = graph;
  Region& main = cut.main_region();
  std::erase_if(main.nodes, [&](NodeId id) {
    const Node& node = cut.nodes[id];
    const bool blocked = IsBlocked(cut, node, blockers);
    for (ValueId output : blocked ? node.outputs : std::vector<ValueId>()) {
      if (!output.valid()) continue;
      cut.values[output].type = UnknownType();
      main.inputs.push_back(output);
    }
    return blocked;
  });
  return cut;
}

void AddCost(const Graph& graph, const Node& node, const std::set<std::string>& unbound,
             OpSummary& summary) {
  if (!node.regions.empty()) --summary.without_cost;
  absl::StatusOr<NodeKernel> built = BuildNodeKernel(graph, node);
  if (!built.ok()) return;
  --summary.without_cost;
  for (Symbol& symbol : built->kernel.symbols) {
    if (unbound.contains(symbol.var)) symbol.min = symbol.max = 1;
  }
  summary.flops += KernelFlops(built->kernel);
  summary.bytes += KernelBytes(built->kernel);
}

void CountNodes(const Graph& graph, RegionId region, std::map<std::string, OpSummary>& ops) {
  for (NodeId id : graph.regions[region].nodes) {
    const Node& node = graph.nodes[id];
    OpSummary& summary = ops[node.op];
    ++summary.nodes;
    ++summary.without_cost;
    summary.supported = IsSupportedOp(node.op);
    for (const auto& [name, nested] : node.regions) CountNodes(graph, nested, ops);
  }
}

std::string OpsetText(const std::map<std::string, int>& opsets) {
  return StrJoin(opsets, ", ", [](const auto& entry) {
    return StrCat(entry.first.empty() ? "ai.onnx" : entry.first, " ", entry.second);
  });
}

std::string PrintValues(const Graph& graph, const std::vector<ValueId>& values) {
  std::string text;
  for (ValueId id : values) {
    const Value& value = graph.values[id];
    StrAppend(&text, "  ", value.name, ": ", PrintType(value.type), "\n");
  }
  return text;
}

// The value of the typed graph that has the name of an output of the imported one.
std::vector<ValueId> TypedOutputs(const Inspection& inspection) {
  const Region& main = inspection.typed.main_region();
  size_t count = inspection.graph.main_region().outputs.size();
  return {main.outputs.begin(),
          main.outputs.begin() + static_cast<int64_t>(std::min(count, main.outputs.size()))};
}

}  // namespace

// Each round finds the nodes that stop the previous one.
Graph InferPartly(const Graph& graph, Diagnostics& diagnostics) {
  Blockers blockers;
  while (true) {
    Diagnostics found;
    absl::StatusOr<Graph> typed = InferTypes(CutAt(graph, blockers), found);
    size_t before = blockers.size();
    for (const Diagnostic& finding : found.Sorted()) {
      diagnostics.Add(finding);
      if (finding.severity == Severity::kError) {
        blockers.emplace(finding.place.node, finding.place.op);
      }
    }
    if (typed.ok()) return *std::move(typed);
    if (blockers.size() == before) return graph;
  }
}

absl::StatusOr<Inspection> Inspect(const std::string& path, const ImportOptions& options,
                                   Diagnostics& diagnostics) {
  Inspection result;
  ImportOptions lenient = options;
  lenient.lenient = true;
  AOTC_ASSIGN_OR_RETURN(result.graph, ImportOnnx(path, lenient, diagnostics, &result.info));
  ComplainOfInputs(result.graph, diagnostics);
  result.typed = InferPartly(result.graph, diagnostics);
  CountNodes(result.graph, result.graph.main, result.ops);
  // Of nodes in branches and bodies once.
  for (const Node& node : result.typed.nodes) {
    AddCost(result.typed, node, result.info.unbound_symbols, result.ops[node.op]);
  }
  // What folding made constant costs nothing.
  std::map<std::string, int> left;
  for (const Node& node : result.typed.nodes) ++left[node.op];
  for (auto& [op, summary] : result.ops) {
    if (summary.supported) summary.without_cost = std::min(summary.without_cost, left[op]);
    summary.without_cost = std::max(summary.without_cost, 0);
  }
  for (const Value& value : result.graph.values) {
    if (value.constant)
      result.constant_bytes += static_cast<int64_t>(value.constant->bytes().size());
  }
  return result;
}

std::string PrintInspection(const Inspection& inspection, const Diagnostics& diagnostics) {
  std::string text;
  if (!inspection.info.producer.empty())
    StrAppend(&text, "producer ", inspection.info.producer, "\n");
  StrAppend(&text, "opsets ", OpsetText(inspection.info.opsets), "\n");
  StrAppend(&text, "inputs\n",
            PrintValues(inspection.graph, inspection.graph.main_region().inputs));
  StrAppend(&text, "outputs\n", PrintValues(inspection.typed, TypedOutputs(inspection)));
  for (const Symbol& symbol : inspection.graph.symbols) {
    bool unbound = inspection.info.unbound_symbols.contains(symbol.var);
    StrAppend(&text, "dim ", symbol.name, unbound ? " has no bound; costs are for 1" : "");
    if (!unbound)
      StrAppend(&text, " in ", symbol.min * symbol.step, "..", symbol.max * symbol.step);
    text += "\n";
  }
  StrAppend(&text, "weights ", WithPrefix(static_cast<double>(inspection.constant_bytes), "B"),
            "\n");
  absl::StrAppendFormat(&text, "%-32s %6s %14s %12s\n", "op", "nodes", "cost", "traffic");
  double flops = 0, bytes = 0;
  for (const auto& [op, summary] : inspection.ops) {
    bool known = summary.supported && summary.without_cost == 0;
    absl::StrAppendFormat(&text, "%-32s %6d %14s %12s%s\n", op, summary.nodes,
                          known ? WithPrefix(summary.flops, "FLOP") : "?",
                          known ? WithPrefix(summary.bytes, "B") : "?",
                          summary.supported ? "" : "  not supported");
    flops += summary.flops;
    bytes += summary.bytes;
  }
  absl::StrAppendFormat(&text, "%-32s %6s %14s %12s\n", "all", "", WithPrefix(flops, "FLOP"),
                        WithPrefix(bytes, "B"));
  if (const int errors = diagnostics.error_count(); errors > 0) {
    StrAppend(&text, errors, errors == 1 ? " finding blocks" : " findings block", " the compile\n");
  }
  return text;
}

Json InspectionToJson(const Inspection& inspection) {
  auto values = [](const Graph& graph, const std::vector<ValueId>& ids) {
    Json list = Json::array();
    for (ValueId id : ids) {
      list.push_back({{"name", graph.values[id].name}, {"type", PrintType(graph.values[id].type)}});
    }
    return list;
  };
  Json ops = Json::array();
  for (const auto& [op, summary] : inspection.ops) {
    ops.push_back({{"op", op},
                   {"nodes", summary.nodes},
                   {"supported", summary.supported},
                   {"flops", summary.flops},
                   {"bytes", summary.bytes},
                   {"nodes_without_cost", summary.without_cost}});
  }
  return {{"producer", inspection.info.producer},
          {"opsets", inspection.info.opsets},
          {"inputs", values(inspection.graph, inspection.graph.main_region().inputs)},
          {"outputs", values(inspection.typed, TypedOutputs(inspection))},
          {"weight_bytes", inspection.constant_bytes},
          {"ops", std::move(ops)}};
}

}  // namespace aotc
