#include "compiler/layout/dense_taps.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ir/graph_rebuild.h"
#include "compiler/ops/op.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Taps along the last axis, `step` elements apart, with zeros between.
Constant WithZerosBetween(const Constant& weight, int64_t step) {
  std::vector<int64_t> dims = weight.dims();
  const std::span<const uint8_t> from = weight.bytes();
  const auto taps = static_cast<size_t>(dims.back()), rows = from.size() / taps;
  dims.back() = (dims.back() - 1) * step + 1;
  const auto width = static_cast<size_t>(dims.back());
  std::vector<uint8_t> bytes(rows * width);
  for (size_t row = 0; row < rows; ++row) {
    for (size_t tap = 0; tap < taps; ++tap)
      bytes[row * width + tap * static_cast<size_t>(step)] = from[row * taps + tap];
  }
  return Constant::Dense(weight.dtype(), std::move(dims), std::move(bytes));
}

// Elements between taps of a row; 1 for all nodes that are to stay as they are.
int64_t StepToFill(const Graph& graph, const Node& node, int64_t least_channels) {
  if (!HasTrait(node.op, kConvolves) || node.inputs.size() != 2) return 1;
  const std::optional<Constant>& weight = graph.values[node.inputs[1]].constant;
  if (!weight || weight->dims().back() == 1 || ByteWidth(weight->dtype()) != 1) return 1;
  const Shape& input = graph.values[node.inputs[0]].type.dims;
  if (input[1].AsInt().value_or(least_channels) >= least_channels) return 1;
  const std::vector<int64_t> dilations = node.attributes.Ints("dilations");
  return dilations.empty() ? 1 : dilations.back();
}

}  // namespace

absl::StatusOr<Graph> DenseTaps(const Graph& graph, int64_t least_channels) {
  return RebuildGraph(graph, [&](Rebuilder& rebuilder, const Node& node) -> absl::StatusOr<bool> {
    const int64_t step = StepToFill(graph, node, least_channels);
    if (step == 1) return false;
    const Value& weight = graph.values[node.inputs[1]];
    const Constant dense = WithZerosBetween(weight.constant->Expanded(), step);
    Attributes attributes = node.attributes;
    std::vector<int64_t> dilations = attributes.Ints("dilations");
    dilations.back() = 1;
    attributes.Set("dilations", std::move(dilations));
    if (std::vector<int64_t> taps = attributes.Ints("kernel_shape"); !taps.empty()) {
      taps.back() = dense.dims().back();
      attributes.Set("kernel_shape", std::move(taps));
    }
    const ValueId taps = rebuilder.graph().AddConstant(StrCat(weight.name, "_dense"), dense);
    rebuilder.Replace(
        node.outputs[0],
        rebuilder.Emit(node.op, {rebuilder.Mapped(node.inputs[0]), taps}, std::move(attributes),
                       graph.values[node.outputs[0]].type, node));
    return true;
  });
}

}  // namespace aotc
