#include "compiler/layout/choose_layouts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compiler/ir/graph_rebuild.h"
#include "compiler/layout/layout_groups.h"
#include "compiler/layout/reads.h"
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

const Stage* ContractionOf(const Kernel& kernel) {
  for (const Stage& stage : kernel.stages) {
    if (IsContraction(stage)) return &stage;
  }
  return nullptr;
}

// Output columns on axis 1 and at least one axis behind them that slides over the input.
bool IsConvolution(const Graph& graph, const NodeKernel& node, const std::set<ValueId>& weights) {
  const Stage* stage = ContractionOf(node.kernel);
  if (stage == nullptr || stage->axes.size() < 3 || node.inputs.size() < 2) return false;
  const bool is_constant = graph.values[node.inputs[1]].constant.has_value();
  if (!is_constant && !weights.contains(node.inputs[1])) return false;
  const Expr weights_load = OperandLoad(stage->body[0].arg(1));
  return weights_load.valid() && IsOwnIndex(weights_load.arg(0), stage->axes[kChannelAxis]) &&
         !UsesVar(weights_load, stage->axes.back().name);
}

// Elements of the input of integer tiles that are read at a time.
constexpr int64_t kGroup = 4;

bool IsOfIntegers(const Kernel& kernel) {
  const Stage* stage = ContractionOf(kernel);
  return stage != nullptr && stage->body[0].dtype() == DType::kI32;
}

// The rows of a matrix product of bytes are read in groups, the last of which may not be whole.
int64_t RowsLack(const Graph& graph, const NodeKernel& node) {
  const Stage* stage = ContractionOf(node.kernel);
  if (stage == nullptr || stage->reduce_axes.size() != 1 || node.inputs.size() < 2) return 0;
  if (!graph.values[node.inputs[1]].constant) return 0;
  const Expr load = OperandLoad(stage->body[0].arg(0));
  const Axis& axis = stage->reduce_axes[0];
  if (!load.valid() || load->tensor != node.kernel.params[0] || load.args().empty()) return 0;
  const Expr& index = load.args().back();
  const int64_t extent = axis.extent.AsInt().value_or(0);
  return index.IsVar() && index->name == axis.name ? (kGroup - extent % kGroup) % kGroup : 0;
}

// Channels of bytes that lie together: as many as fit a cache line with the fewest lanes unused.
int64_t ByteBlock(int64_t channels) {
  int64_t best = 16;
  for (const int64_t block : {32, 48, 64}) {
    if (RoundUp(channels, block) <= RoundUp(channels, best)) best = block;
  }
  return best;
}

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
    // Nodes of regions stand before the node that has them: what they read has been seen.
    for (const Node& node : graph_.nodes) {
      NodeFacts facts;
      if (absl::StatusOr<NodeKernel> built = BuildNodeKernel(graph_, node); built.ok()) {
        facts.kernel = *std::move(built);
        facts.is_convolution = IsConvolution(graph_, *facts.kernel, weights_);
        if (OfConstants(*facts.kernel)) weights_.insert(node.outputs[0]);
        facts.is_winograd = ReadWinograd(facts.kernel->kernel).has_value();
        facts.is_integer = IsOfIntegers(facts.kernel->kernel);
        if (facts.is_integer && !facts.is_convolution)
          facts.rows_lack = RowsLack(graph_, *facts.kernel);
        ChooseOutput(facts);
      }
      facts_[&node] = std::move(facts);
    }
    for (const Node& node : graph_.nodes) WantHalo(facts_.at(&node));
    for (const Node& node : graph_.nodes) {
      ShareLayout(facts_.at(&node));
      ShareWithSlice(facts_.at(&node));
    }
    for (const auto& [value, need] : groups_.All()) needs_[value] = need;
  }

  // What a Concat joins can lie in its result where all of them have one layout.
  void ShareLayout(const NodeFacts& facts) {
    const std::optional<Join> join = facts.kernel ? ReadJoin(facts.kernel->kernel) : std::nullopt;
    if (!join) return;
    std::vector<ValueId> members = {facts.kernel->outputs[0]};
    for (const JoinPart& part : join->parts) {
      const auto param = std::ranges::find(facts.kernel->kernel.params, part.tensor);
      members.push_back(
          facts.kernel->inputs[static_cast<size_t>(param - facts.kernel->kernel.params.begin())]);
    }
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
    return BlockedLayout(static_cast<int>(graph_.values[id].type.dims.size()),
                         static_cast<int>(kChannelAxis), block);
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
    if (!CanBlock(output)) return;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const std::vector<StorageAxis>& axes = wanted_[node.inputs[i]].axes;
      if (axes.empty()) continue;
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
    if (layout.axes.empty() && CanBlock(input)) layout = Blocked(input, BlockOf(facts, input));
    Stage walked = *stage;
    if (facts.is_integer && layout.axes.empty()) {  // whole groups along the last axis
      Expr& extent = walked.reduce_axes.back().extent;
      extent = Simplify(CeilDiv(extent, kGroup) * kGroup);
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
  std::map<ValueId, LayoutNeed> needs_;  // of the convolutions that read a value
  std::set<ValueId> written_freely_;     // their kernels can write any layout
  LayoutGroups groups_;
};

}  // namespace

absl::StatusOr<Graph> ChooseLayouts(const Graph& graph, const LayoutOptions& options) {
  if (options.block == 0) return graph;
  AOTC_ASSIGN_OR_RETURN(const Graph sliced, SlicesOfSplits(graph, options.block));
  return LayoutChooser(sliced, options).Run();
}

absl::StatusOr<Graph> ChooseLayouts(const Graph& graph, PassContext& context) {
  const bool chosen = std::any_of(graph.values.begin(), graph.values.end(),
                                  [](const Value& value) { return !value.layout.IsPlain(); });
  if (chosen) return graph;
  return ChooseLayouts(graph, {.block = context.target().channel_block,
                               .least_channels = context.Config(kLeastChannels)});
}

}  // namespace aotc
