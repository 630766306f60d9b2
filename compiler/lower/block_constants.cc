#include "compiler/lower/block_constants.h"

#include <string>

#include "compiler/lower/nest.h"

namespace aotc {
namespace {

// Blocks the constants that `stage` reads at the variable `axis`.
void BlockReadsOf(Kernel& kernel, const Stage& stage, const std::string& axis, int64_t block) {
  for (const Expr& body : stage.body) {
    for (const Expr& load : LoadsOf(body)) {
      KernelTensor& tensor = kernel.tensors[load->tensor];
      if (tensor.role != TensorRole::kConstant || !tensor.layout.IsPlain()) continue;
      for (size_t i = 0; i < load.args().size(); ++i) {
        if (!load.arg(i).IsVar() || load.arg(i)->name != axis) continue;
        tensor.layout =
            BlockedLayout(static_cast<int>(tensor.shape.size()), static_cast<int>(i), block);
      }
    }
  }
}

}  // namespace

void BlockConstants(Kernel& kernel) {
  const Layout layout = kernel.tensors[MainOutput(kernel)].layout;
  for (const StorageAxis& axis : layout.axes) {
    if (axis.modulus == 0) continue;
    for (const Stage& stage : kernel.stages) {
      const size_t index = static_cast<size_t>(axis.axis);
      if (index < stage.axes.size())
        BlockReadsOf(kernel, stage, stage.axes[index].name, axis.modulus);
    }
  }
}

}  // namespace aotc
