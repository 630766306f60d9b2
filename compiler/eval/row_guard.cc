// Selects of the row compiler: which conditions split a row into intervals, and the two branches.
#include <algorithm>
#include <utility>

#include "compiler/eval/row_compiler.h"
#include "compiler/support/status.h"

namespace aotc {

// a <= b as b - a >= 0, a < b as b - a - 1 >= 0, equality as both orders; negated likewise.
bool RowCompiler::AddComparison(const Expr& comparison, bool negated, Guard& guard) const {
  std::optional<LinearForm> a = LinearOf(comparison.arg(0), vars_);
  std::optional<LinearForm> b = LinearOf(comparison.arg(1), vars_);
  if (!a || !b) return false;
  LinearForm difference = AddScaled(*b, *a, -1);
  ExprOp op = comparison.op();
  if (op == ExprOp::kLt || op == ExprOp::kLe) {
    if (negated) {  // a > b, a >= b
      difference = AddScaled({}, difference, -1);
      op = op == ExprOp::kLt ? ExprOp::kLe : ExprOp::kLt;
    }
    if (op == ExprOp::kLt) difference.base -= 1;
    guard.forms.push_back(std::move(difference));
    return true;
  }
  if ((op == ExprOp::kEq) == negated) return false;  // "differs" is no interval
  guard.forms.push_back(AddScaled({}, difference, -1));
  guard.forms.push_back(std::move(difference));
  return true;
}

RowCompiler::Guard RowCompiler::CollectGuard(const Expr& condition, bool negated) const {
  ExprOp op = condition.op();
  if (op == ExprOp::kNot) return CollectGuard(condition.arg(0), !negated);
  if (op == (negated ? ExprOp::kOr : ExprOp::kAnd)) {
    Guard guard = CollectGuard(condition.arg(0), negated);
    Guard other = CollectGuard(condition.arg(1), negated);
    guard.forms.insert(guard.forms.end(), other.forms.begin(), other.forms.end());
    guard.rest.insert(guard.rest.end(), other.rest.begin(), other.rest.end());
    return guard;
  }
  Guard guard;
  if (IsComparison(op) && AddComparison(condition, negated, guard)) return guard;
  guard.rest.push_back(negated ? Not(condition) : condition);
  return guard;
}

bool RowCompiler::Varies(const std::vector<LinearForm>& forms) const {
  return std::any_of(forms.begin(), forms.end(),
                     [&](const LinearForm& form) { return form.Coefficient(row_) != 0; });
}

absl::StatusOr<RowCompiler::Known> RowCompiler::CompileSelect(const Expr& e) {
  const Expr &condition = e.arg(0), &if_true = e.arg(1), &if_false = e.arg(2);
  Guard positive = CollectGuard(condition, /*negated=*/false);
  Guard negative = CollectGuard(condition, /*negated=*/true);
  RowSelect select;
  if (!positive.rest.empty() && negative.rest.empty()) {
    select.guards = negative.forms;
    return CompileGuarded(WithArgs(e, {Not(condition), if_false, if_true}), std::move(select), 0);
  }
  if (positive.forms.empty()) {
    AOTC_ASSIGN_OR_RETURN(Known known, Get(condition));
    select.condition = known.reg;
    return CompileGuarded(e, std::move(select), known.level);
  }
  select.guards = positive.forms;
  if (positive.rest.empty()) return CompileGuarded(e, std::move(select), 0);
  // Intervals first; within them the conditions that are not linear.
  Expr rest = positive.rest.front();
  for (size_t i = 1; i < positive.rest.size(); ++i) rest = And(rest, positive.rest[i]);
  Expr inner = WithArgs(e, {rest, if_true, if_false});
  return CompileGuarded(WithArgs(e, {condition, inner, if_false}), std::move(select), 0);
}

// `select` has its condition; branches are arguments 1 and 2 of `e`.
absl::StatusOr<RowCompiler::Known> RowCompiler::CompileGuarded(const Expr& e, RowSelect select,
                                                               int level) {
  for (const LinearForm& guard : select.guards) level = std::max(level, guard.Level());
  bool split = Varies(select.guards) || (select.condition.valid() && !select.condition.uniform);
  AOTC_ASSIGN_OR_RETURN(Branch if_true, CompileBranch(e.arg(1)));
  AOTC_ASSIGN_OR_RETURN(Branch if_false, CompileBranch(e.arg(2)));
  level = std::max({level, if_true.level, if_false.level});
  RowInstruction instruction = {.kind = RowOp::kSelect, .dtype = e.dtype()};
  instruction.detail = static_cast<int32_t>(program_.selects.size());
  // Where condition and both values are uniform, the result is: only lane 0 is computed.
  bool uniform = !split && if_true.value.uniform && if_false.value.uniform;
  instruction.result = NewReg(e.dtype(), uniform);
  select.if_true = EndBranch(std::move(if_true), instruction.result);
  select.if_false = EndBranch(std::move(if_false), instruction.result);
  program_.selects.push_back(std::move(select));
  Emit(instruction, level);
  return Known{e, instruction.result, level};
}

absl::StatusOr<RowCompiler::Branch> RowCompiler::CompileBranch(const Expr& e) {
  OpenBlock();
  absl::StatusOr<Known> value = Get(e);
  int level = scopes_.back().level;
  RowBlock block = CloseBlock();
  if (!value.ok()) return value.status();
  return Branch{std::move(block), value->reg, level};
}

// The block that leaves the value in `result`: the instruction that computes it writes there, or a
// copy does.
RowBlock RowCompiler::EndBranch(Branch branch, Reg result) {
  RowBlock& block = branch.block;
  bool own = !block.empty() && block.back().result == branch.value;
  bool direct = own && block.back().kind != RowOp::kSelect &&
                (branch.value.uniform == result.uniform || block.back().kind == RowOp::kFill);
  if (direct) {
    block.back().result = result;
  } else {
    block.push_back({.kind = RowOp::kCopy, .result = result, .a = branch.value});
  }
  return std::move(block);
}

}  // namespace aotc
