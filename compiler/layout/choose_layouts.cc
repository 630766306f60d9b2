#include "compiler/layout/choose_layouts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <utility>

#include "compiler/ir/graph_rebuild.h"
#include "compiler/layout/choose_contracts.h"
#include "compiler/layout/dense_taps.h"
#include "compiler/layout/interleaved_repeats.h"
#include "compiler/layout/layout_groups.h"
#include "compiler/layout/node_facts.h"
#include "compiler/layout/reads.h"
#include "compiler/layout/rows_of_blocks.h"
#include "compiler/layout/winograd.h"
#include "compiler/ops/emit.h"
#include "compiler/ops/op.h"
#include "compiler/schedule/anchor.h"
#include "compiler/schedule/join.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

// Lays values out in the chosen forms: halos, what lies in other values, the copies that remain.
class LayoutChooser {
 public:
  LayoutChooser(const Graph& graph, const ContractOptions& options)
      : graph_(graph),
        uses_(UseCounts(graph)),
        facts_(graph),
        choice_(ChooseContracts(graph, facts_, options)) {}

  absl::StatusOr<Graph> Run() {
    Analyze();
    return RebuildGraph(graph_, [&](Rebuilder& r, const Node& node) { return Rebuild(r, node); });
  }

 private:
  void Analyze() {
    for (const Region& region : graph_.regions) {
      outputs_.insert(region.outputs.begin(), region.outputs.end());
    }
    for (const Node& node : graph_.nodes) {
      const NodeFacts& facts = facts_.Of(node);
      if (facts.WritesAnyLayout()) written_freely_.insert(node.outputs[0]);
      WantOperand(node, facts);
    }
    for (const Node& node : graph_.nodes) {
      ShareLayout(facts_.Of(node));
      ShareWithSlice(facts_.Of(node));
    }
    // What a part asks for, the whole gives, and what that is a part of.
    constexpr int kMostAxes = 3;
    for (int round = 0; round < kMostAxes; ++round) {
      for (const Node& node : graph_.nodes | std::views::reverse) ShareInTurn(facts_.Of(node));
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
      const NodeFacts& facts = facts_.Of(node);
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
    return {.layout = Wanted(value)};
  }

  // In the form that was chosen.
  Layout Wanted(ValueId value) const {
    return LayoutOf(choice_.forms[value], graph_.values[value].type.dims.size());
  }

  // Null where the node has none, or reads its operands as they come.
  const Contract* ContractOf(const Node& node) const {
    const auto found = choice_.contracts.find(&node);
    return found == choice_.contracts.end() ? nullptr : &found->second;
  }

  // How the node's contract wants its operand. Its own readers agree on the widest halo.
  LayoutNeed& NeedFor(const Node& node, const Contract& contract) {
    const ValueId input = facts_.Of(node).kernel->inputs[0];
    const bool as_written = contract.operand == choice_.forms[input];
    LayoutNeed& need = as_written ? needs_[input] : copies_[{input, contract.operand}];
    const size_t rank = graph_.values[input].type.dims.size();
    need.layout.axes = LayoutOf(contract.operand, rank).axes;
    return need;
  }

  // A convolution's operand gets the halo that its taps reach into. Patches over the border get
  // their zeros when they are transformed.
  void WantOperand(const Node& node, const NodeFacts& facts) {
    const Contract* contract = ContractOf(node);
    if (contract == nullptr) return;
    if (facts.rows_lack > 0) WantWholeRows(facts);
    if (contract->algorithm == Algorithm::kWinograd) NeedFor(node, *contract);
    if (!facts.IsConvolution() || contract->algorithm == Algorithm::kWinograd) return;
    const Stage* stage = ContractionOf(facts.kernel->kernel);
    Expr load = OperandLoad(stage->body[0].arg(0));
    Stage walked = *stage;
    if (facts.anchor->is_integer && contract->operand.IsRows()) {  // whole groups along the last
      Axis& last = walked.reduce_axes.back();
      if (last.extent.IsInt(1)) load = WithStepAlongLast(load, last.name);
      last.extent = Simplify(CeilDiv(last.extent, kIntegerGroup) * kIntegerGroup);
    }
    const std::optional<std::vector<Halo>> reach = ReachOf(facts.kernel->kernel, walked, load);
    if (reach) WantHalo(NeedFor(node, *contract), *reach, FillOf(*stage));
  }

  // The index of an axis of one element is 0: groups walk on all the same.
  static Expr WithStepAlongLast(const Expr& load, const std::string& step) {
    std::vector<Expr> indices = load.args();
    indices.back() = indices.back() + Var(step);
    return Load(load->tensor, std::move(indices), load.dtype());
  }

  static void WantHalo(LayoutNeed& need, const std::vector<Halo>& reach,
                       const std::optional<double>& fill) {
    const bool any = std::ranges::any_of(reach, [](const Halo& h) { return h != Halo{}; });
    // Of several fills the value has the first: who wants another has no tile.
    if (!any || (fill && need.fill && *fill != *need.fill)) return;
    if (fill) need.fill = fill;
    if (need.layout.halo.empty()) need.layout.halo.resize(reach.size());
    need.layout.fill = need.fill.value_or(0);
    for (size_t i = 0; i < reach.size(); ++i) {
      need.layout.halo[i].before = std::max(need.layout.halo[i].before, reach[i].before);
      need.layout.halo[i].after = std::max(need.layout.halo[i].after, reach[i].after);
    }
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
  Layout Produced(ValueId id) const {
    if (!written_freely_.contains(id)) return {};
    auto need = needs_.find(id);
    // The form is the producer's; the halo is welcome in any case.
    return need == needs_.end() ? Wanted(id) : need->second.layout;
  }

  absl::StatusOr<bool> Rebuild(Rebuilder& r, const Node& node) {
    PrepareInput(r, node);
    if (!node.regions.empty()) PrepareOperands(r, node);
    const Contract* contract = ContractOf(node);
    if (contract != nullptr && contract->m > 0 && facts_.Of(node).winograd_m == 0) {
      EmitWinograd(r, node, contract->m, transformed_);
    } else {
      AOTC_RETURN_IF_ERROR(r.Copy(node));
    }
    if (contract != nullptr) {
      IdVector<NodeId, Node>& nodes = r.graph().nodes;
      nodes[NodeId(static_cast<int32_t>(nodes.size()) - 1)].contract = *contract;
    }
    for (ValueId output : node.outputs) {
      if (!output.valid() || uses_[output] == 0) continue;
      const ValueId now = r.Mapped(output);
      r.graph().values[now].layout = Produced(output);
      if (outputs_.contains(output)) KeepOutput(r, node, output, now);
    }
    return true;
  }

  // An output of the graph or a region is row-major under its own name; nodes may read it in
  // another layout.
  void KeepOutput(Rebuilder& r, const Node& node, ValueId output, ValueId now) {
    ValueId outer = now;
    if (!r.graph().values[now].layout.IsPlain()) {
      outer = EmitRelayout(r, now, node);
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
      r.Replace(input, EmitRelayout(r, now, node));
    }
  }

  // A contract whose operand is not laid out as it says reads a relaid copy, as do all behind it
  // that want no other.
  void PrepareInput(Rebuilder& r, const Node& node) {
    const NodeFacts& facts = facts_.Of(node);
    const Contract* contract = ContractOf(node);
    if (contract == nullptr || (contract->algorithm == Algorithm::kProduct && facts.rows_lack == 0))
      return;
    const ValueId input = facts.kernel->inputs[0];
    const auto copy = copies_.find({input, contract->operand});
    const LayoutNeed* need = copy == copies_.end() ? nullptr : &copy->second;
    if (const auto own = needs_.find(input); need == nullptr && own != needs_.end())
      need = &own->second;
    if (need == nullptr) return;
    const ValueId now = r.Mapped(input);
    if (r.graph().values[now].layout == need->layout) return;
    const ValueId made = EmitRelayout(r, now, node);
    r.graph().values[made].layout = need->layout;
    r.Replace(input, made);
  }

  const Graph& graph_;
  const IdVector<ValueId, int> uses_;
  const AnchorFacts facts_;
  const ContractChoice choice_;
  std::set<ValueId> outputs_;            // of all regions
  std::map<ValueId, LayoutNeed> needs_;  // of those that read a value as it is written
  std::map<std::pair<ValueId, ValueForm>, LayoutNeed> copies_;  // of those that want another form
  std::set<ValueId> written_freely_;  // their kernels can write any layout
  TransformedWeights transformed_;
  LayoutGroups groups_;
};

absl::StatusOr<Graph> ChooseLayouts(const Graph& graph, const ContractOptions& options) {
  const int64_t block = options.target.channel_block;
  const int64_t parts = std::max<int64_t>(block, 1);  // they may begin anywhere else
  AOTC_ASSIGN_OR_RETURN(Graph repeated, InterleavedRepeats(graph, parts));
  if (block == 0) return repeated;
  AOTC_ASSIGN_OR_RETURN(const Graph dense, DenseTaps(repeated, options.least_channels));
  AOTC_ASSIGN_OR_RETURN(const Graph laid_out, LayoutChooser(dense, options).Run());
  return RowsOfBlocks(laid_out);
}

// m for contracts; a note where the user asks for what the target does not have.
int64_t WinogradAsked(PassContext& context) {
  constexpr int kLevel = 2;  // below it only what is asked for
  const int64_t m = context.Config(kWinograd);
  const TargetContracts& target = context.target().contracts;
  constexpr AnchorSignature kSuited = {
      .form = Algorithm::kDirect, .size = {1, 64, 64, 56, 56}, .suits_winograd = true};
  const std::vector<PricedContract> offers =
      m > 0 && target.offers ? target.offers(kSuited) : std::vector<PricedContract>();
  const bool has_it = std::ranges::any_of(
      offers, [&](const PricedContract& offer) { return offer.contract.m == m; });
  if (m > 0 && !has_it) {
    context.diagnostics().Note({}, "the target has no convolutions by Winograd's algorithm",
                               "--winograd is for --target cpu, with its tile functions");
  }
  return m < 0 && context.options().level < kLevel ? 0 : m;
}

}  // namespace

absl::StatusOr<Graph> ChooseLayouts(const Graph& graph, PassContext& context) {
  const bool chosen = std::any_of(graph.values.begin(), graph.values.end(),
                                  [](const Value& value) { return !value.layout.IsPlain(); });
  if (chosen) return graph;
  return ChooseLayouts(graph, {.target = context.target().contracts,
                               .least_channels = context.Config(kLeastChannels),
                               .winograd_m = WinogradAsked(context)});
}

}  // namespace aotc
