#include "compiler/schedule/nest_form.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/ir/expr_simplify.h"
#include "compiler/ir/layout.h"
#include "compiler/schedule/chain.h"
#include "compiler/schedule/winograd.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// How many of the stage's leading axes have `first`'s extents.
size_t EqualExtents(const Stage& stage, const Stage& first) {
  const size_t most = std::min(stage.axes.size(), first.axes.size());
  size_t equal = 0;
  while (equal < most && ProveEqual(stage.axes[equal].extent, first.axes[equal].extent)) ++equal;
  return equal;
}

// How many leading indices of a load are the stage's own axes.
size_t OwnIndices(const Expr& load, const Stage& stage) {
  const size_t most = std::min(stage.axes.size(), load.args().size());
  size_t own = 0;
  while (own < most && IsOwnIndex(load.arg(own), stage.axes[own])) ++own;
  return own;
}

// How many leading axes of all stages agree in extent, and index every temp that is read by
// themselves.
size_t SharedAxes(const Kernel& kernel, Stages stages) {
  size_t shared = stages.front().axes.size();
  for (const Stage& stage : stages) {
    shared = std::min(shared, EqualExtents(stage, stages.front()));
    for (const StageResult& result : stage.results) {
      shared = std::min(shared, static_cast<size_t>(result.axis_count));
    }
    for (const Expr& body : stage.body) {
      for (const Expr& load : LoadsOf(body)) {
        if (IsDefined(kernel, load->tensor)) shared = std::min(shared, OwnIndices(load, stage));
      }
    }
  }
  return shared;
}

bool AllAxesShared(Stages stages, size_t shared) {
  return std::all_of(stages.begin(), stages.end(),
                     [&](const Stage& stage) { return stage.axes.size() == shared; });
}

// A statistic is stored in plain layout, for which the padding of an axis that it keeps is too
// much.
absl::Status CheckStatistic(const Kernel& kernel, const Stage& stage, const StatisticAxes& axes) {
  const KernelTensor& main = kernel.tensors[MainOutput(kernel)];
  for (const StorageAxis& storage : main.layout.axes) {
    const bool is_kept = std::ranges::any_of(
        stage.axes, [&](const Axis& axis) { return axis.name == axes[storage.axis]; });
    if (!is_kept || !IsPadded(main, storage)) continue;
    const std::string& name = kernel.tensors[stage.results.front().tensor].name;
    return absl::FailedPreconditionError(
        StrCat("output ", name, " of kernel ", kernel.name, " keeps an axis that the layout pads"));
  }
  return absl::OkStatus();
}

}  // namespace

TensorId MainOutput(const Kernel& kernel) {
  TensorId main = kernel.params.back();
  for (TensorId id : kernel.params) {
    if (kernel.tensors[id].role != TensorRole::kOutput) continue;
    if (kernel.tensors[id].shape.size() >= kernel.tensors[main].shape.size()) main = id;
  }
  return main;
}

NestForm FormOf(const Kernel& kernel) {
  std::vector<StatisticAxes> statistics = FindStatistics(kernel, MainOutput(kernel));
  const Stages points = Stages(kernel.stages).first(kernel.stages.size() - statistics.size());
  const size_t shared = SharedAxes(kernel, points);
  if (AllAxesShared(points, shared)) return {points, std::move(statistics), shared, true};
  return {kernel.stages, {}, SharedAxes(kernel, kernel.stages), false};
}

NestForm RowFormOf(const Kernel& kernel) {
  const Stages stages = kernel.stages;
  size_t shared = SharedAxes(kernel, stages);
  if (shared > 0 && AllAxesShared(stages, shared)) --shared;
  return {stages, {}, shared, false};
}

bool IsPadded(const KernelTensor& tensor, const StorageAxis& storage) {
  return storage.modulus > 0 && !ProveDivisible(tensor.shape[storage.axis], storage.modulus);
}

absl::Status CheckOutputLayouts(const Kernel& kernel, const NestForm& form) {
  for (size_t i = 0; i < form.statistics.size(); ++i) {
    const Stage& stage = kernel.stages[form.stages.size() + i];
    AOTC_RETURN_IF_ERROR(CheckStatistic(kernel, stage, form.statistics[i]));
  }
  const Layout& main = kernel.tensors[MainOutput(kernel)].layout;
  std::set<TensorId> points;
  for (const Stage& stage : form.stages) {
    for (const StageResult& result : stage.results) points.insert(result.tensor);
  }
  for (TensorId id : kernel.params) {
    const KernelTensor& tensor = kernel.tensors[id];
    if (tensor.role != TensorRole::kOutput) continue;
    const bool is_point = form.is_point && points.contains(id);
    if (is_point ? tensor.layout == main : tensor.layout.IsPlain()) continue;
    return absl::FailedPreconditionError(StrCat("output ", tensor.name, " of kernel ", kernel.name,
                                                " has layout ", PrintLayout(tensor.layout),
                                                ", which its nest cannot write"));
  }
  return absl::OkStatus();
}

bool IsPointNest(const Kernel& kernel) { return FormOf(kernel).is_point; }

Shape SharedExtents(const Kernel& kernel) {
  Shape extents;
  const size_t shared = FormOf(kernel).shared;
  for (size_t i = 0; i < shared; ++i) extents.push_back(kernel.stages.front().axes[i].extent);
  return extents;
}

absl::Status CheckOutputLayouts(const Kernel& kernel) {
  if (ReadWinograd(kernel)) {
    const Kernel tail = WinogradTail(kernel);
    return CheckOutputLayouts(tail, FormOf(tail));
  }
  if (const std::optional<ChainAnchor> chain = ReadChain(kernel)) {
    const Kernel tail = ChainTail(kernel, *chain);
    return CheckOutputLayouts(tail, FormOf(tail));
  }
  return CheckOutputLayouts(kernel, FormOf(kernel));
}

}  // namespace aotc
