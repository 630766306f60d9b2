#include "compiler/schedule/in_place.h"

namespace aotc {
namespace {

bool IsAtOwnIndex(const Expr& load, const Stage& stage) {
  if (load.args().size() != stage.axes.size()) return false;
  for (size_t axis = 0; axis < load.args().size(); ++axis) {
    if (!IsOwnIndex(load.arg(axis), stage.axes[axis])) return false;
  }
  return true;
}

// Whether `input` and what the kernel computes of it are read at the index that is being written.
bool OnlyOwnIndex(const Kernel& kernel, TensorId input) {
  for (const Stage& stage : kernel.stages) {
    for (const Expr& body : stage.body) {
      for (const Expr& load : LoadsOf(body)) {
        const bool matters = load->tensor == input || IsDefined(kernel, load->tensor);
        if (matters && !IsAtOwnIndex(load, stage)) return false;
      }
    }
  }
  return true;
}

// Each stage computes, of the same points, one result from elements at their own index; the last
// one is what is written.
bool IsPointwise(const Kernel& kernel) {
  const KernelTensor& to = kernel.tensors[kernel.params.back()];
  for (const Stage& stage : kernel.stages) {
    if (stage.IsReduction() || stage.results.size() != 1) return false;
    Shape extents;
    for (const Axis& axis : stage.axes) extents.push_back(axis.extent);
    if (!SameShape(extents, to.shape)) return false;
    const TensorId result = stage.results[0].tensor;
    const bool is_last = &stage == &kernel.stages.back();
    if (is_last != (kernel.tensors[result].role == TensorRole::kOutput)) return false;
  }
  return !kernel.stages.empty();
}

}  // namespace

std::vector<std::pair<int, int>> InPlacePairs(const Kernel& kernel) {
  std::vector<std::pair<int, int>> pairs;
  if (!IsPointwise(kernel)) return pairs;
  const int output = static_cast<int>(kernel.params.size()) - 1;
  const KernelTensor& to = kernel.tensors[kernel.params.back()];
  for (int i = 0; i < output; ++i) {
    const TensorId id = kernel.params[static_cast<size_t>(i)];
    const KernelTensor& from = kernel.tensors[id];
    const bool alike = from.role == TensorRole::kInput && from.dtype == to.dtype &&
                       from.layout == to.layout && SameShape(from.shape, to.shape) &&
                       from.strides.empty() && to.strides.empty();
    if (alike && OnlyOwnIndex(kernel, id)) pairs.emplace_back(output, i);
  }
  return pairs;
}

}  // namespace aotc
