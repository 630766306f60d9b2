#include "compiler/optimize/shuffles_last.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ir/graph_rebuild.h"
#include "compiler/ops/emit.h"

namespace aotc {
namespace {

// Reshape, Transpose, Reshape: channel g * each + c of the source becomes c * groups + g.
struct Shuffle {
  const Node *parted, *turned, *joined;
  int64_t groups, each;

  int64_t PlaceOf(int64_t channel) const { return channel % each * groups + channel / each; }
};

// Rows of a constant's first axis, each at the channel that the shuffle takes there.
Constant Unshuffled(const Constant& constant, const Shuffle& shuffle) {
  const Constant expanded = constant.Expanded();
  const std::span<const uint8_t> bytes = expanded.bytes();
  const size_t row = bytes.size() / static_cast<size_t>(expanded.dims()[0]);
  std::vector<uint8_t> rows;
  for (int64_t channel = 0; channel < expanded.dims()[0]; ++channel) {
    const std::span<const uint8_t> from =
        bytes.subspan(static_cast<size_t>(shuffle.PlaceOf(channel)) * row, row);
    rows.insert(rows.end(), from.begin(), from.end());
  }
  return Constant::Dense(expanded.dtype(), expanded.dims(), rows);
}

class ShuffleMover {
 public:
  explicit ShuffleMover(const Graph& graph) : graph_(graph), uses_(UseCounts(graph)) {
    for (const Node& node : graph.nodes) {
      if (node.outputs.size() == 1) makers_[node.outputs[0]] = &node;
    }
  }

  absl::StatusOr<bool> Rebuild(Rebuilder& rebuilder, const Node& node) const {
    const std::optional<Shuffle> shuffle = ShuffledInput(node);
    if (!shuffle) return false;
    std::vector<ValueId> inputs = {rebuilder.Mapped(shuffle->parted->inputs[0])};
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      if (!HasInput(node, i)) break;
      const Value& value = graph_.values[node.inputs[i]];
      inputs.push_back(
          rebuilder.graph().AddConstant(value.name, Unshuffled(*value.constant, *shuffle)));
    }
    const ValueType& type = graph_.values[node.outputs[0]].type;
    const ValueId y = rebuilder.Emit("Conv", std::move(inputs), node.attributes, type, node);
    rebuilder.Replace(node.outputs[0], Shuffled(rebuilder, y, type, *shuffle));
    return true;
  }

 private:
  // The node that makes the value for one reader alone; null where there is none.
  const Node* MakerOf(ValueId value, std::string_view op) const {
    const auto maker = makers_.find(value);
    const bool fits = maker != makers_.end() && maker->second->op == op && uses_[value] == 1;
    return fits ? maker->second : nullptr;
  }

  std::optional<Shuffle> ShuffledInput(const Node& node) const {
    if (node.op != "Conv" || node.outputs.empty()) return std::nullopt;
    const Shape& dims = graph_.values[node.inputs[0]].type.dims;
    const int64_t channels =
        dims.size() > kChannelAxis ? dims[kChannelAxis].AsInt().value_or(0) : 0;
    if (channels == 0 || node.attributes.Int("group", 1) != channels) return std::nullopt;
    if (!ProveEqual(graph_.values[node.outputs[0]].type.dims[kChannelAxis], channels))
      return std::nullopt;
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      if (HasInput(node, i) && !graph_.values[node.inputs[i]].constant) return std::nullopt;
    }
    return ReadShuffle(node.inputs[0]);
  }

  std::optional<Shuffle> ReadShuffle(ValueId value) const {
    const Node* joined = MakerOf(value, "Reshape");
    const Node* turned = joined ? MakerOf(joined->inputs[0], "Transpose") : nullptr;
    const Node* parted = turned ? MakerOf(turned->inputs[0], "Reshape") : nullptr;
    if (parted == nullptr) return std::nullopt;
    const Shape& from = graph_.values[parted->inputs[0]].type.dims;
    const Shape& parts = graph_.values[parted->outputs[0]].type.dims;
    const Shape& to = graph_.values[value].type.dims;
    std::vector<int64_t> order(parts.size());
    std::iota(order.begin(), order.end(), 0);
    if (order.size() < 3) return std::nullopt;
    std::swap(order[kChannelAxis], order[kChannelAxis + 1]);
    const bool parts_channels = from.size() + 1 == parts.size() && from.size() == to.size() &&
                                turned->attributes.Ints("perm") == order;
    if (!parts_channels) return std::nullopt;
    for (size_t i = 0; i < from.size(); ++i) {
      const size_t part = i > kChannelAxis ? i + 1 : i;
      if (!ProveEqual(from[i], to[i])) return std::nullopt;
      if (i != kChannelAxis && !ProveEqual(from[i], parts[part])) return std::nullopt;
    }
    const std::optional<int64_t> groups = parts[kChannelAxis].AsInt();
    const std::optional<int64_t> each = parts[kChannelAxis + 1].AsInt();
    if (!groups || !each) return std::nullopt;
    return Shuffle{parted, turned, joined, *groups, *each};
  }

  // The shuffle of a value of this type.
  ValueId Shuffled(Rebuilder& rebuilder, ValueId value, const ValueType& type,
                   const Shuffle& shuffle) const {
    ValueType parts = type;
    parts.dims[kChannelAxis] = shuffle.groups;
    parts.dims.insert(parts.dims.begin() + kChannelAxis + 1, Expr(shuffle.each));
    ValueType turned = parts;
    std::swap(turned.dims[kChannelAxis], turned.dims[kChannelAxis + 1]);
    value = rebuilder.Emit("Reshape", {value, EmitDims(rebuilder, parts.dims, *shuffle.parted)}, {},
                           parts, *shuffle.parted);
    value =
        rebuilder.Emit("Transpose", {value}, shuffle.turned->attributes, turned, *shuffle.turned);
    return rebuilder.Emit("Reshape", {value, EmitDims(rebuilder, type.dims, *shuffle.joined)}, {},
                          type, *shuffle.joined);
  }

  const Graph& graph_;
  const IdVector<ValueId, int> uses_;
  std::map<ValueId, const Node*> makers_;
};

}  // namespace

absl::StatusOr<Graph> ShufflesLast(const Graph& graph) {
  const ShuffleMover mover(graph);
  absl::StatusOr<Graph> moved = RebuildGraph(graph, [&](Rebuilder& rebuilder, const Node& node) {
    return mover.Rebuild(rebuilder, node);
  });
  if (!moved.ok()) return moved;
  return DropDead(*moved);
}

absl::StatusOr<Graph> ShufflesLast(const Graph& graph, PassContext& context) {
  return context.target().contracts.channel_block == 0 ? graph : ShufflesLast(graph);
}

}  // namespace aotc
