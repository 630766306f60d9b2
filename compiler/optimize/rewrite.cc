#include "compiler/optimize/rewrite.h"

#include <algorithm>
#include <utility>

#include "compiler/eval/evaluate.h"
#include "compiler/ops/op.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// The constant that a node over constants gives; nothing where it cannot be had.
std::optional<Constant> Folded(const Graph& graph, const Node& node) {
  std::vector<Constant> inputs;
  for (ValueId input : node.inputs) {
    if (input.valid() && !graph.values[input].constant) return std::nullopt;
  }
  absl::StatusOr<NodeKernel> kernel = BuildNodeKernel(graph, node);
  if (!kernel.ok() || !kernel->kernel.symbols.empty()) return std::nullopt;
  for (ValueId input : kernel->inputs) inputs.push_back(*graph.values[input].constant);
  absl::StatusOr<std::vector<Constant>> outputs = EvaluateKernel(kernel->kernel, inputs);
  if (!outputs.ok() || outputs->size() != 1) return std::nullopt;
  return std::move((*outputs)[0]);
}

const Node* IfFirstOutput(const Node& node, ValueId value) {
  return node.outputs[0] == value ? &node : nullptr;
}

absl::StatusOr<Graph> RewriteOnce(const Graph& graph, std::span<const RewriteRule> rules,
                                  Survey survey, bool& changed) {
  ProducerIndex producers;
  const GraphFacts facts(graph);
  absl::flat_hash_set<ValueId> marked;
  if (survey != nullptr) marked = survey(graph, facts);
  return RebuildGraph(graph, [&](Rebuilder& rebuilder, const Node& node) -> absl::StatusOr<bool> {
    if (!node.regions.empty() || UsedOutputs(node).size() != 1) return false;
    RewriteSite site(rebuilder, producers, facts, marked, node);
    const bool fired =
        std::any_of(rules.begin(), rules.end(), [&](RewriteRule rule) { return rule(site); });
    changed |= fired;
    return fired;
  });
}

}  // namespace

GraphFacts::GraphFacts(const Graph& graph)
    : producers(Producers(graph)), uses(UseCounts(graph)), regions(graph.values.size()) {
  for (RegionId region : graph.regions.ids()) {
    for (NodeId id : graph.regions[region].nodes) {
      for (ValueId output : graph.nodes[id].outputs) {
        if (output.valid()) regions[output] = region;
      }
    }
  }
}

NodeId ProducerIndex::Find(const Graph& graph, ValueId value) {
  producer_.resize(graph.values.size());
  for (; seen_ < graph.nodes.size(); ++seen_) {
    const NodeId id(static_cast<int32_t>(seen_));
    for (ValueId output : graph.nodes[id].outputs) {
      if (output.valid()) producer_[static_cast<size_t>(output.index())] = id;
    }
  }
  return value.valid() ? producer_[static_cast<size_t>(value.index())] : NodeId();
}

std::vector<ValueId> UsedOutputs(const Node& node) {
  std::vector<ValueId> used;
  for (ValueId output : node.outputs) {
    if (output.valid()) used.push_back(output);
  }
  return used;
}

RewriteSite::RewriteSite(Rebuilder& rebuilder, ProducerIndex& producers, const GraphFacts& facts,
                         const absl::flat_hash_set<ValueId>& marked, const Node& old)
    : rebuilder_(rebuilder),
      producers_(producers),
      facts_(facts),
      marked_(marked),
      old_(old),
      node_(old),
      output_(UsedOutputs(old)[0]) {
  for (ValueId& input : node_.inputs) input = rebuilder.Mapped(input);
}

bool RewriteSite::HasInput(size_t index) const { return aotc::HasInput(node_, index); }

const Constant* RewriteSite::ConstantInput(size_t index) const {
  return HasInput(index) ? ConstantOf(node_.inputs[index]) : nullptr;
}

const Constant* RewriteSite::ConstantOf(ValueId value) const {
  const std::optional<Constant>& constant = graph().values[value].constant;
  return constant ? &*constant : nullptr;
}

const Node* RewriteSite::Producer(size_t index) const {
  return HasInput(index) ? ProducerOf(node_.inputs[index]) : nullptr;
}

const Node* RewriteSite::ProducerOf(ValueId value) const {
  const NodeId id = producers_.Find(graph(), value);
  if (!id.valid() || !rebuilder_.IsLocal(id)) return nullptr;
  return IfFirstOutput(graph().nodes[id], value);
}

const Node* RewriteSite::ProducerBefore(ValueId value_before) const {
  const NodeId id = value_before.valid() ? facts_.producers[value_before] : NodeId();
  const bool local = id.valid() && facts_.regions[value_before] == facts_.regions[output_];
  return local ? IfFirstOutput(before().nodes[id], value_before) : nullptr;
}

ValueId RewriteSite::Emit(std::string_view op, std::vector<ValueId> inputs, Attributes attributes,
                          ValueType type) {
  const bool foldable = !inputs.empty() && std::ranges::all_of(inputs, [&](ValueId input) {
    return !input.valid() || ConstantOf(input) != nullptr;
  });
  const ValueId result =
      rebuilder_.Emit(op, std::move(inputs), std::move(attributes), std::move(type), old_);
  if (!foldable) return result;
  // A constant with a node of its own is not allowed: the node is dropped for want of readers.
  Graph& graph = rebuilder_.graph();
  std::optional<Constant> folded =
      Folded(graph, graph.nodes[NodeId(static_cast<int32_t>(graph.nodes.size()) - 1)]);
  if (!folded) return result;
  const std::string name = graph.values[result].name;
  graph.Rename(result, StrCat(name, "_node"));
  return graph.AddConstant(name, *std::move(folded));
}

ValueId RewriteSite::EmitConstant(std::string_view suffix, Constant constant) {
  const std::string& name = rebuilder_.old_graph().values[output_].name;
  return rebuilder_.graph().AddConstant(StrCat(name, suffix), std::move(constant));
}

ValueId RewriteSite::EmitSizes(std::string_view suffix, const Shape& sizes) {
  if (const std::optional<std::vector<int64_t>> numbers = StaticDims(sizes)) {
    return EmitConstant(suffix, Constant::Ints(*numbers));
  }
  const Shape count = {Expr(static_cast<int64_t>(sizes.size()))};
  const ValueId elements = Emit("Elements", {}, {}, TensorType(DType::kI64, count));
  rebuilder_.graph().values[elements].elements = sizes;
  return elements;
}

ValueId RewriteSite::EmitReshape(ValueId value, const Shape& dims) {
  const ValueType from = TypeOf(value);
  if (SameShape(from.dims, dims)) return value;
  const ValueId shape = EmitSizes("_shape", dims);
  const std::optional<std::vector<int64_t>> numbers = StaticDims(dims);
  Attributes attributes;
  const bool has_zero = !numbers || std::ranges::count(*numbers, 0) > 0;
  if (has_zero) attributes.Set("allowzero", int64_t{1});
  return Emit("Reshape", {value, shape}, std::move(attributes), TensorType(from.dtype, dims));
}

bool RewriteSite::ReplaceBy(ValueId value) {
  for (ValueId output : old_.outputs) {
    if (output.valid()) rebuilder_.Replace(output, value);
  }
  return true;
}

bool RewriteSite::ReplaceBy(std::string_view op, std::vector<ValueId> inputs,
                            Attributes attributes) {
  return ReplaceBy(Emit(op, std::move(inputs), std::move(attributes), type()));
}

absl::StatusOr<Graph> RewriteUntilDone(const Graph& graph, std::span<const RewriteRule> rules,
                                       Survey survey) {
  // Rules look upwards, so that a chain is done in one round; what they leave takes a few more.
  constexpr int kMostRounds = 64;
  Graph current = graph;
  for (int round = 0; round < kMostRounds; ++round) {
    bool changed = false;
    AOTC_ASSIGN_OR_RETURN(Graph next, RewriteOnce(current, rules, survey, changed));
    if (!changed) return current;
    current = std::move(next);
  }
  return current;
}

}  // namespace aotc
