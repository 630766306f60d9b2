#include "compiler/canonicalize/scaled_weights.h"

#include <algorithm>
#include <utility>

namespace aotc {
namespace {

bool IsNarrow(DType type) {
  return type == DType::kI8 || type == DType::kU8 || type == DType::kI4 || type == DType::kU4;
}

// One number as a vector of as many as there are columns.
Constant PerColumn(const Constant& number, int64_t columns) {
  const bool is_float = IsFloat(number.dtype());
  const double value = is_float ? number.FloatAt(0) : static_cast<double>(number.IntAt(0));
  return Constant::Splat(number.dtype(), {columns}, value).Expanded();
}

bool IsZero(const Constant& zero) {
  for (int64_t i = 0; i < zero.element_count(); ++i) {
    if (zero.IntAt(i) != 0) return false;
  }
  return true;
}

}  // namespace

std::set<ValueId> QuantizedWeights(const Graph& graph) {
  std::set<ValueId> dequantized, weights;
  for (const Node& node : graph.nodes) {
    if (node.op == "DequantizeLinear") dequantized.insert(node.outputs[0]);
    if (node.op != "Conv" && node.op != "MatMul" && node.op != "Gemm") continue;
    if (dequantized.contains(node.inputs[0]) && dequantized.contains(node.inputs[1])) {
      weights.insert(node.inputs[1]);
    }
  }
  return weights;
}

std::optional<ScaledWeights::Reading> ScaledWeights::ReadingOf(const Node& node) {
  if (node.op == "MatMul") return Reading{.rank = 2, .column = 1, .reduced = 0, .readers = 1};
  if (node.op == "Gemm") {
    const int64_t column = node.attributes.Int("transB") != 0 ? 0 : 1;
    return Reading{.rank = 2, .column = column, .reduced = 1 - column, .readers = 1};
  }
  if (node.op == "Conv" && node.attributes.Int("group", 1) == 1)
    return Reading{.column = 0, .readers = 1};
  return std::nullopt;
}

ScaledWeights::ScaledWeights(const Graph& graph) {
  const IdVector<ValueId, int> uses = UseCounts(graph);
  for (const Region& region : graph.regions) {
    std::set<ValueId> made;
    for (const NodeId id : region.nodes) {
      const Node& node = graph.nodes[id];
      if (node.op == "DequantizeLinear") made.insert(node.outputs[0]);
      const std::optional<Reading> reading = ReadingOf(node);
      if (!reading || !HasInput(node, 1) || node.inputs[0] == node.inputs[1]) continue;
      if (!made.contains(node.inputs[1])) continue;
      const auto [found, is_new] = readings_.emplace(node.inputs[1], *reading);
      if (is_new) continue;
      Reading same = found->second;
      same.readers = 1;
      if (same == *reading) ++found->second.readers;
    }
  }
  std::erase_if(readings_,
                [&](const auto& read) { return read.second.readers != uses[read.first]; });
}

std::optional<StoredScales> ScaledWeights::Stay(const Node& node,
                                                const std::vector<Constant>& inputs) const {
  const auto found = readings_.find(node.outputs[0]);
  if (found == readings_.end() || inputs.size() < 2 || !IsNarrow(inputs[0].dtype()))
    return std::nullopt;
  if (inputs[0].is_splat()) return std::nullopt;  // the result is one as well
  const Reading& reading = found->second;
  const std::vector<int64_t>& dims = inputs[0].dims();
  const auto rank = static_cast<int64_t>(dims.size());
  if ((reading.rank > 0 && dims.size() != reading.rank) || dims.size() < 2) return std::nullopt;
  const int64_t columns = dims[static_cast<size_t>(reading.column)];
  if (columns < 2) return std::nullopt;
  StoredScales scales{.params = {inputs.begin() + 1, inputs.end()}, .axis = reading.column};
  if (scales.params.size() > 1 && IsZero(scales.params[1])) scales.params.pop_back();
  // Kernels have splats as literals, and would have no scales to read.
  for (Constant& param : scales.params) param = param.Expanded();
  const int64_t block = node.attributes.Int("block_size");
  const int64_t stated = node.attributes.Int("axis", 1), axis = stated < 0 ? stated + rank : stated;
  if (block > 0) {  // columns in blocks would be apart, and a part of a block has no scale
    scales.axis = axis;
    const bool fits = reading.reduced == axis && dims[static_cast<size_t>(axis)] % block == 0;
    return fits ? std::optional(scales) : std::nullopt;
  }
  for (Constant& param : scales.params) {
    if (param.element_count() == 1) {
      param = PerColumn(param, columns);
    } else if (axis != reading.column) {
      return std::nullopt;
    }
  }
  return scales;
}

}  // namespace aotc
