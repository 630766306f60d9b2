#include "compiler/canonicalize/infer_control.h"

#include <algorithm>
#include <vector>

#include "compiler/canonicalize/control_values.h"
#include "compiler/canonicalize/declared_type.h"
#include "compiler/canonicalize/infer_repeat.h"
#include "compiler/canonicalize/place.h"
#include "compiler/ir/control_flow.h"
#include "compiler/ir/graph_text.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr const char* kHintForBranches =
    "sizes must not depend on data: give both branches one shape, or decide the condition at "
    "compile time with --shape, --dim or --bind";

}  // namespace

ControlInference::ControlInference(const Graph& old_graph, const KnownElements& known,
                                   Diagnostics& diagnostics)
    : old_(old_graph), known_(known), diagnostics_(diagnostics) {
  for (const Region& region : old_graph.regions) {
    region_outputs_.insert(region.outputs.begin(), region.outputs.end());
  }
}

bool ControlInference::Handles(const Node& node) { return IsIf(node) || IsRepeat(node); }

void ControlInference::Complain(const Node& node, const std::string& message,
                                const char* hint) const {
  diagnostics_.Error(PlaceOf(old_, node), message, hint);
}

absl::Status ControlInference::Visit(Rebuilder& rebuilder, const Node& node) {
  if (IsRepeat(node)) {
    return RepeatInference(known_, diagnostics_, rebuilder, node, region_outputs_).Run();
  }
  if (std::optional<RegionId> branch = DecidedBranch(rebuilder, node)) {
    return TakeBranch(rebuilder, node, *branch);
  }
  return VisitIf(rebuilder, node);
}

std::optional<RegionId> ControlInference::DecidedBranch(Rebuilder& rebuilder,
                                                        const Node& node) const {
  if (node.inputs.empty()) return std::nullopt;
  const Graph& graph = rebuilder.graph();
  const ValueId condition = rebuilder.Mapped(node.inputs[0]);
  if (!condition.valid() || !IsKnownType(graph.values[condition].type)) return std::nullopt;
  std::optional<std::vector<Expr>> elements = known_.Find(graph, condition);
  if (!elements || elements->size() != 1 || (*elements)[0].dtype() != DType::kBool)
    return std::nullopt;
  std::optional<bool> taken = Prove((*elements)[0], BoundsOf(graph.symbols));
  if (!taken) return std::nullopt;
  auto branch = node.regions.find(*taken ? "then_branch" : "else_branch");
  return branch == node.regions.end() ? std::nullopt : std::optional(branch->second);
}

absl::Status ControlInference::TakeBranch(Rebuilder& rebuilder, const Node& node, RegionId branch) {
  for (ValueId output : old_.regions[branch].outputs) region_outputs_.erase(output);
  AOTC_RETURN_IF_ERROR(rebuilder.Splice(branch));
  const std::vector<ValueId>& results = old_.regions[branch].outputs;
  for (size_t i = 0; i < node.outputs.size() && i < results.size(); ++i) {
    if (node.outputs[i].valid()) {
      rebuilder.Replace(node.outputs[i], rebuilder.Mapped(results[i]));
    }
  }
  return absl::OkStatus();
}

absl::Status ControlInference::VisitIf(Rebuilder& rebuilder, const Node& node) {
  const ValueId given = node.inputs.empty() ? ValueId() : rebuilder.Mapped(node.inputs[0]);
  ValueId condition = given;
  if (!given.valid()) {
    Complain(node, "has no condition", "");
  } else if (IsKnownType(rebuilder.graph().values[given].type)) {
    absl::StatusOr<ValueId> scalar =
        AsScalar(rebuilder, node, given, DType::kBool, "the condition");
    if (scalar.ok()) condition = *scalar;
    if (!scalar.ok()) Complain(node, MessageOf(scalar.status()), "");
  }
  AOTC_RETURN_IF_ERROR(rebuilder.Copy(node));
  Graph& graph = rebuilder.graph();
  Node& copy = graph.nodes[LastNode(graph)];
  if (condition.valid()) copy.inputs[0] = condition;
  TypeIf(graph, copy, node);
  return absl::OkStatus();
}

void ControlInference::TypeIf(Graph& graph, const Node& node, const Node& old_node) const {
  const Bounds bounds = BoundsOf(graph.symbols);
  auto result = [&](const char* branch, size_t i) {
    return graph.values[graph.regions[node.regions.at(branch)].outputs[i]].type;
  };
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueType taken = result("then_branch", i), other = result("else_branch", i);
    // A finding about the producer was enough.
    if (!IsKnownType(taken) || !IsKnownType(other)) continue;
    Value& output = graph.values[node.outputs[i]];
    if (!IsSameType(taken, other, bounds)) {
      Complain(old_node,
               StrCat("output '", output.name, "' is ", PrintType(taken),
                      " where the condition "
                      "holds and ",
                      PrintType(other), " where it does not"),
               kHintForBranches);
      continue;
    }
    ReplaceDeclaredType(output, taken, diagnostics_);
    graph.values[graph.regions[node.regions.at("else_branch")].outputs[i]].type = taken;
  }
}

}  // namespace aotc
