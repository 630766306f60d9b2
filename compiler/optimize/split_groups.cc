#include "compiler/optimize/split_groups.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/ir/graph_rebuild.h"
#include "compiler/ir/shape.h"
#include "compiler/ops/op.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr size_t kChannels = 1;  // their axis in operands and results

// ResNeXt has up to 64 groups, RegNet up to 55. In parts, a convolution of 32 groups takes between
// a quarter (2 channels each) and a twentieth (8 or more) of the time; joining the parts takes
// compile time that grows faster than their number.
constexpr int64_t kMostParts = 64;
constexpr int64_t kOutputsAtATime = 16;  // of tiles

struct GroupedConvolution {
  int64_t parts = 1;
  int64_t joined = 1;  // groups of a part
  int64_t inputs = 0;  // channels of one group
  int64_t outputs = 0;
  Constant weight = {};  // [groups * outputs, inputs, taps...]
  std::optional<Constant> bias = {};

  int64_t PartInputs() const { return joined * inputs; }
  int64_t PartOutputs() const { return joined * outputs; }
};

// As many as fill what tiles compute at a time.
int64_t JoinedGroups(int64_t groups, int64_t outputs) {
  int64_t joined = 1;
  for (int64_t count = 2; count <= groups && count * outputs <= kOutputsAtATime; ++count) {
    if (groups % count == 0) joined = count;
  }
  return joined;
}

std::optional<GroupedConvolution> GroupedOf(const Graph& graph, const Node& node,
                                            int64_t least_channels) {
  const bool is_integer = node.op == "ConvInteger";
  if ((node.op != "Conv" && !is_integer) || node.inputs.size() < 2) return std::nullopt;
  const int64_t groups = node.attributes.Int("group", 1);
  const std::optional<Constant>& weight = graph.values[node.inputs[1]].constant;
  if (groups < 2 || !weight) return std::nullopt;
  GroupedConvolution conv{.weight = weight->Expanded()};
  const std::vector<int64_t>& dims = conv.weight.dims();
  conv.inputs = dims[1];
  conv.outputs = dims[0] / groups;
  const bool has_tile = !is_integer || (groups >= least_channels && dims.back() > 1);
  if (conv.inputs == 1 && conv.outputs == 1 && has_tile) return std::nullopt;
  // A product with 0 is 0, of bytes.
  if (is_integer) conv.joined = JoinedGroups(groups, conv.outputs);
  conv.parts = groups / conv.joined;
  if (conv.parts > kMostParts) return std::nullopt;
  if (!HasInput(node, 2)) return conv;
  if (is_integer || !graph.values[node.inputs[2]].constant) return std::nullopt;
  conv.bias = graph.values[node.inputs[2]].constant->Expanded();
  return conv;
}

// Elements begin .. begin + count along an axis of a constant, in front of which all axes are 1.
Constant Rows(const Constant& constant, size_t axis, int64_t begin, int64_t count) {
  std::vector<int64_t> dims = constant.dims();
  const std::span<const uint8_t> bytes = constant.bytes();
  const size_t row = bytes.size() / static_cast<size_t>(dims[axis]);
  dims[axis] = count;
  const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(begin) * row);
  const auto last = first + static_cast<std::ptrdiff_t>(static_cast<size_t>(count) * row);
  return Constant::Dense(constant.dtype(), std::move(dims), {first, last});
}

// [joined * outputs, joined * inputs, taps...], zero where a group does not read.
Constant WeightsOf(const GroupedConvolution& conv, int64_t part) {
  const int64_t first = part * conv.PartOutputs();
  Constant own = Rows(conv.weight, 0, first, conv.PartOutputs());
  if (conv.joined == 1) return own;
  const std::span<const uint8_t> from = own.bytes();
  const size_t row = from.size() / static_cast<size_t>(conv.PartOutputs());
  std::vector<uint8_t> bytes(from.size() * static_cast<size_t>(conv.joined));
  for (int64_t output = 0; output < conv.PartOutputs(); ++output) {
    const auto at = static_cast<size_t>(output);
    const auto group = static_cast<size_t>(output / conv.outputs);
    const size_t to = (at * static_cast<size_t>(conv.joined) + group) * row;
    std::ranges::copy(from.subspan(at * row, row), bytes.begin() + static_cast<std::ptrdiff_t>(to));
  }
  std::vector<int64_t> dims = own.dims();
  dims[1] = conv.PartInputs();
  return Constant::Dense(own.dtype(), std::move(dims), std::move(bytes));
}

// The channels of the operand that a part reads.
ValueId EmitPart(Rebuilder& rebuilder, const Node& node, const GroupedConvolution& conv,
                 int64_t part) {
  Graph& graph = rebuilder.graph();
  const ValueId x = rebuilder.Mapped(node.inputs[0]);
  ValueType type = graph.values[x].type;
  type.dims[kChannels] = conv.PartInputs();
  const auto numbers = [&](int64_t value) {
    return graph.AddConstant("bound", Constant::Ints({value}));
  };
  const ValueId first = numbers(part * conv.PartInputs()),
                end = numbers((part + 1) * conv.PartInputs()), axis = numbers(kChannels);
  return rebuilder.Emit("Slice", {x, first, end, axis}, {}, std::move(type), node);
}

class GroupSplitter {
 public:
  GroupSplitter(const Graph& graph, int64_t least_channels) : graph_(graph) {
    for (const Node& node : graph.nodes) {
      if (auto conv = GroupedOf(graph, node, least_channels)) {
        if (!ComesInParts(node.inputs[0], *conv)) whole_.insert(node.inputs[0]);
        channels_[node.outputs[0]] = conv->PartOutputs();
        convolutions_.emplace(node.outputs[0], *std::move(conv));
      } else if (const int64_t channels = PartChannels(node)) {
        channels_[node.outputs[0]] = channels;
      } else {
        whole_.insert(node.inputs.begin(), node.inputs.end());
      }
    }
    for (const Region& region : graph.regions)
      whole_.insert(region.outputs.begin(), region.outputs.end());
  }

  absl::StatusOr<bool> Visit(Rebuilder& rebuilder, const Node& node) {
    if (node.outputs.empty() || !channels_.contains(node.outputs[0])) return false;
    const ValueId result = node.outputs[0];
    const auto conv = convolutions_.find(result);
    const int64_t count = graph_.values[result].type.dims[kChannels].AsInt().value_or(0);
    std::vector<ValueId>& parts = parts_[result];
    for (int64_t part = 0; part * channels_[result] < count; ++part) {
      parts.push_back(conv == convolutions_.end()
                          ? EmitElementwise(rebuilder, node, part)
                          : EmitConvolution(rebuilder, node, conv->second, part));
    }
    if (!whole_.contains(result)) return true;
    Attributes axis;
    axis.Set("axis", int64_t{kChannels});
    const ValueType& type = graph_.values[result].type;
    rebuilder.Replace(result, parts.size() == 1
                                  ? parts[0]
                                  : rebuilder.Emit("Concat", parts, std::move(axis), type, node));
    return true;
  }

 private:
  // Whether the parts of what a convolution reads are those that its own read.
  bool ComesInParts(ValueId x, const GroupedConvolution& conv) const {
    const auto found = channels_.find(x);
    return found != channels_.end() && found->second == conv.PartInputs();
  }

  // How an operand varies with the channels of a result that is computed element by element.
  enum class Operand : uint8_t { kParts, kConstant, kUniform, kOther };

  Operand KindOf(ValueId operand, const Shape& result) const {
    if (channels_.contains(operand)) {
      const bool is_whole = SameShape(graph_.values[operand].type.dims, result);
      return is_whole ? Operand::kParts : Operand::kOther;
    }
    const std::optional<Constant>& constant = graph_.values[operand].constant;
    if (!constant) return Operand::kOther;
    if (constant->element_count() == 1) return Operand::kUniform;
    const size_t rank = constant->dims().size(), behind = result.size() - kChannels;
    if (rank < behind || rank > behind + 1) return Operand::kOther;
    const bool is_image = rank == behind + 1 && constant->dims()[0] != 1;
    if (is_image || !result[kChannels].IsInt(constant->dims()[rank - behind]))
      return Operand::kOther;
    return Operand::kConstant;
  }

  // Channels of a part of what can be computed part by part; 0 for all other nodes.
  int64_t PartChannels(const Node& node) const {
    const bool rounds = node.op == "QuantizeLinear";
    if ((!HasTrait(node.op, kElementwise) && !rounds) || node.outputs.size() != 1) return 0;
    const Shape& result = graph_.values[node.outputs[0]].type.dims;
    if (result.size() <= kChannels) return 0;
    std::set<int64_t> channels;
    for (const ValueId operand : node.inputs) {
      if (!operand.valid()) continue;
      const Operand kind = KindOf(operand, result);
      if (kind == Operand::kOther || (rounds && kind == Operand::kConstant)) return 0;
      if (kind == Operand::kParts) channels.insert(channels_.at(operand));
    }
    return channels.size() == 1 ? *channels.begin() : 0;
  }

  ValueId EmitElementwise(Rebuilder& rebuilder, const Node& node, int64_t part) {
    ValueType type = graph_.values[node.outputs[0]].type;
    const int64_t count = channels_[node.outputs[0]];
    std::vector<ValueId> inputs;
    for (const ValueId operand : node.inputs) {
      const Operand kind = operand.valid() ? KindOf(operand, type.dims) : Operand::kUniform;
      if (kind == Operand::kParts) {
        inputs.push_back(parts_.at(operand)[static_cast<size_t>(part)]);
      } else if (kind == Operand::kConstant) {
        const Constant& constant = *graph_.values[operand].constant;
        const size_t axis = constant.dims().size() + kChannels - type.dims.size();
        inputs.push_back(
            rebuilder.graph().AddConstant(StrCat(graph_.values[operand].name, "_", part),
                                          Rows(constant.Expanded(), axis, part * count, count)));
      } else {
        inputs.push_back(rebuilder.Mapped(operand));
      }
    }
    type.dims[kChannels] = count;
    return rebuilder.Emit(node.op, std::move(inputs), node.attributes, std::move(type), node);
  }

  ValueId EmitConvolution(Rebuilder& rebuilder, const Node& node, const GroupedConvolution& conv,
                          int64_t part) {
    Graph& graph = rebuilder.graph();
    const ValueId whole = node.inputs[0];
    const ValueId x = ComesInParts(whole, conv) ? parts_.at(whole)[static_cast<size_t>(part)]
                      : conv.parts == 1         ? rebuilder.Mapped(whole)
                                                : EmitPart(rebuilder, node, conv, part);
    const std::string& name = graph_.values[node.outputs[0]].name;
    std::vector<ValueId> inputs = {
        x, graph.AddConstant(StrCat(name, "_weight_", part), WeightsOf(conv, part))};
    if (conv.bias) {
      const int64_t first = part * conv.PartOutputs();
      inputs.push_back(graph.AddConstant(StrCat(name, "_bias_", part),
                                         Rows(*conv.bias, 0, first, conv.PartOutputs())));
    }
    Attributes attributes = node.attributes;
    attributes.Erase("group");
    ValueType type = graph_.values[node.outputs[0]].type;
    type.dims[kChannels] = conv.PartOutputs();
    return rebuilder.Emit(node.op, std::move(inputs), std::move(attributes), std::move(type), node);
  }

  const Graph& graph_;
  // By their results in the old graph: convolutions, the channels of a part of those and of what is
  // computed of them, and the parts.
  std::map<ValueId, GroupedConvolution> convolutions_;
  std::map<ValueId, int64_t> channels_;
  std::map<ValueId, std::vector<ValueId>> parts_;
  std::set<ValueId> whole_;  // what others read
};

}  // namespace

absl::StatusOr<Graph> SplitGroups(const Graph& graph, int64_t least_channels) {
  GroupSplitter splitter(graph, least_channels);
  return RebuildGraph(graph, [&](Rebuilder& rebuilder, const Node& node) {
    return splitter.Visit(rebuilder, node);
  });
}

absl::StatusOr<Graph> SplitGroups(const Graph& graph, PassContext& context) {
  if (context.target().contracts.channel_block == 0) return graph;
  return SplitGroups(graph, context.Config(kLeastChannels));
}

}  // namespace aotc
