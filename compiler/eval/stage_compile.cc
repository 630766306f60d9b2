// Compilation of a stage: body, identity and combiner, and where results go.
#include <algorithm>

#include "compiler/eval/stage_runner.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Names that no expression of a kernel can have.
std::string EarlierName(size_t component) { return StrCat("earlier ", component); }
std::string LaterName(size_t component) { return StrCat("later ", component); }

// Writes the value straight into `target` where the block computed it last, else copies it there.
void MoveResult(RowBlock& block, Reg value, Reg target) {
  if (!block.empty() && block.back().result == value && block.back().kind != RowOp::kSelect &&
      !value.uniform) {
    block.back().result = target;
  } else {
    block.push_back({.kind = RowOp::kCopy, .result = target, .a = value});
  }
}

}  // namespace

StageRunner::StageRunner(const Stage& stage, const StagePlan& plan,
                         std::vector<TensorData>& tensors)
    : stage_(stage), plan_(plan), tensors_(tensors), components_(stage.results.size()) {}

absl::Status StageRunner::Compile(RowCompiler& compiler) {
  for (size_t k = 0; k < components_.size(); ++k) {
    Component& component = components_[k];
    component.dtype = plan_.body[k].dtype();
    TensorData& tensor = tensors_[static_cast<size_t>(stage_.results[k].tensor.index())];
    if (IsFloat(component.dtype) != IsFloat(tensor.dtype)) {
      return absl::InternalError(StrCat("a body of type ", DTypeName(component.dtype),
                                        " for a tensor of ", DTypeName(tensor.dtype)));
    }
    component.store = StoreForm(stage_.results[k]);
    AddZeroVars(stage_.results[k], component);
  }
  if (stage_.IsReduction()) return CompileReduction(compiler);
  for (size_t k = 0; k < components_.size(); ++k) {
    AOTC_ASSIGN_OR_RETURN(components_[k].body, compiler.Compile(plan_.body[k]));
    components_[k].accumulator = components_[k].body;
  }
  return absl::OkStatus();
}

LinearForm StageRunner::StoreForm(const StageResult& result) const {
  const TensorData& tensor = tensors_[static_cast<size_t>(result.tensor.index())];
  LinearForm form;
  for (size_t axis = 0; axis < tensor.dims.size(); ++axis) {
    int position = plan_.axis_position[axis];
    if (position < 0) continue;
    form = AddScaled(form, {.terms = {{position, 1}}}, tensor.strides[axis]);
  }
  return form;
}

void StageRunner::AddZeroVars(const StageResult& result, Component& component) const {
  for (size_t axis = static_cast<size_t>(result.axis_count); axis < stage_.axes.size(); ++axis) {
    int position = plan_.axis_position[axis];
    if (position >= 0) component.zero_vars.push_back(position);
  }
}

absl::Status StageRunner::CompileReduction(RowCompiler& compiler) {
  if (stage_.combiner.combine.size() != components_.size() ||
      stage_.combiner.identity.size() != components_.size()) {
    return absl::InternalError("combiner and results differ in number");
  }
  for (size_t k = 0; k < components_.size(); ++k) {
    Component& component = components_[k];
    AOTC_ASSIGN_OR_RETURN(component.identity, compiler.Compile(stage_.combiner.identity[k]));
    component.accumulator = compiler.NewReg(component.dtype, /*uniform=*/false);
  }
  if (plan_.empty_reduction) return absl::OkStatus();
  const Combiner& combiner = stage_.combiner;
  sums_floats_ =
      combiner.name == "sum" && components_.size() == 1 && components_[0].accumulator.is_float;
  if (sums_floats_ && !plan_.RowIsReduced()) {
    AOTC_ASSIGN_OR_RETURN(bool done, CompileMulAdd(compiler));
    if (done) return absl::OkStatus();
  }
  for (size_t k = 0; k < components_.size(); ++k) {
    AOTC_ASSIGN_OR_RETURN(components_[k].body, compiler.Compile(plan_.body[k]));
  }
  return CompileCombiner(compiler);
}

// accumulator += a * b as one instruction.
absl::StatusOr<bool> StageRunner::CompileMulAdd(RowCompiler& compiler) {
  const Expr& body = plan_.body[0];
  if (body.op() != ExprOp::kMul) return false;
  AOTC_ASSIGN_OR_RETURN(Reg a, compiler.Compile(body.arg(0)));
  AOTC_ASSIGN_OR_RETURN(Reg b, compiler.Compile(body.arg(1)));
  combine_.push_back(
      {.kind = RowOp::kMulAdd, .result = components_[0].accumulator, .a = a, .b = b});
  return true;
}

// The combiner's operands are the accumulators and bodies themselves where the row is an output
// axis; folding a row needs registers of its own.
absl::Status StageRunner::CompileCombiner(RowCompiler& compiler) {
  Substitution names;
  for (size_t k = 0; k < components_.size(); ++k) {
    Component& component = components_[k];
    component.earlier = component.accumulator;
    component.later = component.body;
    component.combined = component.accumulator;
    if (plan_.RowIsReduced()) {
      for (Reg* reg : {&component.earlier, &component.later, &component.combined, &component.row}) {
        *reg = compiler.NewReg(component.dtype, /*uniform=*/false);
      }
    }
    compiler.Bind(EarlierName(k), component.earlier);
    compiler.Bind(LaterName(k), component.later);
    names[StrCat("a", k)] = Var(EarlierName(k), component.dtype);
    names[StrCat("b", k)] = Var(LaterName(k), component.dtype);
  }
  compiler.OpenBlock();
  std::vector<Reg> values;
  absl::Status status;
  for (const Expr& combine : stage_.combiner.combine) {
    absl::StatusOr<Reg> value = compiler.Compile(Substitute(combine, names));
    if (!value.ok()) status.Update(value.status());
    values.push_back(value.value_or(Reg{}));
  }
  combine_ = compiler.CloseBlock();
  AOTC_RETURN_IF_ERROR(status);
  if (values.size() == 1) {
    MoveResult(combine_, values[0], components_[0].combined);
    return absl::OkStatus();
  }
  // A result may be another component's operand: all are computed before any is written.
  std::vector<Reg> kept;
  for (size_t k = 0; k < values.size(); ++k) {
    kept.push_back(compiler.NewReg(components_[k].dtype, /*uniform=*/false));
    MoveResult(combine_, values[k], kept[k]);
  }
  for (size_t k = 0; k < values.size(); ++k) {
    combine_.push_back({.kind = RowOp::kCopy, .result = components_[k].combined, .a = kept[k]});
  }
  return absl::OkStatus();
}

}  // namespace aotc
