#include "compiler/layout/choose_layouts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <utility>

#include "compiler/ir/graph_rebuild.h"
#include "compiler/layout/channels_innermost.h"
#include "compiler/layout/interleaved_repeats.h"
#include "compiler/layout/layout_groups.h"
#include "compiler/layout/reads.h"
#include "compiler/layout/reshaped_convolutions.h"
#include "compiler/layout/rows_of_blocks.h"
#include "compiler/layout/slices_of_splits.h"
#include "compiler/ops/op.h"
#include "compiler/schedule/anchor.h"
#include "compiler/schedule/join.h"
#include "compiler/schedule/nest_form.h"
#include "compiler/schedule/stage_kinds.h"
#include "compiler/schedule/winograd.h"
#include "compiler/support/rounding.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// What the phase knows of one node.
struct NodeFacts {
  std::optional<NodeKernel> kernel;  // none where the op has no compute definition
  bool is_convolution = false;
  bool is_winograd = false;
  bool is_integer = false;  // it sums products of bytes
  int64_t rows_lack = 0;    // bytes that rows of a product are short of whole groups
};

// The kernel can write its output in any layout. The columns of a matrix product have to lie
// innermost, without a halo.
bool WritesAnyLayout(const NodeFacts& facts) {
  const NodeKernel& node = *facts.kernel;
  if (facts.is_winograd) return true;
  if (!facts.is_convolution && ContractionOf(node.kernel) != nullptr) return false;
  return node.outputs.size() == 1 && IsPointNest(node.kernel);
}

class LayoutChooser {
 public:
  LayoutChooser(const Graph& graph, const LayoutOptions& options)
      : graph_(graph), options_(options), uses_(UseCounts(graph)) {}

  absl::StatusOr<Graph> Run() {
    Analyze();
    return RebuildGraph(graph_, [&](Rebuilder& r, const Node& node) { return Rebuild(r, node); });
  }

 private:
  void Analyze() {
    wanted_ = IdVector<ValueId, Layout>(graph_.values.size());
    for (const Region& region : graph_.regions) {
      outputs_.insert(region.outputs.begin(), region.outputs.end());
    }
    ChannelsInnermost innermost(graph_, options_.block);
    for (const Node& node : graph_.nodes) {
      NodeFacts& facts = facts_[&node];
      absl::StatusOr<NodeKernel> built = BuildNodeKernel(graph_, node);
      if (!built.ok()) continue;
      facts.kernel = *std::move(built);
      innermost.Add(*facts.kernel);
    }
    innermost_ = innermost.Find();
    // Nodes of regions stand before the node that has them: what they read has been seen.
    for (const Node& node : graph_.nodes) {
      NodeFacts& facts = facts_.at(&node);
      if (facts.kernel) {
        facts.is_convolution = IsConvolution(graph_, *facts.kernel, weights_);
        if (OfConstants(*facts.kernel)) weights_.insert(node.outputs[0]);
        facts.is_winograd = ReadWinograd(facts.kernel->kernel).has_value();
        facts.is_integer = IsOfIntegers(facts.kernel->kernel);
        if (facts.is_integer && !facts.is_convolution)
          facts.rows_lack = RowsLack(graph_, *facts.kernel);
        ChooseOutput(facts);
      }
    }
    for (const Node& node : graph_.nodes) WantHalo(facts_.at(&node));
    for (const Node& node : graph_.nodes) {
      ShareLayout(facts_.at(&node));
      ShareWithSlice(facts_.at(&node));
    }
    // What a part asks for, the whole gives, and what that is a part of.
    constexpr int kMostAxes = 3;
    for (int round = 0; round < kMostAxes; ++round) {
      for (const Node& node : graph_.nodes | std::views::reverse) ShareInTurn(facts_.at(&node));
    }
    for (const auto& [value, need] : groups_.All()) needs_[value] = need;
  }

  // What a Concat joins can lie in its result where all of them have one layout.
  void ShareLayout(const NodeFacts& facts) {
    const std::optional<Join> join = facts.kernel ? ReadJoin(facts.kernel->kernel) : std::nullopt;
    if (!join || join->step > 1) return;
    const std::vector<ValueId> members = MembersOf(*facts.kernel, *join);
    LayoutNeed shared = NeedOf(members[0]);
    for (size_t i = 0; i < members.size(); ++i) {
      if (!written_freely_.contains(members[i])) return;
      LayoutNeed need = NeedOf(members[i]);
      // What only the Concat reads comes in any blocks that it begins with.
      const bool adopts = i > 0 && need.layout.IsPlain() && uses_[members[i]] == 1 &&
                          BeginsWithBlocks(shared.layout, join->parts, i - 1, join->axis);
      if (adopts) need.layout.axes = shared.layout.axes;
      if (!Widen(shared, need)) return;
    }
    if (!HasHaloAlong(shared.layout, join->axis)) groups_.Join(members, shared);
  }

  // The result of a join, and its parts.
  static std::vector<ValueId> MembersOf(const NodeKernel& node, const Join& join) {
    std::vector<ValueId> members = {node.outputs[0]};
    for (const JoinPart& part : join.parts) {
      const auto param = std::ranges::find(node.kernel.params, part.tensor);
      members.push_back(node.inputs[static_cast<size_t>(param - node.kernel.params.begin())]);
    }
    return members;
  }

  // Parts that step over one another can lie in their result where its halo is that of all of them
  // in turn. What a part only gives once more is written with it.
  void ShareInTurn(const NodeFacts& facts) {
    const std::optional<Join> join = facts.kernel ? ReadJoin(facts.kernel->kernel) : std::nullopt;
    if (!join || join->step == 1) return;
    std::vector<ValueId> members = MembersOf(*facts.kernel, *join);
    LayoutNeed whole = NeedOf(members[0]);
    LayoutNeed part = whole;
    part.layout.halo.resize(graph_.values[members[0]].type.dims.size());
    Halo& halo = part.layout.halo[join->axis];
    halo = {(halo.before + join->step - 1) / join->step,
            (halo.after + join->step - 1) / join->step};
    for (size_t i = 1, count = members.size(); i < count; ++i) {
      const ValueId source = RepeatedBy(members[i]);
      if (source.valid()) members.push_back(source);
    }
    for (size_t i = 1; i < members.size(); ++i) {
      if (!written_freely_.contains(members[i]) || !Widen(part, NeedOf(members[i]))) return;
    }
    if (!part.layout.HasHalo()) return;  // they have one layout already
    whole.layout.halo = part.layout.halo;
    Halo& around = whole.layout.halo[join->axis];
    around = {around.before * join->step, around.after * join->step};
    whole.layout.fill = part.layout.fill;
    groups_.Join({members[0]}, whole);
    members.erase(members.begin());
    groups_.Join(members, part);
  }

  // What the value is, element by element; invalid where it is no such copy.
  ValueId RepeatedBy(ValueId value) const {
    for (const Node& node : graph_.nodes) {
      if (node.outputs.empty() || node.outputs[0] != value) continue;
      const NodeFacts& facts = facts_.at(&node);
      const std::optional<Repeats> repeats =
          facts.kernel ? ReadRepeats(facts.kernel->kernel) : std::nullopt;
      const bool once = repeats && std::ranges::all_of(*repeats, [](int64_t n) { return n == 1; });
      return once ? facts.kernel->inputs[0] : ValueId();
    }
    return {};
  }

  static bool HasHaloAlong(const Layout& layout, size_t axis) {
    return axis < layout.halo.size() && layout.halo[axis] != Halo{};
  }

  // Part `index` and the one behind it do.
  static bool BeginsWithBlocks(const Layout& layout, const std::vector<JoinPart>& parts,
                               size_t index, size_t axis) {
    if (layout.axes.empty() || axis != kChannelAxis) return false;
    const int64_t block = layout.axes.back().modulus;
    const bool is_last = index + 1 == parts.size();
    return block > 0 && ProveDivisible(parts[index].start, block) &&
           (is_last || ProveDivisible(parts[index + 1].start, block));
  }

  // A slice can lie in what it is a slice of likewise.
  void ShareWithSlice(const NodeFacts& facts) {
    const std::optional<JoinCut> cut = facts.kernel ? ReadCut(facts.kernel->kernel) : std::nullopt;
    if (!cut) return;
    const ValueId whole = facts.kernel->inputs[0], slice = facts.kernel->outputs[0];
    LayoutNeed shared = NeedOf(whole);
    const bool blocked = !shared.layout.IsRowMajor() && written_freely_.contains(whole);
    if (!blocked || !Widen(shared, NeedOf(slice)) || HasHaloAlong(shared.layout, cut->axis)) return;
    groups_.Join({whole, slice}, shared);
  }

  // As the value would be written.
  LayoutNeed NeedOf(ValueId value) const {
    if (const LayoutNeed* shared = groups_.Find(value)) return *shared;
    const auto need = needs_.find(value);
    if (need != needs_.end()) return need->second;
    return {.layout = wanted_[value]};
  }

  // What its readers compute when they read it: dequantised weights.
  bool OfConstants(const NodeKernel& node) const {
    const auto is_constant = [&](ValueId input) {
      return graph_.values[input].constant.has_value();
    };
    return !node.inputs.empty() && std::ranges::all_of(node.inputs, is_constant);
  }

  bool CanBlock(ValueId id) const {
    const Shape& dims = graph_.values[id].type.dims;
    return dims.size() >= 3 && dims[kChannelAxis].AsInt().value_or(0) >= options_.least_channels;
  }

  Layout Blocked(ValueId id, int64_t block) const {
    const size_t rank = graph_.values[id].type.dims.size();
    if (innermost_.contains(id)) return InnermostChannels(rank);
    return BlockedLayout(static_cast<int>(rank), static_cast<int>(kChannelAxis), block);
  }

  // The block of what a convolution makes or reads.
  int64_t BlockOf(const NodeFacts& facts, ValueId id) const {
    const std::optional<int64_t> channels = graph_.values[id].type.dims[kChannelAxis].AsInt();
    return facts.is_integer && channels ? ByteBlock(*channels) : options_.block;
  }

  // Blocks where a convolution makes the value, or where the op passes on the blocks of an input.
  void ChooseOutput(const NodeFacts& facts) {
    const NodeKernel& node = *facts.kernel;
    if (!WritesAnyLayout(facts)) return;
    const ValueId output = node.outputs[0];
    written_freely_.insert(output);
    if (facts.is_convolution || facts.is_winograd) {
      wanted_[output] = Blocked(output, BlockOf(facts, output));
      return;
    }
    if (innermost_.contains(output)) wanted_[output] = Blocked(output, 1);
    if (innermost_.contains(output) || !CanBlock(output)) return;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const std::vector<StorageAxis>& axes = wanted_[node.inputs[i]].axes;
      if (axes.empty() || axes.back().modulus == 0) continue;
      const int64_t block = axes.back().modulus;
      if (!KeepsChannels(node.kernel, node.kernel.params[i], block)) {
        wanted_[output] = {};
        return;
      }
      if (wanted_[output].axes.empty()) wanted_[output] = Blocked(output, block);
    }
  }

  // The convolution's input gets the halo that its taps reach into.
  void WantHalo(const NodeFacts& facts) {
    if (facts.rows_lack > 0) WantWholeRows(facts);
    if (facts.is_winograd) WantBlocks(facts);
    if (!facts.is_convolution) return;
    const Stage* stage = ContractionOf(facts.kernel->kernel);
    const Expr load = OperandLoad(stage->body[0].arg(0));
    const ValueId input = facts.kernel->inputs[0];
    Layout layout = wanted_[input];
    if (layout.axes.empty() && (CanBlock(input) || innermost_.contains(input)))
      layout = Blocked(input, BlockOf(facts, input));
    Stage walked = *stage;
    if (facts.is_integer && layout.axes.empty()) {  // whole groups along the last axis
      Expr& extent = walked.reduce_axes.back().extent;
      extent = Simplify(CeilDiv(extent, kIntegerGroup) * kIntegerGroup);
    }
    const std::optional<std::vector<Halo>> reach = ReachOf(facts.kernel->kernel, walked, load);
    if (!reach) return;
    LayoutNeed& need = needs_[input];
    if (need.layout.axes.empty() && !need.layout.HasHalo()) need.layout.axes = layout.axes;
    const bool any =
        std::any_of(reach->begin(), reach->end(), [](const Halo& h) { return h != Halo{}; });
    const std::optional<double> fill = FillOf(*stage);
    // Of several fills the value has the first: who wants another has no tile.
    if (!any || (fill && need.fill && *fill != *need.fill)) return;
    if (fill) need.fill = fill;
    if (need.layout.halo.empty()) need.layout.halo.resize(reach->size());
    need.layout.fill = need.fill.value_or(0);
    for (size_t i = 0; i < reach->size(); ++i) {
      need.layout.halo[i].before = std::max(need.layout.halo[i].before, (*reach)[i].before);
      need.layout.halo[i].after = std::max(need.layout.halo[i].after, (*reach)[i].after);
    }
  }

  // Patches over the border get their zeros when they are transformed.
  void WantBlocks(const NodeFacts& facts) {
    const ValueId input = facts.kernel->inputs[0];
    LayoutNeed& need = needs_[input];
    if (need.layout.axes.empty() && !need.layout.HasHalo())
      need.layout.axes = Blocked(input, options_.block).axes;
  }

  // Rows as long as whole groups; what lies behind their end is multiplied by zeros.
  void WantWholeRows(const NodeFacts& facts) {
    const ValueId input = facts.kernel->inputs[0];
    LayoutNeed& need = needs_[input];
    if (!need.layout.axes.empty()) return;
    if (need.layout.halo.empty()) need.layout.halo.resize(graph_.values[input].type.dims.size());
    int64_t& after = need.layout.halo.back().after;
    after = std::max(after, facts.rows_lack);
  }

  // The layout in which the producer writes a value.
  Layout Produced(ValueId id, const NodeFacts& facts) const {
    if (!facts.kernel || !WritesAnyLayout(facts)) return {};
    auto need = needs_.find(id);
    // Blocks come from the producer; the halo is welcome in any case.
    return need == needs_.end() ? wanted_[id] : need->second.layout;
  }

  absl::StatusOr<bool> Rebuild(Rebuilder& r, const Node& node) {
    AOTC_RETURN_IF_ERROR(PrepareInput(r, node));
    if (!node.regions.empty()) PrepareOperands(r, node);
    AOTC_RETURN_IF_ERROR(r.Copy(node));
    for (ValueId output : node.outputs) {
      if (!output.valid() || uses_[output] == 0) continue;
      const ValueId now = r.Mapped(output);
      r.graph().values[now].layout = Produced(output, FactsOf(node));
      if (outputs_.contains(output)) KeepOutput(r, node, output, now);
    }
    return true;
  }

  // An output of the graph or a region is row-major under its own name; nodes may read it in
  // another layout.
  void KeepOutput(Rebuilder& r, const Node& node, ValueId output, ValueId now) {
    ValueId outer = now;
    if (!r.graph().values[now].layout.IsPlain()) {
      outer = r.Emit("Relayout", {now}, {}, r.graph().values[now].type, node);
      std::swap(r.graph().values[now].name, r.graph().values[outer].name);
    }
    r.ReplaceAsOutput(output, outer);
  }

  // What a loop carries is row-major.
  void PrepareOperands(Rebuilder& r, const Node& node) {
    for (ValueId input : node.inputs) {
      if (!input.valid()) continue;
      const ValueId now = r.Mapped(input);
      if (r.graph().values[now].layout.IsPlain()) continue;
      r.Replace(input, r.Emit("Relayout", {now}, {}, r.graph().values[now].type, node));
    }
  }

  const NodeFacts& FactsOf(const Node& node) const { return facts_.at(&node); }

  // A convolution whose input is not laid out as it wants reads a relaid copy.
  absl::Status PrepareInput(Rebuilder& r, const Node& node) {
    const NodeFacts& facts = FactsOf(node);
    const bool wants = facts.is_convolution || facts.is_winograd || facts.rows_lack > 0;
    if (!wants) return absl::OkStatus();
    const ValueId input = facts.kernel->inputs[0];
    auto need = needs_.find(input);
    if (need == needs_.end()) return absl::OkStatus();
    const ValueId now = r.Mapped(input);
    if (r.graph().values[now].layout == need->second.layout) return absl::OkStatus();
    const ValueType type = r.graph().values[now].type;
    const ValueId copy = r.Emit("Relayout", {now}, {}, type, node);
    r.graph().values[copy].layout = need->second.layout;
    r.Replace(input, copy);
    return absl::OkStatus();
  }

  const Graph& graph_;
  const LayoutOptions& options_;
  const IdVector<ValueId, int> uses_;
  IdVector<ValueId, Layout> wanted_;
  std::map<const Node*, NodeFacts> facts_;
  std::set<ValueId> outputs_;            // of all regions
  std::set<ValueId> weights_;            // that nodes make of constants
  std::set<ValueId> innermost_;          // channels of these are
  std::map<ValueId, LayoutNeed> needs_;  // of the convolutions that read a value
  std::set<ValueId> written_freely_;     // their kernels can write any layout
  LayoutGroups groups_;
};

}  // namespace

absl::StatusOr<Graph> ChooseLayouts(const Graph& graph, const LayoutOptions& options) {
  const int64_t block = std::max<int64_t>(options.block, 1);  // parts may begin anywhere else
  AOTC_ASSIGN_OR_RETURN(const Graph sliced, SlicesOfSplits(graph, block));
  AOTC_ASSIGN_OR_RETURN(const Graph repeated, InterleavedRepeats(sliced, block));
  AOTC_ASSIGN_OR_RETURN(Graph reshaped, ReshapedConvolutions(repeated));
  if (options.block == 0) return reshaped;
  AOTC_ASSIGN_OR_RETURN(const Graph laid_out, LayoutChooser(reshaped, options).Run());
  return RowsOfBlocks(laid_out);
}

absl::StatusOr<Graph> ChooseLayouts(const Graph& graph, PassContext& context) {
  const bool chosen = std::any_of(graph.values.begin(), graph.values.end(),
                                  [](const Value& value) { return !value.layout.IsPlain(); });
  if (chosen) return graph;
  return ChooseLayouts(graph, {.block = context.target().channel_block,
                               .least_channels = context.Config(kLeastChannels)});
}

}  // namespace aotc
