#include "compiler/eval/row_compiler.h"

#include <algorithm>
#include <utility>

#include "compiler/ir/expr_evaluate.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {

RowCompiler::RowCompiler(const LoopVars& vars, int row, const std::vector<TensorData>& tensors)
    : vars_(vars), row_(row), tensors_(tensors), scopes_(1) {
  program_.levels.resize(vars.size() + 1);
}

absl::StatusOr<Reg> RowCompiler::Compile(const Expr& e) {
  AOTC_ASSIGN_OR_RETURN(Known known, Get(e));
  return known.reg;
}

void RowCompiler::OpenBlock() { scopes_.emplace_back(); }

RowBlock RowCompiler::CloseBlock() {
  RowBlock block = std::move(scopes_.back().block);
  scopes_.pop_back();
  return block;
}

void RowCompiler::Emit(RowInstruction instruction, int level) {
  Scope& scope = scopes_.back();
  scope.level = std::max(scope.level, level);
  RowBlock& block = scopes_.size() == 1 ? program_.levels[static_cast<size_t>(level)] : scope.block;
  block.push_back(instruction);
}

void RowCompiler::Bind(const std::string& name, Reg reg) { bound_[name] = reg; }

Reg RowCompiler::NewReg(DType dtype, bool uniform) {
  bool is_float = IsFloat(dtype);
  int32_t& next = is_float ? program_.float_registers : program_.int_registers;
  return {.index = next++, .is_float = is_float, .uniform = uniform};
}

const RowCompiler::Known* RowCompiler::Find(const Expr& e) const {
  for (const Scope& scope : scopes_) {
    for (const Known& known : scope.known) {
      if (Same(known.expr, e)) return &known;
    }
  }
  return nullptr;
}

absl::StatusOr<RowCompiler::Known> RowCompiler::Get(const Expr& e) {
  if (const Known* known = Find(e)) {
    scopes_.back().level = std::max(scopes_.back().level, known->level);
    return *known;
  }
  AOTC_ASSIGN_OR_RETURN(Known known, CompileNew(e));
  known.expr = e;
  scopes_.back().level = std::max(scopes_.back().level, known.level);
  scopes_.back().known.push_back(known);
  return known;
}

absl::StatusOr<RowCompiler::Known> RowCompiler::CompileNew(const Expr& e) {
  if (e.lanes() != 1) return absl::InternalError("the evaluator takes scalar expressions only");
  if (e.IsConst()) return CompileConst(e);
  if (e.IsVar()) {
    if (auto found = bound_.find(e->name); found != bound_.end()) {
      return Known{e, found->second, DeepestLevel()};
    }
  }
  if (std::optional<LinearForm> form = LinearOf(e, vars_)) return Linear(e, *form);
  if (e.IsVar()) return absl::InternalError(StrCat("unknown variable ", e->name));
  if (e.op() == ExprOp::kLoad) return CompileLoad(e);
  if (e.op() == ExprOp::kBitCast) return CompileBitCast(e);
  if (e.op() == ExprOp::kSelect) return CompileSelect(e);
  if (e.op() == ExprOp::kTable) return Get(WithoutTables(e));
  return CompileOperator(e);
}

absl::StatusOr<RowCompiler::Known> RowCompiler::CompileConst(const Expr& e) {
  RowInstruction fill = {.kind = RowOp::kFill, .dtype = e.dtype()};
  fill.result = NewReg(e.dtype(), /*uniform=*/true);
  fill.float_value = RoundToDType(e.dtype(), e->float_value);
  fill.int_value = e->int_value;
  Emit(fill, 0);
  return Known{e, fill.result, 0};
}

RowCompiler::Known RowCompiler::Linear(const Expr& e, const LinearForm& form) {
  RowInstruction linear = {.kind = RowOp::kLinear, .dtype = DType::kI64};
  linear.result = NewReg(DType::kI64, form.Coefficient(row_) == 0);
  linear.detail = static_cast<int32_t>(program_.forms.size());
  program_.forms.push_back(form);
  Emit(linear, form.Level());
  return {e, linear.result, form.Level()};
}

absl::StatusOr<RowCompiler::Known> RowCompiler::CompileOperator(const Expr& e) {
  if (!IsUnary(e.op()) && !IsBinary(e.op())) {
    return absl::InternalError(StrCat("the evaluator has no ", ExprOpName(e.op())));
  }
  AOTC_ASSIGN_OR_RETURN(Known a, Get(e.arg(0)));
  RowInstruction instruction = {.kind = RowOp::kUnary, .op = e.op(), .dtype = e.arg(0).dtype()};
  instruction.a = a.reg;
  int level = a.level;
  bool uniform = a.reg.uniform;
  if (IsBinary(e.op())) {
    AOTC_ASSIGN_OR_RETURN(Known b, Get(e.arg(1)));
    instruction.kind = RowOp::kBinary;
    instruction.b = b.reg;
    if (PutsConstantFirst(e)) std::swap(instruction.a, instruction.b);
    level = std::max(level, b.level);
    uniform = uniform && b.reg.uniform;
  }
  if (e.op() == ExprOp::kCast) {
    // Values of narrower floats are values of wider ones.
    DType from = e.arg(0).dtype();
    bool widens = IsFloat(from) && IsFloat(e.dtype()) && BitWidth(from) < BitWidth(e.dtype()) &&
                  BitWidth(e.dtype()) >= 32;
    if (widens) return Known{e, a.reg, a.level};
    instruction.kind = RowOp::kCast;
    instruction.from = from;
    instruction.dtype = e.dtype();
  }
  instruction.result = NewReg(e.dtype(), uniform);
  Emit(instruction, level);
  return Known{e, instruction.result, level};
}

absl::StatusOr<RowCompiler::Known> RowCompiler::CompileBitCast(const Expr& e) {
  const Expr& x = e.arg(0);
  const bool is_stored =
      x.op() == ExprOp::kLoad &&
      tensors_[static_cast<size_t>(x->tensor.index())].source.dtype() == x.dtype();
  if (is_stored && IsInteger(e.dtype()) && !IsSubByte(e.dtype())) return CompileLoad(x, e.dtype());
  AOTC_ASSIGN_OR_RETURN(const Known operand, Get(x));
  const Reg result = NewReg(e.dtype(), operand.reg.uniform);
  Emit({.kind = RowOp::kBitCast,
        .dtype = e.dtype(),
        .from = x.dtype(),
        .result = result,
        .a = operand.reg},
       operand.level);
  return Known{e, result, operand.level};
}

absl::StatusOr<int> RowCompiler::AddIndex(const Expr& index, int axis, RowLoad& load) {
  const TensorData& tensor = tensors_[static_cast<size_t>(load.tensor.index())];
  if (std::optional<LinearForm> form = LinearOf(index, vars_)) {
    load.offset = AddScaled(load.offset, *form, tensor.strides[static_cast<size_t>(axis)]);
    auto [least, largest] = RangeOfForm(*form, vars_);
    if (least >= 0 && largest < tensor.dims[static_cast<size_t>(axis)]) return form->Level();
    load.checks.push_back({*form, axis});
    return form->Level();
  }
  AOTC_ASSIGN_OR_RETURN(Known known, Get(index));
  load.indirect.push_back({known.reg, axis});
  return known.level;
}

absl::StatusOr<RowCompiler::Known> RowCompiler::CompileLoad(const Expr& e, DType bits) {
  RowLoad load = {.tensor = e->tensor, .bits = bits};
  const TensorData& tensor = tensors_[static_cast<size_t>(e->tensor.index())];
  if (tensor.dims.size() != e.args().size()) {
    return absl::InternalError(StrCat("a load with ", e.args().size(),
                                      " indices of a tensor of rank ", tensor.dims.size()));
  }
  int level = 0;
  for (size_t axis = 0; axis < e.args().size(); ++axis) {
    AOTC_ASSIGN_OR_RETURN(int index_level, AddIndex(e.arg(axis), static_cast<int>(axis), load));
    level = std::max(level, index_level);
  }
  bool uniform = load.offset.Coefficient(row_) == 0;
  for (const CheckedIndex& check : load.checks) {
    uniform = uniform && check.form.Coefficient(row_) == 0;
  }
  for (const IndirectIndex& indirect : load.indirect) uniform = uniform && indirect.index.uniform;
  // In-range indices of a splat do not matter: the load belongs to the level that its checks need.
  if (load.checks.empty() && load.indirect.empty()) level = load.offset.Level();
  const DType dtype = bits == DType::kUndefined ? e.dtype() : bits;
  RowInstruction instruction = {.kind = RowOp::kLoad, .dtype = dtype};
  instruction.result = NewReg(dtype, uniform);
  instruction.detail = static_cast<int32_t>(program_.loads.size());
  program_.loads.push_back(std::move(load));
  Emit(instruction, level);
  return Known{e, instruction.result, level};
}

}  // namespace aotc
