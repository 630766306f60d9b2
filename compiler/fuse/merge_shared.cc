#include "compiler/fuse/merge_shared.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "compiler/fuse/merge_kernels.h"
#include "compiler/schedule/stage_kinds.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

class SharedMerger {
 public:
  SharedMerger(const Graph& graph, const Region& region, const KernelCosts& costs,
               FusedGraph& fused, KernelSlots& kernels)
      : node_uses_(UseCounts(graph)),
        costs_(costs),
        decisions_(fused.decisions),
        kernels_(kernels),
        uses_(region, fused.views, kernels) {}

  void Run() {
    for (size_t i = 0; i < kernels_.size(); ++i) {
      while (kernels_[i] && MergeOneInto(i)) {
      }
    }
  }

 private:
  // True where the kernel at `consumer` has taken in one that makes a value for others, too.
  bool MergeOneInto(size_t consumer) {
    if (kernels_[consumer]->control.valid()) return false;
    for (ValueId value : std::vector<ValueId>(kernels_[consumer]->args)) {
      const std::optional<size_t> producer = uses_.Producer(value);
      if (!producer || *producer == consumer || refused_.contains({value, consumer})) continue;
      if (TryMerge(*producer, consumer, value)) return true;
      refused_.insert({value, consumer});
    }
    return false;
  }

  // Whether the kernel reads, under another name, what `producer` stores: it must be stored before.
  bool ReadsViewOf(size_t producer, size_t consumer) {
    const FusedKernel& fused = *kernels_[consumer];
    for (size_t i = 0; i < fused.args.size(); ++i) {
      if (IsOutput(fused.kernel, fused.kernel.params[i])) continue;
      const bool itself = uses_.Producer(fused.args[i]) == producer;
      if (!itself && uses_.Writers(fused.args[i]).contains(producer)) return true;
    }
    return false;
  }

  bool TryMerge(size_t producer, size_t consumer, ValueId value) {
    if (ReadsViewOf(producer, consumer)) return false;
    const FusedKernel& source = *kernels_[producer];
    if (source.control.valid()) return false;
    std::set<ValueId> kept;
    size_t read = 0;
    for (size_t i = 0; i < source.args.size(); ++i) {
      if (!IsOutput(source.kernel, source.kernel.params[i])) continue;
      const std::set<size_t>& readers = uses_.Readers(source.args[i]);
      // Those in front of the producer read other parts of what this is a part of.
      const auto next = readers.upper_bound(producer);
      if (next != readers.end() && *next < consumer) return false;  // wants it earlier
      const bool others = readers.size() > 1 || !readers.contains(consumer);
      if (uses_.IsStored(source.args[i]) || (others && !readers.empty())) {
        kept.insert(source.args[i]);
      }
      read += readers.contains(consumer) ? 1 : 0;
    }
    // Tried already, when nothing was shared.
    if (kept.empty() && read == 1 && node_uses_[value] == 1) return false;
    const std::string what =
        StrCat(source.kernel.name, " into ", kernels_[consumer]->kernel.name, ", shared: ");
    absl::StatusOr<FusedKernel> merged =
        MergeIfAllowed(source, *kernels_[consumer], value, costs_, kept);
    if (!merged.ok()) {
      decisions_.push_back(StrCat(what, "no, ", merged.status().message()));
      return false;
    }
    const int64_t saved = BytesOf(source, value) * (kept.contains(value) ? 1 : 2);
    decisions_.push_back(StrCat(what, "yes, saves ", saved, " bytes"));
    uses_.Leave(producer);
    uses_.Leave(consumer);
    kernels_[producer].reset();
    kernels_[consumer] = *std::move(merged);
    uses_.Enter(consumer);
    return true;
  }

  const IdVector<ValueId, int> node_uses_;  // before any fusion
  const KernelCosts& costs_;
  std::vector<std::string>& decisions_;
  KernelSlots& kernels_;
  KernelUses uses_;
  std::set<std::pair<ValueId, size_t>> refused_;
};

}  // namespace

absl::StatusOr<FusedKernel> MergeIfAllowed(const FusedKernel& producer, const FusedKernel& consumer,
                                           ValueId value, const KernelCosts& costs,
                                           const std::set<ValueId>& kept) {
  AOTC_ASSIGN_OR_RETURN(FusedKernel merged, MergeKernels(producer, consumer, value, kept));
  // What only moves elements is no end in itself: readers may read through it.
  if (OnlyMoves(producer.kernel) && OnlyMoves(consumer.kernel)) return merged;
  AOTC_RETURN_IF_ERROR(costs.CheckMerge({&producer.kernel, &consumer.kernel}, merged.kernel));
  return merged;
}

void MergeShared(const Graph& graph, const Region& region, const KernelCosts& costs,
                 FusedGraph& fused, KernelSlots& kernels) {
  SharedMerger(graph, region, costs, fused, kernels).Run();
}

}  // namespace aotc
