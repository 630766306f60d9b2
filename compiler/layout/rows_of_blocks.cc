#include "compiler/layout/rows_of_blocks.h"

#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "compiler/ir/graph_rebuild.h"
#include "compiler/ops/emit.h"
#include "compiler/ops/op.h"

namespace aotc {
namespace {

constexpr size_t kChannels = 1, kRow = 2;  // the channels, and the axis of those of a block

class Rower {
 public:
  explicit Rower(const Graph& graph) : graph_(graph), uses_(UseCounts(graph)) {
    for (const Node& node : graph.nodes) {
      if (HasTrait(node.op, kKeepsOrder)) reshapes_[node.outputs[0]] = &node;
    }
  }

  absl::StatusOr<bool> Rebuild(Rebuilder& rebuilder, const Node& node) const {
    if (!IsOfBlocks(node)) return false;
    const ValueType& type = graph_.values[node.inputs[0]].type;
    const size_t rank = type.dims.size();
    ValueType turned = type;
    std::swap(turned.dims[kRow], turned.dims[rank - 1]);
    Attributes last = node.attributes;
    last.Set("axis", static_cast<int64_t>(rank - 1));
    const ValueId x = Turned(rebuilder, node, rebuilder.Mapped(node.inputs[0]), turned);
    const ValueId y = rebuilder.Emit(node.op, {x}, std::move(last), turned, node);
    rebuilder.Replace(node.outputs[0], Turned(rebuilder, node, y, type));
    return true;
  }

 private:
  // Along axis 2 of [n, c / block, block, pixels], which is [n, c, pixels] in blocks of channels.
  bool IsOfBlocks(const Node& node) const {
    if (!HasTrait(node.op, kAlongAxis) || uses_[node.inputs[0]] != 1) return false;
    const auto reshape = reshapes_.find(node.inputs[0]);
    if (reshape == reshapes_.end()) return false;
    const Value& from = graph_.values[reshape->second->inputs[0]];
    const Value &to = graph_.values[node.inputs[0]], &result = graph_.values[node.outputs[0]];
    const Shape &dims = from.type.dims, &parts = to.type.dims;
    if (dims.size() != 3 || parts.size() != 4 || from.layout.HasHalo()) return false;
    if (from.layout.axes.empty() || !to.layout.IsRowMajor() || !result.layout.IsRowMajor()) {
      return false;
    }
    const int64_t block = from.layout.axes.back().modulus;
    return IsAlongBlocks(graph_, node, block) &&
           from.layout.axes == BlockedLayout(3, kChannels, block).axes &&
           ProveEqual(dims[0], parts[0]) && ProveEqual(dims[kChannels], parts[kChannels] * block) &&
           ProveEqual(dims[2], parts[3]);
  }

  static ValueId Turned(Rebuilder& rebuilder, const Node& node, ValueId x, const ValueType& type) {
    std::vector<int64_t> perm(type.dims.size());
    std::iota(perm.begin(), perm.end(), 0);
    std::swap(perm[kRow], perm.back());
    return EmitTransposed(rebuilder, x, std::move(perm), type, node);
  }

  const Graph& graph_;
  const IdVector<ValueId, int> uses_;
  std::map<ValueId, const Node*> reshapes_;
};

}  // namespace

bool IsAlongBlocks(const Graph& graph, const Node& node, int64_t block) {
  if (!HasTrait(node.op, kAlongAxis)) return false;
  const Shape& dims = graph.values[node.inputs[0]].type.dims;
  return dims.size() == 4 && dims[kRow].IsInt(block) &&
         node.attributes.Int("axis") == static_cast<int64_t>(kRow);
}

absl::StatusOr<Graph> RowsOfBlocks(const Graph& graph) {
  const Rower rower(graph);
  return RebuildGraph(graph, [&](Rebuilder& rebuilder, const Node& node) {
    return rower.Rebuild(rebuilder, node);
  });
}

}  // namespace aotc
