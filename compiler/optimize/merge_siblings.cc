#include "compiler/optimize/merge_siblings.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/ir/graph_rebuild.h"
#include "compiler/ops/op.h"
#include "compiler/optimize/channel_affine.h"
#include "compiler/optimize/siblings.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Constants of equal dims but for `axis`, one after the other along it.
Constant JoinConstants(const std::vector<Constant>& parts, int axis) {
  std::vector<int64_t> dims = parts[0].dims();
  int64_t outer = 1;
  for (int d = 0; d < axis; ++d) outer *= dims[static_cast<size_t>(d)];
  int64_t& joined = dims[static_cast<size_t>(axis)];
  joined = 0;
  std::vector<Constant> dense;
  for (const Constant& part : parts) {
    joined += part.dims()[static_cast<size_t>(axis)];
    dense.push_back(part.Expanded());
  }
  std::vector<uint8_t> bytes;
  for (int64_t i = 0; i < outer; ++i) {
    for (const Constant& part : dense) {
      const size_t chunk = part.bytes().size() / static_cast<size_t>(outer);
      auto begin = part.bytes().begin() + static_cast<int64_t>(chunk) * i;
      bytes.insert(bytes.end(), begin, begin + static_cast<int64_t>(chunk));
    }
  }
  return Constant::Dense(parts[0].dtype(), std::move(dims), std::move(bytes));
}

class Merger {
 public:
  Merger(const Graph& graph, PassContext& context)
      : old_(graph),
        plain_images_(context.target().contracts.channel_block == 0),
        always_(context.Config(kMergeCopiedParts) != 0),
        uses_(UseCounts(graph)),
        reader_(graph.values.size()) {
    for (NodeId id : graph.nodes.ids()) {
      for (ValueId input : graph.nodes[id].inputs) {
        if (input.valid()) reader_[input] = id;
        if (graph.nodes[id].op == "Concat") joined_.insert(input);
      }
    }
  }

  absl::StatusOr<Graph> Run();

 private:
  const Node& NodeOf(const SiblingGroup& group, size_t branch, size_t level) const {
    return old_.nodes[group.branches[branch].nodes[level]];
  }
  ValueId ResultOf(const SiblingBranch& branch) const {
    return old_.nodes[branch.nodes.back()].outputs[0];
  }
  void LeaveJoined(SiblingGroup& group) const;
  bool Pays(const SiblingGroup& group) const;
  bool AreContiguous(const SiblingGroup& group) const;
  bool IsReadElementwise(ValueId value) const;
  bool IsReadByProduct(ValueId value) const;
  void Emit(Rebuilder& rebuilder, const SiblingGroup& group) const;
  ValueId EmitLevel(Rebuilder& rebuilder, const SiblingGroup& group, size_t level,
                    ValueId chain) const;
  ValueId JoinedInput(Rebuilder& rebuilder, const SiblingGroup& group, size_t level,
                      size_t input) const;
  std::vector<Constant> VectorsOf(const SiblingGroup& group, size_t level, size_t input) const;
  ValueType JoinedType(const SiblingGroup& group) const;

  const Graph& old_;
  const bool plain_images_;  // row-major images, of which channels can be views
  const bool always_;
  const IdVector<ValueId, int> uses_;
  IdVector<ValueId, NodeId> reader_;  // the last one
  std::set<ValueId> joined_;          // operands of a Concat
};

ValueType Merger::JoinedType(const SiblingGroup& group) const {
  ValueType type = old_.values[ResultOf(group.branches[0])].type;
  int64_t channels = 0;
  for (const SiblingBranch& branch : group.branches) channels += branch.channels;
  type.dims[static_cast<size_t>(group.output_axis)] = channels;
  return type;
}

// Nothing varies before the channels, and parts begin where kernels want buffers to begin.
bool Merger::AreContiguous(const SiblingGroup& group) const {
  constexpr int64_t kAlignBytes = 64;
  if (NodeOf(group, 0, 0).op == "Conv" && !plain_images_) return false;
  const ValueType& type = old_.values[ResultOf(group.branches[0])].type;
  const auto axis = type.dims.begin() + group.output_axis;
  const bool one_row =
      std::all_of(type.dims.begin(), axis, [](const Expr& d) { return d.IsInt(1); });
  const std::optional<int64_t> inner = ElementCount(Shape(axis + 1, type.dims.end())).AsInt();
  if (!one_row || !inner) return false;
  const std::set<ValueId> outputs(old_.regions[group.region].outputs.begin(),
                                  old_.regions[group.region].outputs.end());
  return std::ranges::all_of(group.branches, [&](const SiblingBranch& branch) {
    return branch.channels * *inner * ByteWidth(type.dtype) % kAlignBytes == 0 &&
           !outputs.contains(ResultOf(branch));
  });
}

bool Merger::IsReadElementwise(ValueId value) const {
  if (uses_[value] != 1) return false;
  const NodeId reader = reader_[value];
  return reader.valid() && HasTrait(old_.nodes[reader].op, kElementwise);
}

// Only moved, then multiplied with another activation, as queries, keys and values are: products
// read the parts where they lie.
bool Merger::IsReadByProduct(ValueId value) const {
  if (uses_[value] != 1 || !reader_[value].valid()) return false;
  const Node& reader = old_.nodes[reader_[value]];
  if (reader.op == "Reshape" || reader.op == "Transpose") return IsReadByProduct(reader.outputs[0]);
  return reader.op == "MatMul" && std::ranges::none_of(reader.inputs, [&](ValueId input) {
           return old_.values[input].constant.has_value();
         });
}

// A kernel less for each branch but one, unless an op that would have been computed with the branch
// needs one of its own now.
bool Merger::Pays(const SiblingGroup& group) const {
  if (always_) return true;
  const bool by_products = std::ranges::all_of(group.branches, [&](const SiblingBranch& branch) {
    return IsReadByProduct(ResultOf(branch));
  });
  if (by_products && NodeOf(group, 0, 0).op != "Conv") return true;
  if (!AreContiguous(group)) return false;
  const auto lost = std::ranges::count_if(group.branches, [&](const SiblingBranch& branch) {
    return IsReadElementwise(ResultOf(branch));
  });
  return static_cast<size_t>(lost) + 1 < group.branches.size();
}

// Alone a part lies where the Concat wants it; beside its siblings it would be copied there.
void Merger::LeaveJoined(SiblingGroup& group) const {
  if (always_) return;
  std::erase_if(group.branches,
                [&](const SiblingBranch& branch) { return joined_.contains(ResultOf(branch)); });
}

// A constant per channel of each branch, as vectors.
std::vector<Constant> Merger::VectorsOf(const SiblingGroup& group, size_t level,
                                        size_t input) const {
  const auto rank = static_cast<int>(JoinedType(group).dims.size());
  std::vector<Constant> vectors;
  for (size_t i = 0; i < group.branches.size(); ++i) {
    const Node& node = NodeOf(group, i, level);
    const Constant& constant = *old_.values[node.inputs[input]].constant;
    const bool rank_one = node.op == "Conv";
    std::optional<std::vector<double>> vector =
        ChannelVector(constant, rank_one ? 1 : rank, rank_one ? 0 : group.output_axis,
                      group.branches[i].channels);
    AOTC_CHECK(vector.has_value());
    vectors.push_back(VectorConstant(constant.dtype(), *vector));
  }
  return vectors;
}

ValueId Merger::JoinedInput(Rebuilder& rebuilder, const SiblingGroup& group, size_t level,
                            size_t input) const {
  const std::string name =
      StrCat(old_.values[NodeOf(group, 0, level).inputs[input]].name, "_joined");
  if (level == 0 && input == 1) {
    std::vector<Constant> weights;
    for (size_t i = 0; i < group.branches.size(); ++i) {
      weights.push_back(*old_.values[NodeOf(group, i, 0).inputs[1]].constant);
    }
    return rebuilder.graph().AddConstant(name, JoinConstants(weights, group.weight_axis));
  }
  Constant vector = JoinConstants(VectorsOf(group, level, input), 0);
  if (level > 0) {  // along the axis of the channels: ones for the axes behind
    std::vector<int64_t> dims = vector.dims();
    dims.resize(JoinedType(group).dims.size() - static_cast<size_t>(group.output_axis), 1);
    vector = vector.Reshaped(dims);
  }
  return rebuilder.graph().AddConstant(name, std::move(vector));
}

// All branches' nodes of one level as one.
ValueId Merger::EmitLevel(Rebuilder& rebuilder, const SiblingGroup& group, size_t level,
                          ValueId chain) const {
  Node merged = NodeOf(group, 0, level);
  merged.locations.clear();
  for (size_t i = 0; i < group.branches.size(); ++i) {
    const std::vector<Location>& own = NodeOf(group, i, level).locations;
    merged.locations.insert(merged.locations.end(), own.begin(), own.end());
  }
  std::vector<ValueId> inputs = {chain};
  if (level == 0) {
    for (size_t i = 1; i < merged.inputs.size() && merged.inputs[i].valid(); ++i) {
      inputs.push_back(JoinedInput(rebuilder, group, level, i));
    }
  } else if (merged.inputs.size() == 2) {
    const ValueId before = NodeOf(group, 0, level - 1).outputs[0];
    const size_t vector = merged.inputs[0] == before ? 1 : 0;
    inputs.insert(inputs.begin() + static_cast<int64_t>(vector),
                  JoinedInput(rebuilder, group, level, vector));
  }
  return rebuilder.Emit(merged.op, inputs, merged.attributes, JoinedType(group), merged);
}

void Merger::Emit(Rebuilder& rebuilder, const SiblingGroup& group) const {
  ValueId chain = rebuilder.Mapped(NodeOf(group, 0, 0).inputs[0]);
  for (size_t level = 0; level < group.branches[0].nodes.size(); ++level) {
    chain = EmitLevel(rebuilder, group, level, chain);
  }
  Graph& graph = rebuilder.graph();
  graph.Rename(chain, StrCat(graph.values[chain].name, "_joined"));
  int64_t begin = 0;
  for (const SiblingBranch& branch : group.branches) {
    const ValueId result = ResultOf(branch);
    const std::string& name = old_.values[result].name;
    auto number = [&](const char* suffix, int64_t value) {
      return graph.AddConstant(StrCat(name, suffix), Constant::Ints({value}));
    };
    const std::vector<ValueId> inputs = {chain, number("_start", begin),
                                         number("_end", begin + branch.channels),
                                         number("_axis", group.output_axis)};
    const Node& origin = old_.nodes[branch.nodes.back()];
    rebuilder.Replace(result,
                      rebuilder.Emit("Slice", inputs, {}, old_.values[result].type, origin));
    begin += branch.channels;
  }
}

absl::StatusOr<Graph> Merger::Run() {
  std::vector<SiblingGroup> groups = FindSiblings(old_);
  std::map<ValueId, const SiblingGroup*> first;  // by the result of its first node
  std::set<ValueId> merged;                      // results of all nodes that go
  for (SiblingGroup& group : groups) {
    LeaveJoined(group);
    if (group.branches.size() < 2 || !Pays(group)) continue;
    first[NodeOf(group, 0, 0).outputs[0]] = &group;
    for (const SiblingBranch& branch : group.branches) {
      for (NodeId id : branch.nodes) merged.insert(old_.nodes[id].outputs[0]);
    }
  }
  return RebuildGraph(old_, [&](Rebuilder& rebuilder, const Node& node) -> absl::StatusOr<bool> {
    if (node.outputs.empty() || !merged.contains(node.outputs[0])) return false;
    auto group = first.find(node.outputs[0]);
    if (group != first.end()) Emit(rebuilder, *group->second);
    return true;
  });
}

}  // namespace

absl::StatusOr<Graph> MergeSiblings(const Graph& graph, PassContext& context) {
  return Merger(graph, context).Run();
}

}  // namespace aotc
