#include "compiler/layout/interleaved_repeats.h"

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/ir/graph_rebuild.h"
#include "compiler/layout/reads.h"
#include "compiler/ops/emit.h"
#include "compiler/ops/op.h"
#include "compiler/schedule/join.h"
#include "compiler/schedule/stage_kinds.h"

namespace aotc {
namespace {

constexpr int64_t kMostRepeats = 8;

class Repeater {
 public:
  Repeater(const Graph& graph, int64_t block) : graph_(graph), block_(block) {
    for (const Node& node : graph.nodes) {
      if (!node.regions.empty()) continue;
      const absl::StatusOr<NodeKernel> built = BuildNodeKernel(graph, node);
      if (built.ok() && !OnlyMoves(built->kernel)) computed_.insert(node.outputs[0]);
    }
  }

  absl::StatusOr<bool> Rebuild(Rebuilder& rebuilder, const Node& node) const {
    const std::optional<Repeats> repeats = RepeatsOf(node);
    if (!repeats) return false;
    const ValueId x = rebuilder.Mapped(node.inputs[0]);
    rebuilder.Replace(node.outputs[0], Joined(rebuilder, node, *repeats, x, 0));
    return true;
  }

 private:
  // How often each element is repeated along each axis.
  std::optional<Repeats> RepeatsOf(const Node& node) const {
    if (node.inputs.empty() || !computed_.contains(node.inputs[0])) return std::nullopt;
    const Shape& dims = graph_.values[node.inputs[0]].type.dims;
    if (dims.size() < 3 || dims[kChannelAxis].AsInt().value_or(0) < block_) return std::nullopt;
    const absl::StatusOr<NodeKernel> built = BuildNodeKernel(graph_, node);
    if (!built.ok()) return std::nullopt;
    std::optional<Repeats> repeats = ReadRepeats(built->kernel);
    int64_t all = 1;
    for (const int64_t count : repeats.value_or(Repeats())) all *= count;
    const bool fits = all > 1 && all <= kMostRepeats && (*repeats)[kChannelAxis] == 1;
    return fits ? repeats : std::nullopt;
  }

  // `x` with its elements repeated along the axes from `axis` on.
  ValueId Joined(Rebuilder& rebuilder, const Node& node, const Repeats& repeats, ValueId x,
                 size_t axis) const {
    if (axis == repeats.size()) return EmitCopy(rebuilder, x, node);
    std::vector<ValueId> parts;
    for (int64_t i = 0; i < repeats[axis]; ++i)
      parts.push_back(Joined(rebuilder, node, repeats, x, axis + 1));
    if (parts.size() == 1) return parts[0];
    ValueType joined = rebuilder.graph().values[parts[0]].type;
    joined.dims[axis] = graph_.values[node.outputs[0]].type.dims[axis];
    return EmitInterleaved(rebuilder, std::move(parts), axis, joined, node);
  }

  const Graph& graph_;
  const int64_t block_;
  std::set<ValueId> computed_;  // by nodes that do more than move elements
};

}  // namespace

absl::StatusOr<Graph> InterleavedRepeats(const Graph& graph, int64_t block) {
  const Repeater repeater(graph, block);
  return RebuildGraph(graph, [&](Rebuilder& rebuilder, const Node& node) {
    return repeater.Rebuild(rebuilder, node);
  });
}

}  // namespace aotc
