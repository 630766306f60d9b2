#include "compiler/targets/cpu/contraction_packing.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/schedule/anchor.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

absl::Status Refuse(std::string_view reason) { return absl::FailedPreconditionError(View(reason)); }

// The block by which the input's layout splits the axis that `reduce` walks; 0 where it does not.
int64_t InputBlock(const Kernel& kernel, const Expr& input, const std::string& reduce) {
  const KernelTensor& tensor = kernel.tensors[input->tensor];
  for (const StorageAxis& axis : tensor.layout.axes) {
    const Expr& index = input.arg(static_cast<size_t>(axis.axis));
    if (axis.modulus > 0 && index.IsVar() && index->name == reduce) return axis.modulus;
  }
  return 0;
}

// Integer tiles take this many steps at a time.
constexpr int64_t kGroup = 4;

// The last reduce axis in groups: c_i -> c_i_o, c_i_i. Weights hold zeros where the last group is
// not whole; what the input holds there does not matter, but it is read.
absl::Status SplitGroups(Stage& stage) {
  Axis& axis = stage.reduce_axes.back();
  const std::optional<int64_t> extent = axis.extent.AsInt();
  if (!extent) return Refuse("the reduction has a symbolic axis innermost");
  const Axis inner = {axis.name + "_i", kGroup};
  const Expr outer = Var(axis.name + "_o");
  stage.body[0] = Substitute(stage.body[0], {{axis.name, outer * kGroup + Var(inner.name)}});
  axis = {axis.name + "_o", (*extent + kGroup - 1) / kGroup};
  stage.reduce_axes.push_back(inner);
  return absl::OkStatus();
}

// The logical axis that lies innermost in the input.
size_t InnermostAxis(const Kernel& kernel, const Expr& input) {
  const std::vector<StorageAxis>& axes = kernel.tensors[input->tensor].layout.axes;
  return axes.empty() ? input.args().size() - 1 : static_cast<size_t>(axes.back().axis);
}

// Where the reduction walks nothing of what lies innermost in the input, a group has one step: the
// others are multiplied by weights of 0, behind an axis of the weights that has one element.
absl::Status AddInnermostStep(const Kernel& kernel, Stage& stage, Operands& operands) {
  if (operands.input.args().empty()) return Refuse("the input is one number");
  const size_t innermost = InnermostAxis(kernel, operands.input);
  const Expr& index = operands.input.arg(innermost);
  const auto walks = [&](const Axis& axis) { return UsesVar(index, axis.name); };
  if (std::ranges::any_of(stage.reduce_axes, walks)) return absl::OkStatus();
  const Shape& shape = kernel.tensors[operands.weights->tensor].shape;
  size_t single = shape.size();
  while (single > 0 && !(operands.weights.arg(single - 1).IsInt(0) && shape[single - 1].IsInt(1)))
    --single;
  if (single == 0) return Refuse("groups of the reduction do not lie together");
  const Axis step = {"step", kGroup};
  const auto moved = [&](const Expr& load, size_t at) {
    std::vector<Expr> indices = load.args();
    indices[at] = indices[at] + Var(step.name);
    return Load(load->tensor, std::move(indices), load.dtype());
  };
  const Operands before = operands;
  operands = {moved(before.input, innermost), moved(before.weights, single - 1)};
  stage.body[0] = Transform(stage.body[0], [&](const Expr& node) {
    return Same(node, before.input)     ? operands.input
           : Same(node, before.weights) ? operands.weights
                                        : node;
  });
  stage.reduce_axes.push_back(step);
  return absl::OkStatus();
}

// Splits reduce axes as the input is blocked, inner part last: c, kh, kw -> c_o, kh, kw, c_i.
// Inputs and weights hold zeros where the padded extent exceeds the logical one.
void SplitReduceAxes(Kernel& kernel, Stage& stage, const Expr& input) {
  std::vector<Axis> outer, inner;
  Substitution split;
  for (const Axis& axis : stage.reduce_axes) {
    const int64_t block = InputBlock(kernel, input, axis.name);
    if (block == 0) {
      outer.push_back(axis);
      continue;
    }
    outer.push_back({axis.name + "_o", Simplify(CeilDiv(axis.extent, block))});
    inner.push_back({axis.name + "_i", block});
    split[axis.name] = Var(axis.name + "_o") * block + Var(axis.name + "_i");
  }
  stage.body[0] = Substitute(stage.body[0], split);
  outer.insert(outer.end(), inner.begin(), inner.end());
  stage.reduce_axes = std::move(outer);
}

// The variable, or a constant more: taps that only read padding were left out.
bool IsShifted(const Expr& index, const std::string& name) {
  if (index.IsVar()) return index->name == name;
  return index.op() == ExprOp::kAdd && IsShifted(index.arg(0), name) && index.arg(1).IsConst();
}

// The axis of the weights that is of a single column: of filters the first, else the last that
// nothing walks.
std::optional<int> SingleColumn(const Expr& weights) {
  const size_t rank = weights.args().size();
  size_t end = rank > 2 ? 1 : rank;
  while (end > 0 && !weights.arg(end - 1).IsInt(0)) --end;
  return end == 0 ? std::nullopt : std::optional(static_cast<int>(end) - 1);
}

// [N/panel, reduce axes as the input has them, N%panel] for the weights' logical axes.
absl::StatusOr<Layout> PackedLayout(const Kernel& kernel, const Stage& stage,
                                    const Operands& operands, const std::string& column,
                                    int64_t panel) {
  Layout layout;
  std::vector<StorageAxis> steps, inner;
  std::optional<int> column_position;
  auto position_of = [&](const std::string& name) -> std::optional<int> {
    for (size_t i = 0; i < operands.weights.args().size(); ++i) {
      if (IsShifted(operands.weights.arg(i), name)) return static_cast<int>(i);
    }
    return std::nullopt;
  };
  column_position = position_of(column);
  if (!column_position) column_position = SingleColumn(operands.weights);
  if (!column_position) return Refuse("the weights' columns are not a plain axis");
  for (const Axis& axis : stage.reduce_axes) {
    if (axis.extent.IsInt(1)) continue;  // its index is 0
    const std::optional<int> position = position_of(axis.name);
    if (!position) return Refuse("a reduce axis is not a plain axis of the weights");
    const int64_t block = InputBlock(kernel, operands.input, axis.name);
    steps.push_back({*position, block == 0 ? 1 : block, 0});
    if (block > 0) inner.push_back({*position, 1, block});
  }
  layout.axes.push_back({*column_position, panel, 0});
  for (const StorageAxis& axis : steps) layout.axes.push_back(axis);
  for (const StorageAxis& axis : inner) layout.axes.push_back(axis);
  for (size_t i = 0; i < operands.weights.args().size(); ++i) {
    const int axis = static_cast<int>(i);
    const bool used = std::any_of(layout.axes.begin(), layout.axes.end(),
                                  [&](const StorageAxis& s) { return s.axis == axis; });
    if (!used && !operands.weights.arg(i).IsConst())
      return Refuse("the weights have another index");
    if (!used) layout.axes.insert(layout.axes.begin() + 1, {axis, 1, 0});
  }
  layout.axes.push_back({*column_position, 1, panel});
  return layout;
}

// Groups of the innermost step behind the columns: [..., k/4, N%panel, k%4].
void GroupInnermost(Layout& layout) {
  StorageAxis& step = layout.axes[layout.axes.size() - 2];
  const StorageAxis inner = {step.axis, 1, kGroup};
  step = {step.axis, kGroup, step.modulus / kGroup};
  layout.axes.push_back(inner);
}

}  // namespace

absl::StatusOr<Operands> FindOperands(const Kernel& kernel, const Stage& stage) {
  const Expr a = OperandLoad(stage.body[0].arg(0)), b = OperandLoad(stage.body[0].arg(1));
  const bool a_constant = kernel.tensors[a->tensor].role == TensorRole::kConstant;
  const bool b_constant = kernel.tensors[b->tensor].role == TensorRole::kConstant;
  if (a_constant == b_constant) return Refuse("no operand, or both, is constant");
  Operands operands = a_constant ? Operands{b, a} : Operands{a, b};
  if (ReadOperand(stage.body[0].arg(a_constant ? 1 : 0))->scale.valid())
    return Refuse("the input is scaled");
  const bool is_integer = stage.body[0].dtype() == DType::kI32 &&
                          operands.input.dtype() == DType::kU8 &&
                          operands.weights.dtype() == DType::kI8;
  if (stage.body[0].dtype() != DType::kF32 && !is_integer)
    return Refuse("the accumulator is not f32, nor i32 of u8 times i8");
  return operands;
}

absl::StatusOr<size_t> ColumnAxis(const Stage& stage, const Operands& operands) {
  std::optional<size_t> column;
  for (size_t i = 0; i < stage.axes.size(); ++i) {
    const std::string& name = stage.axes[i].name;
    if (!UsesVar(operands.weights, name)) continue;
    if (UsesVar(operands.input, name)) return Refuse("an output axis indexes both operands");
    if (column) return Refuse("two output axes index the weights");
    column = i;
  }
  if (column) return *column;
  // One column: the only axis of that kind that the input does not need either, of images that of
  // channels, of a matrix the last.
  constexpr size_t kChannels = 1;
  const size_t rank = stage.axes.size();
  const size_t only = operands.weights.args().size() > 2 ? kChannels : rank - 1;
  if (only < rank && stage.axes[only].extent.IsInt(1)) return only;
  return Refuse("no output axis indexes the weights");
}

void StoreAs(Kernel& kernel, TensorId constant, DType dtype) {
  kernel.tensors[constant].dtype = dtype;
  for (Stage& stage : kernel.stages) {
    for (Expr& body : stage.body) {
      body = Transform(body, [&](const Expr& node) {
        if (node.op() == ExprOp::kCast) return Cast(node.dtype(), node.arg(0));
        if (node.op() != ExprOp::kLoad || node->tensor != constant) return node;
        return Load(node->tensor, node.args(), dtype);
      });
    }
  }
}

void WeightsAsFloat(Kernel& kernel, TensorId weights) {
  const DType stored = kernel.tensors[weights].dtype;
  if (stored != DType::kF16 && stored != DType::kBF16) StoreAs(kernel, weights, DType::kF32);
}

absl::Status PackTaps(Kernel& kernel, const Operands& operands) {
  if (operands.weights.args().empty()) return Refuse("the weights are one number");
  KernelTensor& weights = kernel.tensors[operands.weights->tensor];
  const Axis& taps = kernel.stages[0].reduce_axes.back();
  const Expr& index = operands.weights.args().back();
  if (taps.extent.IsInt(1) || !index.IsVar() || index->name != taps.name)
    return Refuse("a row of the window is one tap");
  Layout& layout = weights.layout;  // blocked as the output is
  const int last = static_cast<int>(weights.shape.size()) - 1;
  const auto row = std::ranges::find(layout.axes, last, &StorageAxis::axis);
  if (layout.axes.empty() || row == layout.axes.end() || layout.axes.back().axis != 0)
    return Refuse("the weights are not in blocks of channels");
  *row = {last, kTapGroup, 0};
  layout.axes.push_back({last, 1, kTapGroup});
  return absl::OkStatus();
}

absl::Status PackWeights(Kernel& kernel, Operands operands, const std::string& column,
                         int64_t panel) {
  Stage& stage = kernel.stages[0];
  const TensorId weights = operands.weights->tensor;
  if (stage.body[0].dtype() == DType::kI32)
    AOTC_RETURN_IF_ERROR(AddInnermostStep(kernel, stage, operands));
  AOTC_ASSIGN_OR_RETURN(kernel.tensors[weights].layout,
                        PackedLayout(kernel, stage, operands, column, panel));
  SplitReduceAxes(kernel, stage, operands.input);
  const bool is_scaled = ReadContraction(stage)->HasScales();
  if (stage.body[0].dtype() == DType::kI32) {
    GroupInnermost(kernel.tensors[weights].layout);
    return SplitGroups(stage);
  }
  if (!is_scaled) WeightsAsFloat(kernel, weights);
  return absl::OkStatus();
}

}  // namespace aotc
