#include "compiler/ops/empty_stages.h"

#include <algorithm>
#include <vector>

namespace aotc {
namespace {

bool HasNoPoint(const std::vector<Axis>& axes) {
  return std::any_of(axes.begin(), axes.end(),
                     [](const Axis& axis) { return axis.extent.IsInt(0); });
}

// Whether every result has all axes, which a stage without reduce axes needs.
bool HasEqualRanks(const Stage& stage) {
  return std::all_of(stage.results.begin(), stage.results.end(), [&](const StageResult& result) {
    return result.axis_count == static_cast<int>(stage.axes.size());
  });
}

void SimplifyStage(const Kernel& kernel, Stage& stage) {
  if (!HasEqualRanks(stage)) return;
  const bool is_empty = HasNoPoint(stage.axes);
  if (!is_empty && !HasNoPoint(stage.reduce_axes)) return;
  for (size_t k = 0; k < stage.body.size(); ++k) {
    const DType dtype = kernel.tensors[stage.results[k].tensor].dtype;
    const Expr value = is_empty ? NumberConst(0, ComputeType(dtype)) : stage.combiner.identity[k];
    stage.body[k] = Cast(dtype, value);
  }
  stage.reduce_axes.clear();
  stage.combiner = {};
}

}  // namespace

void SimplifyEmptyStages(Kernel& kernel) {
  for (Stage& stage : kernel.stages) SimplifyStage(kernel, stage);
}

}  // namespace aotc
