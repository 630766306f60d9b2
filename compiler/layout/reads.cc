#include "compiler/layout/reads.h"

#include <algorithm>
#include <string>

#include "compiler/ir/expr_simplify.h"

namespace aotc {
namespace {

// Whether blocks of `from` elements, read `distance` further on, are blocks of `to` elements: both
// begin and end where blocks do, or where the other ends.
bool KeepsBlocks(const Expr& from, const Expr& to, const Expr& distance, int64_t block) {
  const bool read_whole = ProveDivisible(to, block) || ProveEqual(to + distance, from);
  const bool written_whole = ProveDivisible(from, block) || ProveEqual(from - distance, to);
  return ProveDivisible(distance, block) && read_whole && written_whole;
}

}  // namespace

std::optional<double> FillOf(const Stage& stage) {
  Expr operand = stage.body[0].arg(0);
  while (operand.op() == ExprOp::kCast) operand = operand.arg(0);
  if (operand.op() != ExprOp::kSelect) return std::nullopt;
  const Expr& fill = operand.arg(2);
  return IsFloat(fill.dtype()) ? fill->float_value : static_cast<double>(fill->int_value);
}

bool KeepsChannels(const Kernel& kernel, TensorId tensor, int64_t block) {
  for (const Stage& stage : kernel.stages) {
    for (const Expr& body : stage.body) {
      for (const Expr& load : LoadsOf(body)) {
        if (load->tensor != tensor) continue;
        if (stage.axes.size() <= kChannelAxis || load.args().size() != stage.axes.size())
          return false;
        const Axis& axis = stage.axes[kChannelAxis];
        const Expr distance = Simplify(load.arg(kChannelAxis) - Var(axis.name));
        const Expr& extent = kernel.tensors[tensor].shape[kChannelAxis];
        if (!distance.IsConst() || !KeepsBlocks(extent, axis.extent, distance, block)) return false;
      }
    }
  }
  return true;
}

std::optional<std::vector<Halo>> ReachOf(const Kernel& kernel, const Stage& stage,
                                         const Expr& load) {
  const Bounds bounds = StageBounds(kernel, stage);
  std::vector<Axis> axes = stage.axes;
  axes.insert(axes.end(), stage.reduce_axes.begin(), stage.reduce_axes.end());
  std::vector<std::string> names;
  for (const Axis& axis : axes) names.push_back(axis.name);
  std::vector<Halo> reach;
  for (size_t i = 0; i < load.args().size(); ++i) {
    const std::optional<Affine> affine = AsAffine(load.arg(i), names, bounds);
    if (!affine) return std::nullopt;
    Expr low = affine->rest, high = affine->rest;
    for (const Axis& axis : axes) {
      auto found = affine->coefficients.find(axis.name);
      if (found == affine->coefficients.end()) continue;
      if (found->second.AsInt().value_or(-1) < 0) return std::nullopt;
      high = high + found->second * (axis.extent - 1);
    }
    const Expr beyond = high - kernel.tensors[load->tensor].shape[i] + 1;
    const Interval before = RangeOf(Simplify(low, bounds), bounds);
    const Interval after = RangeOf(Simplify(beyond, bounds), bounds);
    constexpr int64_t kWidestHalo = 64;
    if (before.min < -kWidestHalo || after.max > kWidestHalo) return std::nullopt;
    reach.push_back({std::max<int64_t>(0, -before.min), std::max<int64_t>(0, after.max)});
  }
  return reach;
}

}  // namespace aotc
