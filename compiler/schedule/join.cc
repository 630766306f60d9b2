#include "compiler/schedule/join.h"

#include <string>

#include "compiler/ir/expr_simplify.h"

namespace aotc {
namespace {

// The axis whose index the condition compares, in "axis < end".
std::optional<size_t> ComparedAxis(const Expr& condition, const Stage& stage) {
  if (condition.op() != ExprOp::kLt || !condition.arg(0).IsVar()) return std::nullopt;
  for (size_t i = 0; i < stage.axes.size(); ++i) {
    if (stage.axes[i].name == condition.arg(0)->name) return i;
  }
  return std::nullopt;
}

class JoinReader {
 public:
  JoinReader(const Kernel& kernel, size_t axis)
      : kernel_(kernel),
        stage_(kernel.stages[0]),
        bounds_(StageBounds(kernel, stage_)),
        join_{.axis = axis} {}

  std::optional<Join> Run() {
    const bool is_join = Read(stage_.body[0], 0, stage_.axes[join_.axis].extent);
    return is_join && join_.parts.size() > 1 ? std::optional(join_) : std::nullopt;
  }

 private:
  // The elements from `start` to `end` - 1 along the axis.
  bool Read(const Expr& e, const Expr& start, const Expr& end) {
    if (e.op() == ExprOp::kSelect) {
      if (ComparedAxis(e.arg(0), stage_) != join_.axis) return false;
      const Expr& middle = e.arg(0).arg(1);
      return Read(e.arg(1), start, middle) && Read(e.arg(2), middle, end);
    }
    if (e.op() != ExprOp::kLoad || !IsWhole(e, start, end)) return false;
    join_.parts.push_back({e->tensor, Simplify(start, bounds_)});
    return true;
  }

  bool IsWhole(const Expr& load, const Expr& start, const Expr& end) const {
    const KernelTensor& tensor = kernel_.tensors[load->tensor];
    if (load.args().size() != stage_.axes.size()) return false;
    for (size_t i = 0; i < stage_.axes.size(); ++i) {
      const Axis& axis = stage_.axes[i];
      const bool joined = i == join_.axis;
      const Expr index = joined ? Var(axis.name) - start : Var(axis.name);
      const Expr extent = joined ? Simplify(end - start, bounds_) : axis.extent;
      const bool one = extent.IsInt(1) && load.arg(i).IsInt(0);
      if (!one && !ProveEqual(load.arg(i), index, bounds_)) return false;
      if (!ProveEqual(tensor.shape[i], extent, bounds_)) return false;
    }
    return true;
  }

  const Kernel& kernel_;
  const Stage& stage_;
  const Bounds bounds_;
  Join join_;
};

}  // namespace

std::optional<JoinCut> ReadCut(const Kernel& kernel) {
  if (kernel.params.size() != 2 || kernel.stages.size() != 1) return std::nullopt;
  const Stage& stage = kernel.stages[0];
  const Expr& load = stage.body[0];
  const bool reads = !stage.IsReduction() && stage.body.size() == 1 && load.op() == ExprOp::kLoad &&
                     load->tensor == kernel.params[0] && load.args().size() == stage.axes.size();
  if (!reads) return std::nullopt;
  const Shape& from = kernel.tensors[kernel.params[0]].shape;
  const Bounds bounds = StageBounds(kernel, stage);
  std::optional<JoinCut> cut;
  for (size_t i = 0; i < stage.axes.size(); ++i) {
    const Axis& axis = stage.axes[i];
    Expr start = Simplify(load.arg(i) - Var(axis.name), bounds);
    if (axis.extent.IsInt(1)) start = load.arg(i);
    if (UsesVar(start, axis.name)) return std::nullopt;
    if (start.IsInt(0) && ProveEqual(axis.extent, from[i], bounds)) continue;
    if (cut || !start.IsConst()) return std::nullopt;
    cut = {.axis = i, .start = start};
  }
  return cut;
}

std::optional<Join> ReadJoin(const Kernel& kernel) {
  if (kernel.stages.size() != 1) return std::nullopt;
  const Stage& stage = kernel.stages[0];
  const bool chooses =
      !stage.IsReduction() && stage.body.size() == 1 && stage.body[0].op() == ExprOp::kSelect;
  if (!chooses) return std::nullopt;
  const std::optional<size_t> axis = ComparedAxis(stage.body[0].arg(0), stage);
  return axis ? JoinReader(kernel, *axis).Run() : std::nullopt;
}

}  // namespace aotc
