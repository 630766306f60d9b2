// Who makes and who reads each value among the kernels of a region, while they are being merged.
//
//   KernelUses uses(region, fused.views, kernels);
//   uses.Leave(i); kernels[i].reset(); ... uses.Enter(j);
#ifndef AOTC_COMPILER_FUSE_KERNEL_USES_H_
#define AOTC_COMPILER_FUSE_KERNEL_USES_H_

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compiler/fuse/fuse.h"

namespace aotc {

// Kernels of a region in execution order, nothing where one has gone.
using KernelSlots = std::vector<std::optional<FusedKernel>>;

// Whether the producer has a result other than `value` that is read `uses` times, once at least: it
// may be wanted before the reader of `value` runs.
bool HasOtherReaders(const FusedKernel& producer, ValueId value,
                     const IdVector<ValueId, int>& uses);

class KernelUses {
 public:
  // Refers to `kernels`, whatever becomes of them.
  KernelUses(const Region& region, const std::vector<ValueView>& views, const KernelSlots& kernels);

  // The kernel at `index` has come, or is about to go.
  void Enter(size_t index);
  void Leave(size_t index);

  // The kernel that makes `value`; nothing for what comes from elsewhere, for views that are no
  // boxes, and for what is made of boxes.
  std::optional<size_t> Producer(ValueId value) const;
  // Kernels that read what `value` is, or a view of it; of a box all that read of its base.
  const std::set<size_t>& Readers(ValueId value) { return readers_[BaseOf(value)]; }
  // Kernels that make `value`, or parts of it.
  const std::set<size_t>& Writers(ValueId value) { return writers_[BaseOf(value)]; }
  // What a view is one of; other values themselves.
  ValueId BaseOf(ValueId value) const;
  // Outputs of the region, bases of views and boxes: they are stored whoever reads them.
  bool IsStored(ValueId value) const { return stored_.contains(value); }

 private:
  const KernelSlots& kernels_;
  std::set<ValueId> stored_;
  std::map<ValueId, ValueId> base_;
  std::map<ValueId, size_t> producer_;
  std::map<ValueId, std::set<size_t>> readers_;  // by base
  std::map<ValueId, std::set<size_t>> writers_;  // by base
};

}  // namespace aotc

#endif  // AOTC_COMPILER_FUSE_KERNEL_USES_H_
