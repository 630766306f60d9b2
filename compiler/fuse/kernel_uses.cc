#include "compiler/fuse/kernel_uses.h"

#include "compiler/fuse/merge_kernels.h"

namespace aotc {

bool HasOtherReaders(const FusedKernel& producer, ValueId value,
                     const IdVector<ValueId, int>& uses) {
  for (size_t i = 0; i < producer.args.size(); ++i) {
    const bool other =
        IsOutput(producer.kernel, producer.kernel.params[i]) && producer.args[i] != value;
    if (other && uses[producer.args[i]] > 0) return true;
  }
  return false;
}

KernelUses::KernelUses(const Region& region, const std::vector<ValueView>& views,
                       const KernelSlots& kernels)
    : kernels_(kernels), stored_(region.outputs.begin(), region.outputs.end()) {
  for (const ValueView& view : views) {
    base_[view.value] = view.base;
    stored_.insert(view.base);
    if (view.IsBox()) stored_.insert(view.value);
  }
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i]) Enter(i);
  }
}

void KernelUses::Enter(size_t index) {
  const FusedKernel& fused = *kernels_[index];
  for (size_t i = 0; i < fused.args.size(); ++i) {
    if (IsOutput(fused.kernel, fused.kernel.params[i])) {
      producer_[fused.args[i]] = index;
      writers_[BaseOf(fused.args[i])].insert(index);
    } else {
      readers_[BaseOf(fused.args[i])].insert(index);
    }
  }
}

void KernelUses::Leave(size_t index) {
  for (ValueId value : kernels_[index]->args) {
    readers_[BaseOf(value)].erase(index);
    writers_[BaseOf(value)].erase(index);
  }
}

std::optional<size_t> KernelUses::Producer(ValueId value) const {
  const auto found = producer_.find(value);
  return found == producer_.end() ? std::nullopt : std::optional(found->second);
}

ValueId KernelUses::BaseOf(ValueId value) const {
  const auto view = base_.find(value);
  return view == base_.end() ? value : view->second;
}

}  // namespace aotc
