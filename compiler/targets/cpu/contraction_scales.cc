#include "compiler/targets/cpu/contraction_scales.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/ir/expr_simplify.h"
#include "compiler/schedule/anchor.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/contraction_packing.h"

namespace aotc {
namespace {

absl::Status Refuse(std::string_view reason) { return absl::FailedPreconditionError(View(reason)); }

// The element of a constant under casts.
absl::StatusOr<Expr> ConstantLoad(const Kernel& kernel, Expr e) {
  while (e.op() == ExprOp::kCast) e = e.arg(0);
  const bool is_load =
      e.op() == ExprOp::kLoad && kernel.tensors[e->tensor].role == TensorRole::kConstant;
  if (!is_load) return Refuse("scales are no constants of their own");
  return e;
}

// The axis of the load that walks the columns.
std::optional<int> ColumnOf(const Expr& load, const std::string& column) {
  for (size_t i = 0; i < load.args().size(); ++i) {
    if (load.arg(i).IsVar() && load.arg(i)->name == column) return static_cast<int>(i);
  }
  return std::nullopt;
}

absl::Status PackOne(Kernel& kernel, const Expr& load, const std::string& column, int64_t panel) {
  const std::optional<int> position = ColumnOf(load, column);
  if (!position) return Refuse("scales are not those of columns");
  Layout layout;
  layout.axes.push_back({*position, panel, 0});
  for (int i = 0; i < static_cast<int>(load.args().size()); ++i) {
    if (i != *position) layout.axes.push_back({i, 1, 0});
  }
  layout.axes.push_back({*position, 1, panel});
  kernel.tensors[load->tensor].layout = std::move(layout);
  return absl::OkStatus();
}

// floor_div(k, 32) where k is a reduce axis; null where the load has none.
Expr BlockIndex(const Stage& stage, const Expr& load) {
  for (const Expr& index : load.args()) {
    if (index.op() != ExprOp::kFloorDiv || !index.arg(0).IsVar() || !index.arg(1).IsConst())
      continue;
    const bool is_reduced = std::ranges::any_of(
        stage.reduce_axes, [&](const Axis& axis) { return axis.name == index.arg(0)->name; });
    if (is_reduced) return index;
  }
  return {};
}

// The axis in blocks: k -> k_o, k_i.
absl::Status SplitBlocks(Kernel& kernel, Stage& stage, const Expr& index) {
  const std::string name = index.arg(0)->name;
  const int64_t block = *index.arg(1).AsInt();
  const auto axis = std::ranges::find(stage.reduce_axes, name, &Axis::name);
  const std::optional<int64_t> extent = axis->extent.AsInt();
  if (!extent || *extent % block != 0) return Refuse("the last block of scales is not whole");
  const Axis inner = {name + "_i", block};
  *axis = {name + "_o", *extent / block};
  const Expr walked = Var(axis->name) * block + Var(inner.name);
  stage.reduce_axes.insert(axis + 1, inner);
  stage.body[0] = Simplify(Substitute(stage.body[0], {{name, walked}}), StageBounds(kernel, stage));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<WeightScales> ReadScales(const Kernel& kernel, TensorId weights) {
  WeightScales scales;
  for (const Expr& factor : kernel.stages[0].body[0].args()) {
    const std::optional<AnchorOperand> operand = ReadOperand(factor);
    if (!operand || operand->load->tensor != weights) continue;
    if (!operand->scale.valid()) return scales;
    if (BitWidth(operand->load.dtype()) > 8) return Refuse("scaled weights are wider than a byte");
    if (BitWidth(operand->load.dtype()) < 4) return Refuse("scaled weights are of 2 bits");
    AOTC_ASSIGN_OR_RETURN(scales.scale, ConstantLoad(kernel, operand->scale));
    if (!operand->zero_point.valid()) return scales;
    AOTC_ASSIGN_OR_RETURN(scales.zero, ConstantLoad(kernel, operand->zero_point));
    if (!Same(scales.scale.args(), scales.zero.args()))
      return Refuse("zero points are not as scales are");
  }
  return scales;
}

absl::Status PackScales(Kernel& kernel, TensorId weights, const std::string& column,
                        int64_t panel) {
  AOTC_ASSIGN_OR_RETURN(const WeightScales scales, ReadScales(kernel, weights));
  if (!scales.scale.valid()) return absl::OkStatus();
  AOTC_RETURN_IF_ERROR(PackOne(kernel, scales.scale, column, panel));
  if (scales.zero.valid()) {
    AOTC_RETURN_IF_ERROR(PackOne(kernel, scales.zero, column, panel));
    // Tiles read whole bytes.
    const DType stored = scales.zero.dtype();
    if (stored == DType::kI4) StoreAs(kernel, scales.zero->tensor, DType::kI8);
    if (stored == DType::kU4) StoreAs(kernel, scales.zero->tensor, DType::kU8);
  }
  Stage& stage = kernel.stages[0];
  const Expr block = BlockIndex(stage, scales.scale);
  return block.valid() ? SplitBlocks(kernel, stage, block) : absl::OkStatus();
}

}  // namespace aotc
