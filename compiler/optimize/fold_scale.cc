#include "compiler/optimize/fold_scale.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "compiler/ir/graph_rebuild.h"
#include "compiler/optimize/weighted.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

class Folder {
 public:
  explicit Folder(const Graph& graph) : old_(graph), uses_(UseCounts(graph)) {}

  absl::StatusOr<Graph> Run();
  bool changed() const { return changed_; }

 private:
  bool Visit(Rebuilder& rebuilder, const Node& node);
  bool FoldAfter(Rebuilder& rebuilder, const Node& mapped, const Node& old);
  bool FoldBefore(Rebuilder& rebuilder, const Node& mapped, const Node& old);
  void Emit(Rebuilder& rebuilder, const Weighted& weighted, const Node& merged, const Node& old);

  const Graph& old_;
  IdVector<ValueId, int> uses_;
  bool changed_ = false;
};

// The node of the region in work that defines `value`; null where there is none.
const Node* ProducerOf(Rebuilder& rebuilder, ValueId value) {
  const Graph& graph = rebuilder.graph();
  const std::vector<NodeId>& nodes = graph.regions[rebuilder.region()].nodes;
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    const Node& node = graph.nodes[*it];
    if (std::find(node.outputs.begin(), node.outputs.end(), value) != node.outputs.end())
      return &node;
  }
  return nullptr;
}

bool AnyConstant(const Graph& graph, const Node& node) {
  return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
    return input.valid() && graph.values[input].constant.has_value();
  });
}

absl::StatusOr<Graph> Folder::Run() {
  return RebuildGraph(old_, [&](Rebuilder& rebuilder, const Node& node) -> absl::StatusOr<bool> {
    bool folded = Visit(rebuilder, node);
    changed_ |= folded;
    return folded;
  });
}

bool Folder::Visit(Rebuilder& rebuilder, const Node& node) {
  if (node.outputs.size() != 1 || !AnyConstant(old_, node)) return false;
  // As it would stand in the new graph; its output's type is the same in both.
  Node mapped = node;
  for (ValueId& input : mapped.inputs) input = rebuilder.Mapped(input);
  return FoldAfter(rebuilder, mapped, node) || FoldBefore(rebuilder, mapped, node);
}

// The operand's producer takes in this node.
bool Folder::FoldAfter(Rebuilder& rebuilder, const Node& mapped, const Node& old) {
  for (size_t i = 0; i < old.inputs.size(); ++i) {
    if (!old.inputs[i].valid() || uses_[old.inputs[i]] != 1) continue;
    const Node* producer = ProducerOf(rebuilder, mapped.inputs[i]);
    std::optional<Weighted> weighted =
        producer == nullptr ? std::nullopt : WeightedOf(rebuilder.graph(), *producer);
    if (!weighted) continue;
    std::optional<ChannelAffine> affine =
        ChannelAffineOf(old_, old, weighted->output_axis, weighted->output_channels);
    if (!affine || affine->operand != old.inputs[i]) continue;
    // MatMul has no bias: nothing would be won.
    if (weighted->op == "MatMul" && affine->KeepsScale()) continue;
    ApplyAfter(*weighted, *affine);
    if (!IsPrecise(*weighted)) continue;
    Node merged = old;
    merged.locations = producer->locations;
    merged.locations.insert(merged.locations.end(), old.locations.begin(), old.locations.end());
    Emit(rebuilder, *weighted, merged, old);
    return true;
  }
  return false;
}

// This node takes in its input's producer.
bool Folder::FoldBefore(Rebuilder& rebuilder, const Node& mapped, const Node& old) {
  std::optional<Weighted> weighted = WeightedOf(rebuilder.graph(), mapped);
  if (!weighted || uses_[old.inputs[0]] != 1) return false;
  const Node* producer = ProducerOf(rebuilder, mapped.inputs[0]);
  if (producer == nullptr) return false;
  std::optional<ChannelAffine> affine =
      ChannelAffineOf(rebuilder.graph(), *producer, weighted->input_axis, weighted->input_channels);
  if (!affine || !affine->KeepsZero()) return false;
  ApplyBefore(*weighted, *affine);
  if (!IsPrecise(*weighted)) return false;
  weighted->input = affine->operand;
  Node merged = old;
  merged.locations = producer->locations;
  merged.locations.insert(merged.locations.end(), old.locations.begin(), old.locations.end());
  Emit(rebuilder, *weighted, merged, old);
  return true;
}

// A constant in place of one that loses its reader: where both want one name, the new one gets it.
ValueId ReplaceConstant(Graph& graph, ValueId replaced, const std::string& name,
                        Constant constant) {
  if (replaced.valid() && graph.values[replaced].name == name)
    graph.Rename(replaced, StrCat(name, "_before"));
  return graph.AddConstant(name, std::move(constant));
}

ValueId FoldedWeight(Graph& graph, const Weighted& weighted) {
  if (!weighted.weight_changed) return weighted.weight_value;
  constexpr char kFolded[] = "_folded";
  std::string name = graph.values[weighted.weight_value].name;
  if (!absl::EndsWith(name, kFolded)) name += kFolded;
  return ReplaceConstant(graph, weighted.weight_value, name, weighted.weight);
}

void Folder::Emit(Rebuilder& rebuilder, const Weighted& weighted, const Node& merged,
                  const Node& old) {
  Graph& graph = rebuilder.graph();
  const Value& output = old_.values[old.outputs[0]];
  std::vector<ValueId> inputs = {weighted.input, FoldedWeight(graph, weighted)};
  const bool has_bias =
      std::any_of(weighted.bias.begin(), weighted.bias.end(), [](double b) { return b != 0; });
  ValueId bias;
  if (has_bias) {
    bias = ReplaceConstant(graph, weighted.bias_value, StrCat(output.name, "_bias"),
                           VectorConstant(weighted.weight.dtype(), weighted.bias));
    if (weighted.op != "MatMul") inputs.push_back(bias);
  }
  ValueId result = rebuilder.Emit(weighted.op, inputs, weighted.attributes, output.type, merged);
  if (has_bias && weighted.op == "MatMul") {
    result = rebuilder.Emit("Add", {result, bias}, {}, output.type, merged);
  }
  rebuilder.Replace(old.outputs[0], result);
}

// Batch normalisation that found no weights, as x * scale + shift.
absl::StatusOr<Graph> WriteOutBatchNormalization(const Graph& graph) {
  return RebuildGraph(graph, [&](Rebuilder& rebuilder, const Node& node) -> absl::StatusOr<bool> {
    if (node.op != "BatchNormalization" || !node.outputs[0].valid()) return false;
    const ValueType& type = graph.values[node.outputs[0]].type;
    std::optional<int64_t> channels = type.dims.size() < 2 ? std::nullopt : type.dims[1].AsInt();
    std::optional<ChannelAffine> affine =
        channels ? ChannelAffineOf(graph, node, 1, *channels) : std::nullopt;
    if (!affine) return false;
    std::vector<int64_t> dims(type.dims.size() - 1, 1);
    dims[0] = *channels;
    auto constant = [&](const char* suffix, const std::vector<double>& values) {
      return rebuilder.graph().AddConstant(StrCat(graph.values[node.outputs[0]].name, suffix),
                                           VectorConstant(type.dtype, values).Reshaped(dims));
    };
    ValueId x = rebuilder.Mapped(affine->operand);
    ValueId scaled = rebuilder.Emit("Mul", {x, constant("_scale", affine->scale)}, {}, type, node);
    ValueId shifted =
        rebuilder.Emit("Add", {scaled, constant("_shift", affine->shift)}, {}, type, node);
    rebuilder.Replace(node.outputs[0], shifted);
    return true;
  });
}

}  // namespace

absl::StatusOr<Graph> FoldScale(const Graph& graph, PassContext&) {
  // Each round takes one node off a chain of scales; chains are short.
  constexpr int kLongestChain = 64;
  Graph current = graph;
  bool changed = true;
  for (int round = 0; changed && round < kLongestChain; ++round) {
    Folder folder(current);
    AOTC_ASSIGN_OR_RETURN(current, folder.Run());
    changed = folder.changed();
  }
  return WriteOutBatchNormalization(current);
}

}  // namespace aotc
