#include "compiler/layout/reads.h"

#include <algorithm>
#include <string>

#include "compiler/ir/expr_simplify.h"
#include "compiler/schedule/anchor.h"
#include "compiler/schedule/stage_kinds.h"

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

const Stage* ContractionOf(const Kernel& kernel) {
  for (const Stage& stage : kernel.stages) {
    if (IsContraction(stage)) return &stage;
  }
  return nullptr;
}

// Output columns on axis 1 and at least one axis behind them that slides over the input.
bool IsConvolution(const Graph& graph, const NodeKernel& node, const std::set<ValueId>& weights) {
  const Stage* stage = ContractionOf(node.kernel);
  if (stage == nullptr || stage->axes.size() < 3 || node.inputs.size() < 2) return false;
  const bool is_constant = graph.values[node.inputs[1]].constant.has_value();
  if (!is_constant && !weights.contains(node.inputs[1])) return false;
  const Expr weights_load = OperandLoad(stage->body[0].arg(1));
  return weights_load.valid() && IsOwnIndex(weights_load.arg(0), stage->axes[kChannelAxis]) &&
         !UsesVar(weights_load, stage->axes.back().name);
}

bool IsOfIntegers(const Kernel& kernel) {
  const Stage* stage = ContractionOf(kernel);
  return stage != nullptr && stage->body[0].dtype() == DType::kI32;
}

// The rows of a matrix product of bytes are read in groups, the last of which may not be whole.
int64_t RowsLack(const Graph& graph, const NodeKernel& node) {
  const Stage* stage = ContractionOf(node.kernel);
  if (stage == nullptr || stage->reduce_axes.size() != 1 || node.inputs.size() < 2) return 0;
  if (!graph.values[node.inputs[1]].constant) return 0;
  const Expr load = OperandLoad(stage->body[0].arg(0));
  const Axis& axis = stage->reduce_axes[0];
  if (!load.valid() || load->tensor != node.kernel.params[0] || load.args().empty()) return 0;
  const Expr& index = load.args().back();
  const int64_t extent = axis.extent.AsInt().value_or(0);
  return index.IsVar() && index->name == axis.name
             ? (kIntegerGroup - extent % kIntegerGroup) % kIntegerGroup
             : 0;
}

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
        if (stage.axes.size() <= kChannelAxis || load.args().size() <= kChannelAxis) return false;
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
