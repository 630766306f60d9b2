#include "compiler/schedule/statistics.h"

#include <algorithm>
#include <optional>

#include "compiler/ir/expr_simplify.h"

namespace aotc {
namespace {

bool OnlyOutputs(const Kernel& kernel, const Stage& stage) {
  return std::all_of(stage.results.begin(), stage.results.end(), [&](const StageResult& result) {
    return kernel.tensors[result.tensor].role == TensorRole::kOutput &&
           static_cast<size_t>(result.axis_count) == stage.axes.size();
  });
}

// Notes the variables at which `load` reads; false where it reads otherwise, or unlike the others.
bool ReadsAtAxes(const Expr& load, StatisticAxes& axes) {
  if (load.args().size() != axes.size()) return false;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!load.arg(i).IsVar()) return false;
    if (axes[i].empty()) axes[i] = load.arg(i)->name;
    if (axes[i] != load.arg(i)->name) return false;
  }
  return true;
}

// Each axis of the stage stands for one axis of the main output, of the same extent.
bool CoversAxes(const Stage& stage, const StatisticAxes& axes, const Shape& shape) {
  if (stage.axes.size() + stage.reduce_axes.size() != axes.size()) return false;
  for (const std::vector<Axis>* part : {&stage.axes, &stage.reduce_axes}) {
    for (const Axis& axis : *part) {
      const auto found = std::find(axes.begin(), axes.end(), axis.name);
      if (found == axes.end()) return false;
      if (!ProveEqual(axis.extent, shape[static_cast<size_t>(found - axes.begin())])) return false;
    }
  }
  return true;
}

std::optional<StatisticAxes> AxesOf(const Kernel& kernel, const Stage& stage, TensorId main) {
  if (!stage.IsReduction() || !OnlyOutputs(kernel, stage)) return std::nullopt;
  const Shape& shape = kernel.tensors[main].shape;
  StatisticAxes axes(shape.size());
  for (const Expr& body : stage.body) {
    for (const Expr& load : LoadsOf(body)) {
      if (IsDefined(kernel, load->tensor) && !ReadsAtAxes(load, axes)) return std::nullopt;
    }
  }
  if (!CoversAxes(stage, axes, shape)) return std::nullopt;
  return axes;
}

// Which axes of the main output index the statistic's results.
std::vector<bool> KeptAxes(const Stage& stage, const StatisticAxes& axes) {
  std::vector<bool> kept;
  for (const std::string& name : axes) {
    kept.push_back(std::any_of(stage.axes.begin(), stage.axes.end(),
                               [&](const Axis& axis) { return axis.name == name; }));
  }
  return kept;
}

bool SameAxesKept(const Stage& a, const StatisticAxes& of_a, const Stage& b,
                  const StatisticAxes& of_b) {
  return KeptAxes(a, of_a) == KeptAxes(b, of_b);
}

}  // namespace

std::vector<StatisticAxes> FindStatistics(const Kernel& kernel, TensorId main) {
  std::vector<StatisticAxes> found;
  for (size_t i = kernel.stages.size(); i-- > 0;) {
    std::optional<StatisticAxes> axes = AxesOf(kernel, kernel.stages[i], main);
    if (!axes) break;
    if (!found.empty() && !SameAxesKept(kernel.stages[i], *axes, kernel.stages[i + 1], found[0]))
      break;
    found.insert(found.begin(), *std::move(axes));
  }
  return found;
}

}  // namespace aotc
