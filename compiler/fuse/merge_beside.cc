#include "compiler/fuse/merge_beside.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "compiler/fuse/joiner.h"
#include "compiler/fuse/merge_kernels.h"
#include "compiler/ir/expr_text.h"
#include "compiler/ir/program_access.h"
#include "compiler/schedule/nest_form.h"
#include "compiler/schedule/stage_kinds.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Above it the time of a launch is small against that of the work.
constexpr int64_t kMostBytes = 64 * 1024;

class BesideMerger {
 public:
  BesideMerger(const Region& region, const KernelCosts& costs, FusedGraph& fused,
               KernelSlots& kernels)
      : costs_(costs),
        decisions_(fused.decisions),
        kernels_(kernels),
        uses_(region, fused.views, kernels) {}

  void Run() {
    for (size_t i = 0; i < kernels_.size(); ++i) {
      const std::optional<std::string> shape = ShapeOf(i);
      if (!shape) continue;
      std::vector<size_t>& earlier = by_shape_[*shape];
      // The latest first: memory is alive the longer, the further a kernel moves.
      const size_t tried = std::min(earlier.size(), kMostTried);
      for (auto other = earlier.end();
           other != earlier.end() - static_cast<std::ptrdiff_t>(tried);) {
        --other;
        if (!TryMerge(*other, i)) continue;
        if (!kernels_[*other]) earlier.erase(other);  // it has moved down
        break;
      }
      if (kernels_[i]) earlier.push_back(i);
    }
  }

 private:
  static constexpr size_t kMostTried = 4;

  // The extents and the type of all its outputs, where the kernel is a small elementwise one: lanes
  // of one width serve all results.
  std::optional<std::string> ShapeOf(size_t index) const {
    if (!kernels_[index] || kernels_[index]->control.valid()) return std::nullopt;
    const Kernel& kernel = kernels_[index]->kernel;
    if (!IsPointNest(kernel) || HasReduction(kernel)) return std::nullopt;
    const Bounds bounds = BoundsOf(kernel.symbols);
    const DType type = kernel.tensors[kernel.params.back()].dtype;
    int64_t bytes = 0;
    for (TensorId id : kernel.params) {
      if (!IsOutput(kernel, id)) continue;
      const int64_t own =
          MaxBytes(ReachedElements(kernel.tensors[id]), kernel.tensors[id].dtype, bounds);
      if (own < 0 || own > kMostBytes - bytes) return std::nullopt;
      if (kernel.tensors[id].dtype != type) return std::nullopt;
      bytes += own;
    }
    const auto print = [](const Expr& extent) { return PrintExpr(extent); };
    return StrCat(DTypeName(type), "[", StrJoin(SharedExtents(kernel), ",", print), "]");
  }

  // All that reads what the kernel gives comes behind `place`.
  bool MayMoveDown(size_t index, size_t place) {
    const FusedKernel& fused = *kernels_[index];
    for (size_t i = 0; i < fused.args.size(); ++i) {
      if (!IsOutput(fused.kernel, fused.kernel.params[i])) continue;
      const std::set<size_t>& readers = uses_.Readers(fused.args[i]);
      if (!readers.empty() && *readers.begin() <= place) return false;
    }
    return true;
  }

  // All that makes what the kernel reads comes in front of `place`, and so does what defines sizes.
  bool MayMoveUp(size_t index, size_t place) {
    const FusedKernel& fused = *kernels_[index];
    for (size_t i = place; i < index; ++i) {
      if (kernels_[i] && kernels_[i]->gives_sizes) return false;
    }
    for (size_t i = 0; i < fused.args.size(); ++i) {
      if (IsOutput(fused.kernel, fused.kernel.params[i])) continue;
      const std::set<size_t>& writers = uses_.Writers(fused.args[i]);
      if (!writers.empty() && *writers.rbegin() >= place) return false;
    }
    return true;
  }

  bool TryMerge(size_t first, size_t second) {
    const bool down = MayMoveDown(first, second);
    if (!down && !MayMoveUp(second, first)) return false;
    absl::StatusOr<FusedKernel> merged = Merged(*kernels_[first], *kernels_[second]);
    const std::string what =
        StrCat(kernels_[first]->kernel.name, " beside ", kernels_[second]->kernel.name, ": ");
    if (!merged.ok()) {
      decisions_.push_back(StrCat(what, "no, ", merged.status().message()));
      return false;
    }
    decisions_.push_back(StrCat(what, "yes, saves a launch and ",
                                SharedBytes(*kernels_[first], *kernels_[second]), " bytes"));
    uses_.Leave(first);
    uses_.Leave(second);
    const auto [gone, stays] = down ? std::pair(first, second) : std::pair(second, first);
    kernels_[gone].reset();
    kernels_[stays] = *std::move(merged);
    uses_.Enter(stays);
    return true;
  }

  // What both read, and one of them no longer does.
  static int64_t SharedBytes(const FusedKernel& first, const FusedKernel& second) {
    int64_t bytes = 0;
    for (ValueId value : first.args) {
      if (std::ranges::find(second.args, value) != second.args.end())
        bytes += BytesOf(first, value);
    }
    return bytes;
  }

  absl::StatusOr<FusedKernel> Merged(const FusedKernel& first, const FusedKernel& second) const {
    const std::set<ValueId> kept(first.args.begin(), first.args.end());
    Joiner joiner(first, kept);
    joiner.Add(first);
    joiner.Add(second);
    FusedKernel merged = joiner.Finish(StrCat(first.kernel.name, "_", second.kernel.name));
    merged.op = second.op;
    merged.rounded = first.rounded;
    merged.rounded.insert(second.rounded.begin(), second.rounded.end());
    AOTC_RETURN_IF_ERROR(CheckMerged(merged.kernel));
    if (!IsPointNest(merged.kernel)) {
      return absl::FailedPreconditionError("their elements are not computed by the same loops");
    }
    AOTC_RETURN_IF_ERROR(costs_.CheckMerge({&first.kernel, &second.kernel}, merged.kernel));
    return merged;
  }

  const KernelCosts& costs_;
  std::vector<std::string>& decisions_;
  KernelSlots& kernels_;
  KernelUses uses_;
  std::map<std::string, std::vector<size_t>> by_shape_;  // kernels so far, ascending
};

}  // namespace

void MergeBeside(const Region& region, const KernelCosts& costs, FusedGraph& fused,
                 KernelSlots& kernels) {
  BesideMerger(region, costs, fused, kernels).Run();
}

}  // namespace aotc
