#include "compiler/targets/cpu/winograd.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/lower/block_constants.h"
#include "compiler/schedule/stage_kinds.h"
#include "compiler/support/rounding.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/contraction.h"
#include "compiler/targets/cpu/contracts.h"

namespace aotc {
namespace {

absl::Status Refuse(std::string_view reason) { return absl::FailedPreconditionError(View(reason)); }

// [N, C/16, H, W, C%16], by itself or in a larger tensor.
bool IsBlocked(const KernelTensor& tensor) {
  return tensor.layout.axes == BlockedLayout(4, 1, kChannelBlock).axes;
}

// [K/panel, 3, 3, C, K%panel]
Layout PackedWeights(int64_t panel) {
  return {.axes = {{0, panel, 0}, {2, 1, 0}, {3, 1, 0}, {1, 1, 0}, {0, 1, panel}}};
}

absl::Status CheckTemps(const Kernel& kernel) {
  for (size_t s = 0; s + 1 < kWinogradStages; ++s) {
    const TensorId temp = kernel.stages[s].results[0].tensor;
    if (kernel.tensors[temp].role != TensorRole::kTemp) return Refuse("a transform is an output");
    for (size_t reader = kWinogradStages; reader < kernel.stages.size(); ++reader) {
      if (Reads(kernel.stages[reader], temp)) return Refuse("a transform has other readers");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ConvolutionSize> SizeOf(const Kernel& kernel, const WinogradAnchor& anchor) {
  const Shape& weights = kernel.tensors[anchor.weights].shape;
  const Stage& result = kernel.stages[kWinogradStages - 1];
  const std::optional<int64_t> outputs = weights[0].AsInt(), inputs = weights[1].AsInt(),
                               height = result.axes[2].extent.AsInt(),
                               width = result.axes[3].extent.AsInt();
  if (!outputs || !inputs || !height || !width) return Refuse("a size is known in the run only");
  const int64_t images = RangeOf(result.axes[0].extent, BoundsOf(kernel.symbols)).max;
  return ConvolutionSize{std::max<int64_t>(images, 1), *inputs, *outputs, *height, *width};
}

}  // namespace

absl::StatusOr<WinogradContraction> AnalyzeWinograd(const Kernel& kernel) {
  const std::optional<WinogradAnchor> anchor = ReadWinograd(kernel);
  if (!anchor) return Refuse("no convolution by Winograd's algorithm");
  WinogradContraction c{.anchor = *anchor};
  AOTC_RETURN_IF_ERROR(CheckTemps(kernel));
  AOTC_ASSIGN_OR_RETURN(c.size, SizeOf(kernel, *anchor));
  if (kernel.tensors[anchor->weights].role != TensorRole::kConstant)
    return Refuse("the weights are not constant");
  Kernel tail = WinogradTail(kernel);
  BlockConstants(tail);
  const KernelTensor& main = tail.tensors[MainOutput(tail)];
  if (!IsBlocked(kernel.tensors[anchor->input]) || !IsBlocked(main))
    return Refuse("the channels are not in blocks");
  AOTC_ASSIGN_OR_RETURN(c.nest, BuildNest(tail));
  if (!c.nest.is_point || c.nest.HasStatistics()) return Refuse("the epilogue is not pointwise");
  c.panel = ChoosePanel(c.size.outputs);
  c.stored_columns = RoundUp(c.size.outputs, kChannelBlock);
  tail.tensors[anchor->weights].layout = PackedWeights(c.panel);
  for (const Axis& axis : DefiningStage(tail, MainOutput(tail))->axes) c.axes.push_back(axis.name);
  const TensorId gathered = kernel.stages[kWinogradSums].results[0].tensor;
  tail.tensors[gathered].role = TensorRole::kTemp;
  LoopBuffer& fragments = c.nest.buffers[gathered];  // which take no memory
  fragments.place = BufferPlace::kScratch;
  fragments.written = true;
  c.kernel = kernel;
  c.kernel.tensors = std::move(tail.tensors);
  return c;
}

}  // namespace aotc
