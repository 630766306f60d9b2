#include "compiler/lower/block_constants.h"

#include <string>
#include <vector>

#include "compiler/lower/nest.h"

namespace aotc {
namespace {

// Axes in order, `last` behind all others.
Layout InnermostLayout(int rank, int last) {
  std::vector<int> order;
  for (int axis = 0; axis < rank; ++axis) {
    if (axis != last) order.push_back(axis);
  }
  order.push_back(last);
  return PermutedLayout(order);
}

// Lays the constants out that `stage` reads at the variable `axis`: in blocks, or for a block of 0
// with the axis innermost.
void BlockReadsOf(Kernel& kernel, const Stage& stage, const std::string& axis, int64_t block) {
  for (const Expr& body : stage.body) {
    for (const Expr& load : LoadsOf(body)) {
      KernelTensor& tensor = kernel.tensors[load->tensor];
      if (tensor.role != TensorRole::kConstant || !tensor.layout.IsPlain()) continue;
      for (size_t i = 0; i < load.args().size(); ++i) {
        if (!load.arg(i).IsVar() || load.arg(i)->name != axis) continue;
        const int rank = static_cast<int>(tensor.shape.size()), at = static_cast<int>(i);
        tensor.layout = block > 0 ? BlockedLayout(rank, at, block) : InnermostLayout(rank, at);
      }
    }
  }
}

}  // namespace

void BlockConstants(Kernel& kernel) {
  const Layout layout = kernel.tensors[MainOutput(kernel)].layout;
  for (const StorageAxis& axis : layout.axes) {
    const bool is_innermost = &axis == &layout.axes.back();
    if (axis.modulus == 0 && !(is_innermost && !layout.IsRowMajor())) continue;
    for (const Stage& stage : kernel.stages) {
      const size_t index = static_cast<size_t>(axis.axis);
      if (index < stage.axes.size())
        BlockReadsOf(kernel, stage, stage.axes[index].name, axis.modulus);
    }
  }
}

}  // namespace aotc
