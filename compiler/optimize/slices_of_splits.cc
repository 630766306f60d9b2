#include "compiler/optimize/slices_of_splits.h"

#include <algorithm>
#include <vector>

#include "compiler/ir/graph_rebuild.h"

namespace aotc {
namespace {

// Where the parts begin and the last one ends; empty where that is not between blocks of axis 1.
std::vector<int64_t> CutsOf(const Graph& graph, const Node& node, int64_t block) {
  if (node.op != "Split") return {};
  const Shape& dims = graph.values[node.inputs[0]].type.dims;
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t axis = node.attributes.Int("axis", 0);
  if (rank < 3 || (axis < 0 ? axis + rank : axis) != 1) return {};
  std::vector<int64_t> cuts = {0};
  for (ValueId output : node.outputs) {
    if (!output.valid() || cuts.back() % block != 0) return {};
    const std::optional<int64_t> size = graph.values[output].type.dims[1].AsInt();
    if (!size || *size == 0) return {};
    cuts.push_back(cuts.back() + *size);
  }
  return cuts;
}

}  // namespace

absl::StatusOr<Graph> SlicesOfSplits(const Graph& graph, PassContext& context) {
  const int64_t block = std::max<int64_t>(context.target().contracts.channel_block, 1);
  return RebuildGraph(graph, [&](Rebuilder& rebuilder, const Node& node) -> absl::StatusOr<bool> {
    const std::vector<int64_t> cuts = CutsOf(graph, node, block);
    if (cuts.empty()) return false;
    const ValueId x = rebuilder.Mapped(node.inputs[0]);
    const auto number = [&](int64_t value) {
      return rebuilder.graph().AddConstant("bound", Constant::Ints({value}));
    };
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueType& type = graph.values[node.outputs[i]].type;
      rebuilder.Replace(
          node.outputs[i],
          rebuilder.Emit("Slice", {x, number(cuts[i]), number(cuts[i + 1]), number(1)}, {}, type,
                         node));
    }
    return true;
  });
}

}  // namespace aotc
