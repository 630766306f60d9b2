#include "compiler/fuse/merge_shared.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/fuse/merge_kernels.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

class SharedMerger {
 public:
  SharedMerger(const Graph& graph, const Region& region, const FusionVeto& veto, FusedGraph& fused,
               std::vector<std::optional<FusedKernel>>& kernels)
      : uses_(UseCounts(graph)), veto_(veto), decisions_(fused.decisions), kernels_(kernels) {
    wanted_.insert(region.outputs.begin(), region.outputs.end());
    for (const ValueView& view : fused.views) {
      base_[view.value] = view.base;
      wanted_.insert(view.base);
    }
    for (size_t i = 0; i < kernels_.size(); ++i) {
      if (kernels_[i]) Enter(i);
    }
  }

  void Run() {
    for (size_t i = 0; i < kernels_.size(); ++i) {
      while (kernels_[i] && MergeOneInto(i)) {
      }
    }
  }

 private:
  ValueId BaseOf(ValueId value) const {
    const auto view = base_.find(value);
    return view == base_.end() ? value : view->second;
  }

  void Enter(size_t index) {
    const FusedKernel& fused = *kernels_[index];
    for (size_t i = 0; i < fused.args.size(); ++i) {
      if (IsOutput(fused.kernel, fused.kernel.params[i])) {
        producer_[fused.args[i]] = index;
      } else {
        readers_[BaseOf(fused.args[i])].insert(index);
      }
    }
  }

  void Leave(size_t index) {
    for (ValueId value : kernels_[index]->args) readers_[BaseOf(value)].erase(index);
  }

  // True where the kernel at `consumer` has taken in one that makes a value for others, too.
  bool MergeOneInto(size_t consumer) {
    if (kernels_[consumer]->control.valid()) return false;
    for (ValueId value : std::vector<ValueId>(kernels_[consumer]->args)) {
      const auto producer = producer_.find(value);
      if (producer == producer_.end() || producer->second == consumer) continue;
      if (refused_.contains({value, consumer})) continue;
      if (TryMerge(producer->second, consumer, value)) return true;
      refused_.insert({value, consumer});
    }
    return false;
  }

  // Whether the kernel reads, as a view, what `producer` stores: it must be stored before.
  bool ReadsViewOf(size_t producer, size_t consumer) const {
    return std::ranges::any_of(kernels_[consumer]->args, [&](ValueId arg) {
      const auto view = base_.find(arg);
      if (view == base_.end()) return false;
      const auto made = producer_.find(view->second);
      return made != producer_.end() && made->second == producer;
    });
  }

  bool TryMerge(size_t producer, size_t consumer, ValueId value) {
    if (ReadsViewOf(producer, consumer)) return false;
    const FusedKernel& source = *kernels_[producer];
    if (source.control.valid()) return false;
    std::set<ValueId> kept;
    size_t read = 0;
    for (size_t i = 0; i < source.args.size(); ++i) {
      if (!IsOutput(source.kernel, source.kernel.params[i])) continue;
      const std::set<size_t>& readers = readers_[source.args[i]];
      if (!readers.empty() && *readers.begin() < consumer) return false;  // wants it earlier
      const bool others = readers.size() > 1 || !readers.contains(consumer);
      if (wanted_.contains(source.args[i]) || (others && !readers.empty())) {
        kept.insert(source.args[i]);
      }
      read += readers.contains(consumer) ? 1 : 0;
    }
    // Tried already, when nothing was shared.
    if (kept.empty() && read == 1 && uses_[value] == 1) return false;
    const std::string what =
        StrCat(source.kernel.name, " into ", kernels_[consumer]->kernel.name, ", shared: ");
    absl::StatusOr<FusedKernel> merged =
        MergeIfAllowed(source, *kernels_[consumer], value, veto_, kept);
    if (!merged.ok()) {
      decisions_.push_back(StrCat(what, "no, ", merged.status().message()));
      return false;
    }
    decisions_.push_back(StrCat(what, "yes"));
    Leave(producer);
    Leave(consumer);
    kernels_[producer].reset();
    kernels_[consumer] = *std::move(merged);
    Enter(consumer);
    return true;
  }

  const IdVector<ValueId, int> uses_;  // by nodes, before any fusion
  const FusionVeto& veto_;
  std::vector<std::string>& decisions_;
  std::vector<std::optional<FusedKernel>>& kernels_;
  std::set<ValueId> wanted_;  // outputs, and bases of views: stored whoever reads them
  std::map<ValueId, ValueId> base_;
  std::map<ValueId, size_t> producer_;
  std::map<ValueId, std::set<size_t>> readers_;  // views count as their base
  std::set<std::pair<ValueId, size_t>> refused_;
};

}  // namespace

absl::StatusOr<FusedKernel> MergeIfAllowed(const FusedKernel& producer, const FusedKernel& consumer,
                                           ValueId value, const FusionVeto& veto,
                                           const std::set<ValueId>& kept) {
  AOTC_ASSIGN_OR_RETURN(FusedKernel merged, MergeKernels(producer, consumer, value, kept));
  const std::string reason = veto ? veto(producer.kernel, consumer.kernel, merged.kernel) : "";
  if (!reason.empty()) return absl::FailedPreconditionError(reason);
  return merged;
}

void MergeShared(const Graph& graph, const Region& region, const FusionVeto& veto,
                 FusedGraph& fused, std::vector<std::optional<FusedKernel>>& kernels) {
  SharedMerger(graph, region, veto, fused, kernels).Run();
}

}  // namespace aotc
