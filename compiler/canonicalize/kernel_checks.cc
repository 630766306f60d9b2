#include "compiler/canonicalize/kernel_checks.h"

#include <algorithm>
#include <string>

#include "compiler/ir/expr_text.h"
#include "compiler/ir/graph_text.h"
#include "compiler/ir/kernel_bounds.h"
#include "compiler/support/refusal.h"
#include "compiler/support/strings.h"

namespace aotc {

absl::Status CheckReads(const Kernel& kernel, bool always_runs) {
  const LoadedIndices loaded =
      always_runs ? LoadedIndices::kNeedElements : LoadedIndices::kAreTrusted;
  const Bounds bounds = BoundsOf(kernel.symbols);
  const auto may_be_empty = [&](const KernelTensor& tensor) {
    return std::ranges::any_of(
        tensor.shape, [&](const Expr& dim) { return !Prove(Lt(0, dim), bounds).value_or(false); });
  };
  if (std::ranges::none_of(kernel.tensors, may_be_empty)) return absl::OkStatus();
  for (const Stage& stage : kernel.stages) {
    for (const Expr& body : stage.body) {
      const std::string outside = FindLoadOutOfBounds(kernel, stage, body, loaded);
      if (outside.empty()) continue;
      const std::string_view advice = kernel.symbols.empty() ? "" : kLargerSize;
      return AOTC_REFUSAL(
          InvalidArgument,
          StrCat("it reads an element that an empty tensor does not have (", outside, ")", advice));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSqueeze(const Kernel& kernel, bool has_axes) {
  const Bounds bounds = BoundsOf(kernel.symbols);
  const KernelTensor& from = kernel.tensors[kernel.params.front()];
  const Shape& to = kernel.tensors[kernel.params.back()].shape;
  if (!ProveEqual(ElementCount(from.shape), ElementCount(to), bounds)) {
    const std::string type = PrintType(TensorType(from.dtype, from.shape));
    return AOTC_REFUSAL(
        InvalidArgument,
        StrCat("it drops a dim of ", type, " that is not 1 at all sizes: pin that with --dim"));
  }
  const auto may_be_one = [&](const Expr& dim) { return Prove(Ne(dim, 1), bounds) != true; };
  const auto found = std::ranges::find_if(to, may_be_one);
  if (has_axes || found == to.end()) return absl::OkStatus();
  return AOTC_REFUSAL(InvalidArgument,
                      StrCat("its result has another rank where the dim ", PrintExpr(*found),
                             " is 1: pin that with --dim, or give it a larger least size"));
}

}  // namespace aotc
