#include "compiler/optimize/reshaped_convolutions.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/ir/graph_rebuild.h"
#include "compiler/ops/emit.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr size_t kSpatial = 2;  // axes in front of the pixels: batch and channels

bool AreAll(const Node& node, std::string_view attribute, int64_t value) {
  const std::vector<int64_t> values = node.attributes.Ints(attribute);
  return std::ranges::all_of(values, [&](int64_t v) { return v == value; });
}

class Reshaper {
 public:
  explicit Reshaper(const Graph& graph) : graph_(graph), uses_(UseCounts(graph)) {
    std::map<ValueId, const Node*> convolutions;
    for (const Node& node : graph.nodes) {
      if (IsOfPixels(node)) convolutions[node.outputs[0]] = &node;
      if (node.op != "Reshape" || uses_[node.inputs[0]] != 1) continue;
      const auto found = convolutions.find(node.inputs[0]);
      if (found != convolutions.end() && KeepsChannels(node)) {
        reshapes_.emplace(found->second->outputs[0], &node);
        passed_.insert(node.outputs[0]);
      }
    }
  }

  absl::StatusOr<bool> Rebuild(Rebuilder& rebuilder, const Node& node) const {
    if (node.outputs.empty() || !node.outputs[0].valid()) return false;
    if (passed_.contains(node.outputs[0])) {
      rebuilder.Replace(node.outputs[0], rebuilder.Mapped(node.inputs[0]));
      return true;
    }
    const auto reshape = reshapes_.find(node.outputs[0]);
    if (reshape == reshapes_.end()) return false;
    rebuilder.Replace(node.outputs[0], Reshaped(rebuilder, node, *reshape->second));
    return true;
  }

 private:
  // Of constant weights with one tap, at every pixel.
  bool IsOfPixels(const Node& node) const {
    if (node.op != "Conv" || node.inputs.size() < 2) return false;
    const std::optional<Constant>& weight = graph_.values[node.inputs[1]].constant;
    if (!weight) return false;
    const std::vector<int64_t>& dims = weight->dims();
    return std::all_of(dims.begin() + kSpatial, dims.end(), [](int64_t d) { return d == 1; }) &&
           AreAll(node, "strides", 1) && AreAll(node, "pads", 0);
  }

  bool KeepsChannels(const Node& reshape) const {
    const Shape& from = graph_.values[reshape.inputs[0]].type.dims;
    const Shape& to = graph_.values[reshape.outputs[0]].type.dims;
    return to.size() > kSpatial && ProveEqual(from[0], to[0]) && ProveEqual(from[1], to[1]);
  }

  ValueId Reshaped(Rebuilder& rebuilder, const Node& node, const Node& reshape) const {
    const Value& from = graph_.values[node.inputs[0]];
    const ValueType& type = graph_.values[reshape.outputs[0]].type;
    ValueType pixels = from.type;
    pixels.dims.resize(kSpatial);
    pixels.dims.insert(pixels.dims.end(), type.dims.begin() + kSpatial, type.dims.end());
    const ValueId shape = EmitDims(rebuilder, pixels.dims, reshape);
    const ValueId x =
        rebuilder.Emit("Reshape", {rebuilder.Mapped(node.inputs[0]), shape}, {}, pixels, reshape);
    Graph& graph = rebuilder.graph();
    const Constant weight = graph_.values[node.inputs[1]].constant->Expanded();
    std::vector<int64_t> dims(type.dims.size(), 1);
    dims[0] = weight.dims()[0];
    dims[1] = weight.dims()[1];
    const std::vector<uint8_t> bytes(weight.bytes().begin(), weight.bytes().end());
    std::vector<ValueId> inputs = {
        x, graph.AddConstant(graph_.values[node.inputs[1]].name,
                             Constant::Dense(weight.dtype(), std::move(dims), bytes))};
    for (size_t i = 2; i < node.inputs.size(); ++i)
      inputs.push_back(rebuilder.Mapped(node.inputs[i]));
    Attributes attributes;
    if (const int64_t groups = node.attributes.Int("group", 1); groups > 1)
      attributes.Set("group", groups);
    return rebuilder.Emit("Conv", std::move(inputs), std::move(attributes), type, node);
  }

  const Graph& graph_;
  const IdVector<ValueId, int> uses_;
  std::map<ValueId, const Node*> reshapes_;  // by the result of the convolution
  std::set<ValueId> passed_;                 // results of those
};

}  // namespace

absl::StatusOr<Graph> ReshapedConvolutions(const Graph& graph, PassContext&) {
  const Reshaper reshaper(graph);
  return RebuildGraph(graph, [&](Rebuilder& rebuilder, const Node& node) {
    return reshaper.Rebuild(rebuilder, node);
  });
}

}  // namespace aotc
