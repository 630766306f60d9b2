#include "compiler/optimize/siblings.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "compiler/ops/op.h"
#include "compiler/optimize/channel_affine.h"

namespace aotc {
namespace {

bool IsArithmetic(const Node& node) {
  return node.op == "Add" || node.op == "Div" || node.op == "Mul" || node.op == "Sub";
}

const Constant* ConstantInput(const Graph& graph, const Node& node, size_t index) {
  if (!HasInput(node, index)) return nullptr;
  const std::optional<Constant>& constant = graph.values[node.inputs[index]].constant;
  return constant ? &*constant : nullptr;
}

bool HasBias(const Node& node) { return HasInput(node, 2); }

// Axes of the output channels in weight and result.
struct ChannelAxes {
  int weight = 0;
  int output = 0;
};

ChannelAxes AxesOf(const Graph& graph, const Node& node) {
  const auto rank = static_cast<int>(graph.values[node.outputs[0]].type.dims.size());
  if (node.op == "Conv") return {.weight = 0, .output = 1};
  const bool transposed = node.op == "Gemm" && node.attributes.Int("transB") != 0;
  const auto weight_rank = static_cast<int>(graph.values[node.inputs[1]].type.dims.size());
  return {.weight = transposed ? 0 : weight_rank - 1, .output = rank - 1};
}

// The bias is one number per channel: that of Conv always, that of Gemm where it has no rows.
bool HasMergeableBias(const Graph& graph, const Node& node, int64_t channels) {
  if (!HasBias(node)) return true;
  const Constant* bias = ConstantInput(graph, node, 2);
  if (bias == nullptr) return false;
  if (node.op == "Conv") return true;
  return ChannelVector(*bias, 2, 1, channels).has_value();
}

bool IsMember(const Graph& graph, const Node& node) {
  if (!HasTrait(node.op, kContraction) || !node.outputs[0].valid()) return false;
  const Constant* weight = ConstantInput(graph, node, 1);
  if (weight == nullptr || !IsFloat(weight->dtype()) || ByteWidth(weight->dtype()) == 0)
    return false;
  if (weight->dims().size() < 2 || weight->element_count() == 0) return false;
  if (node.op == "Conv" && node.attributes.Int("group", 1) != 1) return false;
  if (graph.values[node.inputs[0]].type.dims.size() < 2) return false;
  const int64_t channels = weight->dims()[static_cast<size_t>(AxesOf(graph, node).weight)];
  return HasMergeableBias(graph, node, channels);
}

// Two members of one input that differ in their numbers of channels at most.
bool AreSiblings(const Graph& graph, const Node& a, const Node& b) {
  if (a.op != b.op || a.inputs[0] != b.inputs[0] || HasBias(a) != HasBias(b)) return false;
  if (!SameAttributes(a.attributes, b.attributes)) return false;
  const Constant &wa = *ConstantInput(graph, a, 1), &wb = *ConstantInput(graph, b, 1);
  if (wa.dtype() != wb.dtype() || wa.dims().size() != wb.dims().size()) return false;
  const auto axis = static_cast<size_t>(AxesOf(graph, a).weight);
  for (size_t d = 0; d < wa.dims().size(); ++d) {
    if (d != axis && wa.dims()[d] != wb.dims()[d]) return false;
  }
  return true;
}

class Finder {
 public:
  explicit Finder(const Graph& graph)
      : graph_(graph),
        uses_(UseCounts(graph)),
        reader_(graph.values.size()),
        region_(graph.nodes.size()) {}

  std::vector<SiblingGroup> Run() {
    for (size_t r = 0; r < graph_.regions.size(); ++r) Collect(RegionId(static_cast<int32_t>(r)));
    std::erase_if(groups_, [](const SiblingGroup& group) { return group.branches.size() < 2; });
    for (SiblingGroup& group : groups_) {
      while (AddLevel(group)) {
      }
    }
    return std::move(groups_);
  }

 private:
  void Collect(RegionId region) {
    std::map<ValueId, std::vector<size_t>> by_input;  // indices of groups_
    for (NodeId id : graph_.regions[region].nodes) {
      const Node& node = graph_.nodes[id];
      region_[id] = region;
      for (ValueId input : node.inputs) {
        if (input.valid()) reader_[input] = id;
      }
      if (!IsMember(graph_, node)) continue;
      const ChannelAxes axes = AxesOf(graph_, node);
      const std::vector<int64_t>& dims = ConstantInput(graph_, node, 1)->dims();
      SiblingBranch branch = {.nodes = {id}, .channels = dims[static_cast<size_t>(axes.weight)]};
      std::vector<size_t>& known = by_input[node.inputs[0]];
      auto same = std::ranges::find_if(known, [&](size_t index) {
        return AreSiblings(graph_, graph_.nodes[groups_[index].branches[0].nodes[0]], node);
      });
      if (same != known.end()) {
        groups_[*same].branches.push_back(std::move(branch));
        continue;
      }
      known.push_back(groups_.size());
      groups_.push_back({.region = region,
                         .branches = {std::move(branch)},
                         .weight_axis = axes.weight,
                         .output_axis = axes.output});
    }
  }

  // The only reader of a branch so far, in the group's region; null where there is none.
  const Node* NextOf(const SiblingGroup& group, const SiblingBranch& branch) const {
    const ValueId value = graph_.nodes[branch.nodes.back()].outputs[0];
    if (uses_[value] != 1 || !reader_[value].valid()) return nullptr;
    const bool here = region_[reader_[value]] == group.region;
    return here ? &graph_.nodes[reader_[value]] : nullptr;
  }

  // True where all branches go on with the same op.
  bool AddLevel(SiblingGroup& group) const {
    const Node* first = NextOf(group, group.branches[0]);
    std::vector<NodeId> level;
    std::optional<Follower> expected;
    for (const SiblingBranch& branch : group.branches) {
      const Node* next = NextOf(group, branch);
      if (first == nullptr || next == nullptr || next->op != first->op) return false;
      if (!SameAttributes(next->attributes, first->attributes)) return false;
      const ValueId chain = graph_.nodes[branch.nodes.back()].outputs[0];
      std::optional<Follower> follower =
          FollowerOf(graph_, *next, chain, group.output_axis, branch.channels);
      if (!follower) return false;
      if (expected && follower->chain != expected->chain) return false;
      expected = follower;
      level.push_back(reader_[chain]);
    }
    for (size_t i = 0; i < level.size(); ++i) group.branches[i].nodes.push_back(level[i]);
    return true;
  }

  const Graph& graph_;
  const IdVector<ValueId, int> uses_;
  IdVector<ValueId, NodeId> reader_;  // the last one
  IdVector<NodeId, RegionId> region_;
  std::vector<SiblingGroup> groups_;
};

}  // namespace

std::optional<Follower> FollowerOf(const Graph& graph, const Node& node, ValueId chain, int axis,
                                   int64_t channels) {
  if (node.outputs.size() != 1 || !node.outputs[0].valid()) return std::nullopt;
  const ValueType& type = graph.values[node.outputs[0]].type;
  if (!SameType(type, graph.values[chain].type)) return std::nullopt;
  if (HasTrait(node.op, kElementwise) && node.inputs.size() == 1) return Follower{};
  if (!IsArithmetic(node) || node.inputs.size() != 2) return std::nullopt;
  const size_t vector = node.inputs[0] == chain ? 1 : 0;
  const Constant* constant = ConstantInput(graph, node, vector);
  if (constant == nullptr) return std::nullopt;
  const auto rank = static_cast<int>(type.dims.size());
  if (!ChannelVector(*constant, rank, axis, channels)) return std::nullopt;
  return Follower{.chain = 1 - vector, .vector = vector};
}

std::vector<SiblingGroup> FindSiblings(const Graph& graph) { return Finder(graph).Run(); }

}  // namespace aotc
