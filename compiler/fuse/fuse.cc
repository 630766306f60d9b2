#include "compiler/fuse/fuse.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compiler/fuse/control.h"
#include "compiler/fuse/copies.h"
#include "compiler/fuse/drop_unread.h"
#include "compiler/fuse/grown_outputs.h"
#include "compiler/fuse/join_readers.h"
#include "compiler/fuse/kernel_uses.h"
#include "compiler/fuse/merge_beside.h"
#include "compiler/fuse/merge_chain.h"
#include "compiler/fuse/merge_kernels.h"
#include "compiler/fuse/merge_shared.h"
#include "compiler/fuse/parts_in_turn.h"
#include "compiler/fuse/places.h"
#include "compiler/ir/control_flow.h"
#include "compiler/ir/image_decoder.h"
#include "compiler/ops/op.h"
#include "compiler/schedule/join.h"
#include "compiler/schedule/stage_kinds.h"
#include "compiler/support/interface_names.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Of one region; those of its nodes are fused apart.
class Fuser {
 public:
  Fuser(const Graph& graph, RegionId region, const FuseOptions& options)
      : graph_(graph),
        region_(graph.regions[region]),
        options_(options),
        uses_(UseCounts(graph)),
        places_(graph),
        grown_(graph, graph.regions[region], options.aliases, places_),
        bound_(BoundValues(graph, graph.regions[region])),
        joins_(graph),
        late_(LateSymbols(graph.symbols)) {}

  absl::StatusOr<FusedGraph> Run() {
    if (&region_ == &graph_.main_region()) result_.aliases = options_.aliases;
    for (NodeId id : region_.nodes) {
      const Node& node = graph_.nodes[id];
      if (!node.regions.empty() || IsHostOp(node)) {
        AOTC_RETURN_IF_ERROR(PlaceControl(id));
        continue;
      }
      if (DefinesSizes(node)) AOTC_RETURN_IF_ERROR(PlaceControl(id));
      AOTC_ASSIGN_OR_RETURN(FusedKernel fused, KernelOfNode(graph_, node));
      if (IsJoinedSlice(fused) && PlaceSlice(fused)) continue;
      if (PlaceAsView(fused)) continue;
      AOTC_ASSIGN_OR_RETURN(const bool is_grown, grown_.Place(fused, result_.decisions));
      if (is_grown) continue;
      if (options_.enabled && (PlaceOperands(fused) || PlaceSlice(fused))) continue;
      if (options_.enabled && !IsLeftToReaders(fused)) fused = Absorb(std::move(fused));
      if (!PlaceAsView(fused)) Place(std::move(fused));
    }
    return Collect();
  }

 private:
  absl::Status PlaceControl(NodeId id) {
    result_.bodies[id] = {};
    for (const auto& [name, region] : graph_.nodes[id].regions) {
      AOTC_ASSIGN_OR_RETURN(FusedGraph body, Fuser(graph_, region, options_).Run());
      result_.bodies[id].push_back(std::move(body));
    }
    Place(KernelOfControl(graph_, id));
    return absl::OkStatus();
  }

  // Whether the kernel's result is seen where its operand lies.
  bool PlaceAsView(const FusedKernel& fused) {
    std::optional<ValueView> view = AsView(graph_, fused);
    if (!view || !MayBeView(*view) || IsPartInTurn(graph_, region_, fused)) return false;
    const auto found = std::ranges::find(result_.views, view->base, &ValueView::value);
    if (found != result_.views.end()) {
      view->offset = Simplify(view->offset + found->offset);
      view->base = found->base;
    }
    result_.views.push_back(*view);
    view_kernels_.emplace(view->value, fused);
    return true;
  }

  // A view of neighbouring elements can be had of what is dense wherever it lies. What is computed
  // element by element for nothing else can be computed in the blocks of the view, with its reader.
  bool MayBeView(const ValueView& view) const {
    if (grown_.IsWritten(view.value)) return false;
    const FusedKernel* maker = MakerOf(view.base);
    const bool is_taken = maker != nullptr && uses_[view.base] == 1 && !HasReduction(maker->kernel);
    if (is_taken && !graph_.values[view.value].layout.IsPlain()) return false;
    return !places_.IsPart(view.base) ||
           places_.IsDenseIn(view.base, places_.ViewOf(view.base).base);
  }

  bool IsView(ValueId value) const {
    return std::ranges::find(result_.views, value, &ValueView::value) != result_.views.end();
  }

  // The kernel that makes the value, as long as none has taken that in; null for control flow.
  const FusedKernel* MakerOf(ValueId value) const {
    const auto producer = producer_.find(value);
    if (producer == producer_.end() || !placed_[producer->second]) return nullptr;
    const FusedKernel& maker = *placed_[producer->second];
    return maker.control.valid() ? nullptr : &maker;
  }

  // Lets the operands of a Concat lie in its result, which is no kernel then. Where that would only
  // part what one kernel can do, it stays one.
  bool PlaceOperands(const FusedKernel& fused) {
    const std::optional<Join> join = ReadJoin(fused.kernel);
    if (!join) return false;
    const ValueId whole = fused.args.back();
    const PartAxis along = {.axis = join->axis, .step = join->step};
    const std::vector<Part> parts = places_.Joined(along, PartsOf(fused, *join));
    const absl::Status status = CheckPlaces(fused, along, parts);
    result_.decisions.push_back(
        StrCat(fused.kernel.name, ": its operands ",
               status.ok() ? "lie in its result" : StrCat("are copied, ", status.message())));
    if (status.ok()) places_.PlaceParts(whole, along, parts);
    return status.ok();
  }

  absl::Status CheckPlaces(const FusedKernel& join, const PartAxis& along,
                           const std::vector<Part>& parts) const {
    const ValueId whole = join.args.back();
    if (!options_.places || options_.unplaced.contains(graph_.values[whole].name))
      return absl::FailedPreconditionError("the peak of memory would rise");
    // What makes a part may run before the run knows how long the whole is.
    if (HasLateSize(whole)) return absl::FailedPreconditionError("its size is not known before");
    for (const Part& part : parts) {
      const std::string why = WhyNoPart(part.value, whole, along);
      const std::string& name = graph_.values[part.value].name;
      if (!why.empty()) return absl::FailedPreconditionError(StrCat("%", name, " ", why));
    }
    AOTC_RETURN_IF_ERROR(places_.CheckParts(whole, along, parts));
    if (IsTakenIn(join)) return absl::FailedPreconditionError("its reader joins them");
    if (std::ranges::any_of(parts, [&](const Part& part) { return IsStored(part.value, join); }))
      return absl::OkStatus();
    return absl::FailedPreconditionError("one kernel makes and joins them");
  }

  bool HasLateSize(ValueId value) const {
    const Shape& dims = graph_.values[value].type.dims;
    return !late_.empty() &&
           std::ranges::any_of(dims, [&](const Expr& dim) { return NamesAny(dim, late_); });
  }

  std::string WhyNoPart(ValueId value, ValueId whole, const PartAxis& along) const {
    if (graph_.values[value].constant) return "is a constant";
    if (bound_.contains(value)) return "has to lie by itself";
    if (MakerOf(value) == nullptr && !places_.IsWhole(value)) return "is made by no kernel";
    for (const ValueView& view : result_.views) {
      ValueId at = view.base;
      while (at.valid() && at != value) at = places_.WholeOf(at);
      if (at != value) continue;
      if (along.step != 1 || !places_.IsDenseIn(view.base, whole)) return "has views";
    }
    return "";
  }

  // A slice that what joins it with others may have where it lies. Others that are views need no
  // place.
  bool IsJoinedSlice(const FusedKernel& fused) const {
    return options_.enabled && options_.places && ReadCut(fused.kernel) &&
           joins_.Contains(fused.args.back());
  }

  // Lets a slice lie in what it is a slice of, unless readers can do without that too.
  bool PlaceSlice(const FusedKernel& fused) {
    const std::optional<JoinCut> cut = ReadCut(fused.kernel);
    if (!cut) return false;
    const ValueId whole = fused.args[0], value = fused.args[1];
    if (MakerOf(whole) != nullptr && IsCopy(MakerOf(whole)->kernel)) return false;
    if (IsView(whole)) return false;  // boxes have the axes of what is stored
    const Part part = {value, cut->start};
    const bool is_row_major = graph_.values[value].layout.IsRowMajor();
    const bool may_lie = is_row_major ? MakerOf(whole) != nullptr && AsView(graph_, fused) : true;
    const bool is_possible =
        may_lie && !bound_.contains(value) && places_.CheckSlice(whole, cut->axis, part).ok();
    if (is_possible) places_.PlaceSlice(whole, cut->axis, part);
    return is_possible;
  }

  // The value is in memory in any case: the kernel that joins it with others cannot make it.
  bool IsStored(ValueId value, const FusedKernel& join) const {
    if (uses_[value] > 1 || places_.IsWhole(value)) return true;
    const FusedKernel& source = *placed_[producer_.at(value)];
    return HasOtherReaders(source, value, uses_) || IsWrittenAgain(source) ||
           !MergeIfAllowed(source, join, value, options_.costs).ok();
  }

  // A kernel that gives what another makes once more: that one can write it here as well.
  bool IsWrittenAgain(const FusedKernel& fused) const {
    const bool gives = IsPointwiseOfOne(fused.kernel) && OnlyMoves(fused.kernel) &&
                       graph_.values[fused.args[0]].layout == graph_.values[fused.args[1]].layout;
    const FusedKernel* maker = gives ? MakerOf(fused.args[0]) : nullptr;
    return maker != nullptr && uses_[fused.args[0]] > 1 && !places_.IsWhole(fused.args[0]) &&
           !OnlyMoves(maker->kernel);
  }

  // One kernel reads the result of the Concat, and can read what that joins instead. One that only
  // moves elements may have it as a part, or read it where it is.
  bool IsTakenIn(const FusedKernel& join) const {
    const ValueId value = join.args.back();
    if (uses_[value] != 1 || bound_.contains(value)) return false;
    const std::optional<FusedKernel> reader = KernelOfReader(graph_, region_, value);
    return reader && !AsView(graph_, *reader) && !OnlyMoves(reader->kernel) &&
           MergeIfAllowed(join, *reader, value, options_.costs).ok();
  }

  // Readers dequantise for themselves: the integers are what lies in memory.
  bool IsLeftToReaders(const FusedKernel& fused) const {
    return IsDequantization(fused.kernel) && !graph_.values[fused.args[0]].constant &&
           std::ranges::count(region_.outputs, fused.args[1]) == 0;
  }

  // Merges producers into the kernel as long as one is accepted.
  FusedKernel Absorb(FusedKernel fused) {
    std::set<ValueId> refused;
    for (bool changed = true; changed;) {
      changed = false;
      for (ValueId value : WeightsFirst(fused.args)) {
        if (refused.contains(value)) continue;
        std::optional<FusedKernel> merged = TryMerge(fused, value);
        if (!merged) {
          refused.insert(value);
          continue;
        }
        fused = *std::move(merged);
        changed = true;
        break;
      }
    }
    return fused;
  }

  // A contraction has its weights before the target is asked about others.
  std::vector<ValueId> WeightsFirst(std::vector<ValueId> args) const {
    std::ranges::stable_partition(args, [&](ValueId value) {
      const FusedKernel* maker = MakerOf(value);
      return maker != nullptr && IsScaledWeights(maker->kernel);
    });
    return args;
  }

  std::optional<FusedKernel> TryMerge(const FusedKernel& consumer, ValueId value) {
    if (std::optional<FusedKernel> merged = TryReadSource(consumer, value)) return merged;
    if (MakerOf(value) == nullptr) return std::nullopt;
    const FusedKernel& source = *MakerOf(value);
    const std::string what = StrCat(source.kernel.name, " into ", consumer.kernel.name, ": ");
    const bool is_shared = uses_[value] > 1 && IsScaledWeights(source.kernel);
    if (uses_[value] > 1 && !is_shared) {
      result_.decisions.push_back(StrCat(what, "no, its value has other readers"));
      return std::nullopt;
    }
    if (HasOtherReaders(source, value, uses_)) {
      result_.decisions.push_back(StrCat(what, "no, the producer's other results have readers"));
      return std::nullopt;
    }
    absl::StatusOr<FusedKernel> merged = MergeIfAllowed(source, consumer, value, options_.costs);
    if (!merged.ok()) merged = MergeChain(source, consumer, value, options_.costs, merged.status());
    if (!merged.ok()) {
      if (std::optional<FusedKernel> both = TryMergeBoth(source, consumer, value)) return both;
      result_.decisions.push_back(StrCat(what, "no, ", merged.status().message()));
      return std::nullopt;
    }
    const int64_t saved = 2 * BytesOf(source, value);  // it is neither stored nor read again
    result_.decisions.push_back(StrCat(what, "yes, saves ", saved, " bytes"));
    if (is_shared) {
      --uses_[value];  // the last reader takes it
    } else {
      placed_[producer_.at(value)].reset();
    }
    return *std::move(merged);
  }

  // The producer, which is no gain alone, together with one of its own producers: however few the
  // rows are.
  std::optional<FusedKernel> TryMergeBoth(const FusedKernel& source, const FusedKernel& consumer,
                                          ValueId value) {
    if (!options_.costs.IsKnown()) return std::nullopt;
    // Rows between products, such as a softmax: others of few rows share kernels better apart.
    if (HasContraction(source.kernel) || !HasContraction(consumer.kernel)) return std::nullopt;
    const absl::StatusOr<FusedKernel> first = MergeKernels(source, consumer, value, {}, 1);
    if (!first.ok()) return std::nullopt;
    for (const ValueId operand : source.args) {
      if (operand == value || MakerOf(operand) == nullptr || uses_[operand] > 1) continue;
      const FusedKernel& before = *MakerOf(operand);
      if (HasOtherReaders(before, operand, uses_)) continue;
      absl::StatusOr<FusedKernel> both = MergeKernels(before, *first, operand, {}, 1);
      const bool fits = both.ok() && CheckMerged(both->kernel).ok();
      if (!fits || !IsWorthIt({&before.kernel, &source.kernel, &consumer.kernel}, both->kernel))
        continue;
      result_.decisions.push_back(StrCat(before.kernel.name, " and ", source.kernel.name, " into ",
                                         consumer.kernel.name, ": yes, for one pass over them"));
      placed_[producer_.at(operand)].reset();
      placed_[producer_.at(value)].reset();
      return *std::move(both);
    }
    return std::nullopt;
  }

  // All three take less in one pass than apart, by more than plain loops.
  bool IsWorthIt(const KernelCosts::Parts& parts, const Kernel& merged) const {
    return options_.costs.CheckMerge(parts, merged).ok() && !options_.costs.Of(merged).is_plain;
  }

  // The copy that makes `value`: its kernel, with the views of its result that lie between.
  std::optional<FusedKernel> CopyOf(ValueId value) const {
    auto view = view_kernels_.find(value);
    if (view != view_kernels_.end()) {
      const ValueId base = view->second.args[0];
      const std::optional<FusedKernel> copy = CopyOf(base);
      if (!copy) return std::nullopt;
      absl::StatusOr<FusedKernel> both = MergeKernels(*copy, view->second, base);
      if (!both.ok() || !IsCopy(both->kernel)) return std::nullopt;
      return *std::move(both);
    }
    return MakerOf(value) == nullptr ? std::nullopt : CopyPart(*MakerOf(value), value);
  }

  // The consumer reading what a copy with other readers, or a view of one, copies from. The copy
  // stays, for readers that cannot do so; its source has one reader more.
  std::optional<FusedKernel> TryReadSource(const FusedKernel& consumer, ValueId value) {
    if (uses_[value] == 1 && !view_kernels_.contains(value)) return std::nullopt;  // a plain merge
    const std::optional<FusedKernel> copy = CopyOf(value);
    if (!copy) return std::nullopt;
    const ValueId source = copy->args[0];
    absl::StatusOr<FusedKernel> merged = MergeIfAllowed(*copy, consumer, value, options_.costs);
    const std::string what = StrCat(copy->kernel.name, " into ", consumer.kernel.name, ": ");
    if (!merged.ok() || !ReadsNeighbours(merged->kernel, TensorOf(*merged, source)))
      return std::nullopt;
    result_.decisions.push_back(StrCat(what, "yes, it reads what the copy reads"));
    ++uses_[source];
    return *std::move(merged);
  }

  void Place(FusedKernel fused) {
    for (size_t i = 0; i < fused.args.size(); ++i) {
      const TensorRole role = fused.kernel.tensors[fused.kernel.params[i]].role;
      if (role == TensorRole::kOutput) producer_[fused.args[i]] = placed_.size();
    }
    placed_.push_back(std::move(fused));
  }

  absl::StatusOr<FusedGraph> Collect() {
    std::vector<ValueId> wanted = grown_.Inputs();
    wanted.insert(wanted.end(), region_.outputs.begin(), region_.outputs.end());
    DropUnread(wanted, places_, result_.views, placed_);
    if (options_.enabled) {
      MergeShared(graph_, region_, options_.costs, result_, placed_);
      MergeBeside(region_, options_.costs, result_, placed_);
    }
    for (std::optional<FusedKernel>& fused : placed_) {
      if (fused) result_.kernels.push_back(*std::move(fused));
    }
    return std::move(result_);
  }

  const Graph& graph_;
  const Region& region_;
  const FuseOptions& options_;
  IdVector<ValueId, int> uses_;
  FusedGraph result_;
  KernelSlots placed_;
  std::map<ValueId, FusedKernel> view_kernels_;  // by the view
  std::map<ValueId, size_t> producer_;           // value -> index in placed_
  Places places_;
  GrownOutputs grown_;
  const std::set<ValueId> bound_;
  const JoinReaders joins_;
  const std::set<std::string> late_;
};

}  // namespace

absl::StatusOr<FusedGraph> Fuse(const Graph& graph, const FuseOptions& options) {
  AOTC_ASSIGN_OR_RETURN(FusedGraph fused, Fuser(graph, graph.main, options).Run());
  SetStrides(graph, fused);
  NameTable names = TakenByInterface();
  VisitBodies(graph, fused, [&](FusedGraph& part, RegionId) {
    for (FusedKernel& kernel : part.kernels) {
      kernel.kernel.name = names.Unique(ShortIdentifier(kernel.kernel.name));
    }
  });
  return fused;
}

}  // namespace aotc
