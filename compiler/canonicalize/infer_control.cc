#include "compiler/canonicalize/infer_control.h"

#include <algorithm>
#include <vector>

#include "compiler/canonicalize/control_values.h"
#include "compiler/canonicalize/declared_type.h"
#include "compiler/canonicalize/infer_repeat.h"
#include "compiler/canonicalize/place.h"
#include "compiler/canonicalize/size_sources.h"
#include "compiler/ir/control_flow.h"
#include "compiler/ir/graph_text.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr const char* kHintForBranches =
    "give both branches results of one rank, and of one size within a branch or body, or decide "
    "the "
    "condition at compile time with --shape, --dim or --bind";

}  // namespace

ControlInference::ControlInference(const Graph& old_graph, const KnownElements& known,
                                   SizeWalk& sizes, Diagnostics& diagnostics)
    : old_(old_graph), known_(known), sizes_(sizes), diagnostics_(diagnostics) {
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
    return RepeatInference(known_, sizes_, diagnostics_, rebuilder, node, region_outputs_).Run();
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
  const NodeId copy = LastNode(graph);
  if (condition.valid()) graph.nodes[copy].inputs[0] = condition;
  TypeIf(rebuilder, copy, node);
  return absl::OkStatus();
}

Expr ControlInference::Chosen(Rebuilder& rebuilder, NodeId node, const Node& old_node) {
  Graph& graph = rebuilder.graph();
  if (graph.nodes[node].attributes.Has(kChosen)) {
    return Var(graph.nodes[node].attributes.String(kChosen));
  }
  const ValueId condition = graph.nodes[node].inputs[0];
  const std::string name = graph.values[condition].name;
  Attributes to;
  to.Set("to", static_cast<int64_t>(DType::kI64));
  const ValueType scalar = TensorType(DType::kI64, {});
  const ValueId number = rebuilder.Emit("Cast", {condition}, std::move(to), scalar, old_node);
  const ValueId size = rebuilder.Emit(kDefineSizes, {number}, {}, scalar, old_node);
  const Expr chosen = AddSymbol(graph, {.name = name, .min = 0, .max = 1, .computed = true});
  graph.values[size].elements = {chosen};
  graph.nodes[node].attributes.Set(kChosen, chosen->name);
  // In front of the node, whose results have such sizes.
  std::vector<NodeId>& nodes = graph.regions[rebuilder.region()].nodes;
  std::rotate(nodes.end() - 3, nodes.end() - 2, nodes.end());
  return chosen;
}

// Results of different sizes have those of the branch that is taken.
void ControlInference::TypeIf(Rebuilder& rebuilder, NodeId node, const Node& old_node) const {
  Graph& graph = rebuilder.graph();
  for (size_t i = 0; i < old_node.outputs.size(); ++i) {
    sizes_.rooms.Join(graph, old_.regions[old_node.regions.at("then_branch")].outputs[i],
                      old_.regions[old_node.regions.at("else_branch")].outputs[i],
                      /*carried=*/false);
  }
  auto result = [&](const char* branch, size_t i) {
    return graph.regions[graph.nodes[node].regions.at(branch)].outputs[i];
  };
  for (size_t i = 0; i < old_node.outputs.size(); ++i) {
    const ValueId id = graph.nodes[node].outputs[i];
    ValueType taken = graph.values[result("then_branch", i)].type;
    const ValueType other = graph.values[result("else_branch", i)].type;
    // A finding about the producer was enough.
    if (!IsKnownType(taken) || !IsKnownType(other)) continue;
    const bool same = IsSameType(taken, other, BoundsOf(graph.symbols));
    const bool joins = rebuilder.region() == graph.main && taken.dtype == other.dtype &&
                       taken.dims.size() == other.dims.size();
    if (!same && !joins) {
      Complain(old_node,
               StrCat("output '", graph.values[id].name, "' is ", PrintType(taken),
                      " where the condition holds and ", PrintType(other), " where it does not"),
               kHintForBranches);
      continue;
    }
    if (same) {
      graph.values[result("else_branch", i)].type = taken;
    } else {
      const Expr holds = Eq(Chosen(rebuilder, node, old_node), 1);
      for (size_t axis = 0; axis < taken.dims.size(); ++axis) {
        const Expr chosen = Select(holds, taken.dims[axis], other.dims[axis]);
        taken.dims[axis] = Simplify(chosen, BoundsOf(graph.symbols));
      }
    }
    ReplaceDeclaredType(graph.values[id], taken, diagnostics_);
  }
}

}  // namespace aotc
