#include "compiler/canonicalize/infer_control.h"

#include <algorithm>
#include <vector>

#include "compiler/canonicalize/control_values.h"
#include "compiler/canonicalize/declared_type.h"
#include "compiler/canonicalize/impossible_branch.h"
#include "compiler/canonicalize/infer_repeat.h"
#include "compiler/canonicalize/place.h"
#include "compiler/canonicalize/size_sources.h"
#include "compiler/ir/control_flow.h"
#include "compiler/ir/graph_text.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr const char* kHintForBranches =
    "give both branches results of one rank, or decide the condition at compile time with --shape, "
    "--dim or --bind";

// Dims that an If gives, each what it is in the branch taken.
class DimJoiner {
 public:
  DimJoiner(Graph& graph, NodeId node)
      : graph_(graph), node_(node), known_(VariablesIn(graph.nodes[node], kSizes)) {
    graph.nodes[node].attributes.Erase(kSizes);
  }

  // `name`: of a symbol, where it takes a new one; `before`: the dim as it was inferred before.
  Expr Join(const std::string& name, const Expr& one, const Expr& other, const Expr& before) {
    const Bounds bounds = BoundsOf(graph_.symbols);
    if (ProveEqual(one, other, bounds)) return one;
    for (const Joined& joined : joined_) {
      if (Same(joined.one, one) && Same(joined.other, other)) return joined.size;
    }
    const Interval a = RangeOf(one, bounds), b = RangeOf(other, bounds);
    const int64_t most = std::clamp<int64_t>(std::max(a.max, b.max), 0, INT32_MAX);
    const int64_t least = std::clamp<int64_t>(std::min(a.min, b.min), 0, most);
    const bool is_known = before.valid() && IsListed(before, known_);
    const Expr size =
        is_known ? before
                 : AddSymbol(graph_, {.name = name, .min = least, .max = most, .computed = true});
    AddVariable(graph_.nodes[node_], kSizes, size->name);
    joined_.push_back({one, other, size});
    return size;
  }

 private:
  struct Joined {
    Expr one, other, size;
  };
  Graph& graph_;
  const NodeId node_;
  const std::vector<std::string> known_;
  std::vector<Joined> joined_;
};

}  // namespace

ControlInference::ControlInference(const Graph& old_graph, const KnownElements& known,
                                   SizeWalk& sizes, Diagnostics& diagnostics)
    : old_(old_graph), known_(known), sizes_(sizes), diagnostics_(diagnostics) {
  for (const Region& region : old_graph.regions) {
    region_outputs_.insert(region.outputs.begin(), region.outputs.end());
  }
}

bool ControlInference::Handles(const Node& node) { return IsIf(node) || IsRepeat(node); }

void ControlInference::Complain(const Node& node, const absl::Status& refusal,
                                const char* hint) const {
  diagnostics_.Error(PlaceOf(old_, node), refusal, hint);
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
  const ValueId given = rebuilder.Mapped(node.inputs[0]);
  ValueId condition = given;
  if (given.valid() && IsKnownType(rebuilder.graph().values[given].type)) {
    absl::StatusOr<ValueId> scalar =
        AsScalar(rebuilder, node, given, DType::kBool, "the condition");
    if (scalar.ok()) condition = *scalar;
    if (!scalar.ok()) Complain(node, scalar.status());
  }
  std::map<RegionId, absl::Status> impossible;
  const RegionHooks hooks = {.enter =
                                 [&](RegionId) {
                                   sizes_.branches.emplace_back();
                                   return absl::OkStatus();
                                 },
                             .leave =
                                 [&](RegionId branch) {
                                   const absl::Status why = std::move(sizes_.branches.back());
                                   sizes_.branches.pop_back();
                                   if (!why.ok()) impossible[branch] = why;
                                   return absl::OkStatus();
                                 }};
  AOTC_RETURN_IF_ERROR(rebuilder.Copy(node, hooks));
  Graph& graph = rebuilder.graph();
  const NodeId copy = LastNode(graph);
  DropImpossible(graph, copy, node, impossible);
  if (condition.valid()) graph.nodes[copy].inputs[0] = condition;
  TypeIf(rebuilder, copy, node);
  return absl::OkStatus();
}

void ControlInference::DropImpossible(Graph& graph, NodeId node, const Node& old_node,
                                      const std::map<RegionId, absl::Status>& impossible) const {
  const std::map<std::string, RegionId> regions(graph.nodes[node].regions.begin(),
                                                graph.nodes[node].regions.end());
  const RegionId one = regions.at("then_branch"), two = regions.at("else_branch");
  if (impossible.size() == 2 || graph.regions[one].outputs.empty()) {
    for (const auto& [branch, why] : impossible) diagnostics_.Error({}, why);
    return;
  }
  for (const auto& [branch, why] : impossible) {
    const RegionId other = branch == one ? two : one;
    const bool is_typed = std::ranges::all_of(graph.regions[other].outputs, [&](ValueId output) {
      return IsKnownType(graph.values[output].type);
    });
    if (!is_typed) {
      diagnostics_.Error({}, why);
      continue;
    }
    diagnostics_.Note(PlaceOf(old_, old_node), StrCat("ends a run with a status where its ",
                                                      branch == one ? "then_branch" : "else_branch",
                                                      " is taken: ", why.message()));
    ReplaceBranch(graph, branch, other, graph.nodes[node], MessageOf(why));
  }
}

void ControlInference::NoteTwoRanks(const Node& old_node) const {
  for (NodeId id : old_.nodes.ids()) {
    if (&old_.nodes[id] == &old_node) sizes_.of_two_ranks = id;
  }
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
  DimJoiner joiner(graph, node);
  for (size_t i = 0; i < old_node.outputs.size(); ++i) {
    const ValueId id = graph.nodes[node].outputs[i];
    ValueType taken = graph.values[result("then_branch", i)].type;
    const ValueType other = graph.values[result("else_branch", i)].type;
    // A finding about the producer was enough.
    if (!IsKnownType(taken) || !IsKnownType(other)) continue;
    const bool same = IsSameType(taken, other, BoundsOf(graph.symbols));
    const bool joins = taken.dtype == other.dtype && taken.dims.size() == other.dims.size();
    if (!same && !joins) {
      if (taken.kind == other.kind && taken.dtype == other.dtype) NoteTwoRanks(old_node);
      Complain(
          old_node,
          AOTC_REFUSAL(InvalidArgument, StrCat("output '", graph.values[id].name, "' is ",
                                               PrintType(taken), " where the condition holds and ",
                                               PrintType(other), " where it does not")),
          kHintForBranches);
      continue;
    }
    if (same) {
      graph.values[result("else_branch", i)].type = taken;
    } else {
      const Shape& before = old_.values[old_node.outputs[i]].type.dims;
      for (size_t axis = 0; axis < taken.dims.size(); ++axis) {
        const std::string name = StrCat(graph.values[id].name, ":", axis);
        taken.dims[axis] = joiner.Join(name, taken.dims[axis], other.dims[axis],
                                       axis < before.size() ? before[axis] : Expr());
      }
    }
    ReplaceDeclaredType(graph.values[id], taken, diagnostics_);
  }
}

}  // namespace aotc
