#include "compiler/layout/split_groups.h"

#include <optional>
#include <utility>
#include <vector>

#include "compiler/ir/graph_rebuild.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// ResNeXt has up to 64 groups, RegNet up to 55. In parts, a convolution of 32 groups takes between
// a quarter (2 channels each) and a twentieth (8 or more) of the time; joining the parts takes
// compile time that grows faster than their number.
constexpr int64_t kMostGroups = 64;

struct GroupedConvolution {
  int64_t groups = 1;
  int64_t inputs = 0;  // channels of one group
  int64_t outputs = 0;
  Constant weight = {};  // [groups * outputs, inputs, taps...]
  std::optional<Constant> bias = {};
};

std::optional<GroupedConvolution> GroupedOf(const Graph& graph, const Node& node) {
  if (node.op != "Conv" || node.inputs.size() < 2) return std::nullopt;
  GroupedConvolution conv{.groups = node.attributes.Int("group", 1)};
  const std::optional<Constant>& weight = graph.values[node.inputs[1]].constant;
  if (conv.groups < 2 || conv.groups > kMostGroups || !weight) return std::nullopt;
  conv.weight = weight->Expanded();
  conv.inputs = conv.weight.dims()[1];
  conv.outputs = conv.weight.dims()[0] / conv.groups;
  if (conv.inputs == 1) return std::nullopt;
  if (HasInput(node, 2)) {
    if (!graph.values[node.inputs[2]].constant) return std::nullopt;
    conv.bias = graph.values[node.inputs[2]].constant->Expanded();
  }
  return conv;
}

// Rows begin .. begin + count of a constant's first axis.
Constant Rows(const Constant& constant, int64_t begin, int64_t count) {
  std::vector<int64_t> dims = constant.dims();
  const std::span<const uint8_t> bytes = constant.bytes();
  const size_t row = bytes.size() / static_cast<size_t>(dims[0]);
  dims[0] = count;
  const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(begin) * row);
  const auto last = first + static_cast<std::ptrdiff_t>(static_cast<size_t>(count) * row);
  return Constant::Dense(constant.dtype(), std::move(dims), {first, last});
}

// Emits the convolution of one group; returns its result.
ValueId EmitGroup(Rebuilder& rebuilder, const Node& node, const GroupedConvolution& conv,
                  int64_t group) {
  Graph& graph = rebuilder.graph();
  const ValueId x = rebuilder.Mapped(node.inputs[0]);
  ValueType part = graph.values[x].type;
  part.dims[1] = conv.inputs;
  auto numbers = [&](int64_t value) { return graph.AddConstant("bound", Constant::Ints({value})); };
  const int64_t begin = group * conv.inputs;
  const ValueId slice =
      rebuilder.Emit("Slice", {x, numbers(begin), numbers(begin + conv.inputs), numbers(1)}, {},
                     std::move(part), node);
  const std::string& name = rebuilder.old_graph().values[node.outputs[0]].name;
  const int64_t row = group * conv.outputs;
  std::vector<ValueId> inputs = {slice, graph.AddConstant(StrCat(name, "_weight_", group),
                                                          Rows(conv.weight, row, conv.outputs))};
  if (conv.bias) {
    inputs.push_back(
        graph.AddConstant(StrCat(name, "_bias_", group), Rows(*conv.bias, row, conv.outputs)));
  }
  Attributes attributes = node.attributes;
  attributes.Erase("group");
  ValueType type = rebuilder.old_graph().values[node.outputs[0]].type;
  type.dims[1] = conv.outputs;
  return rebuilder.Emit("Conv", std::move(inputs), std::move(attributes), std::move(type), node);
}

}  // namespace

absl::StatusOr<Graph> SplitGroups(const Graph& graph) {
  return RebuildGraph(graph, [&](Rebuilder& rebuilder, const Node& node) -> absl::StatusOr<bool> {
    const std::optional<GroupedConvolution> conv = GroupedOf(graph, node);
    if (!conv) return false;
    std::vector<ValueId> parts;
    for (int64_t group = 0; group < conv->groups; ++group) {
      parts.push_back(EmitGroup(rebuilder, node, *conv, group));
    }
    Attributes axis;
    axis.Set("axis", int64_t{1});
    const ValueType& type = graph.values[node.outputs[0]].type;
    rebuilder.Replace(node.outputs[0],
                      rebuilder.Emit("Concat", std::move(parts), std::move(axis), type, node));
    return true;
  });
}

absl::StatusOr<Graph> SplitGroups(const Graph& graph, PassContext& context) {
  return context.target().contracts.channel_block == 0 ? graph : SplitGroups(graph);
}

}  // namespace aotc
