// RowCompiler: compiles scalar expressions into a row program.
//
//   RowCompiler compiler(vars, /*row=*/2, tensors);
//   Reg body = *compiler.Compile(stage.body[0]);
//   RowProgram program = compiler.Take();
#ifndef AOTC_COMPILER_EVAL_ROW_COMPILER_H_
#define AOTC_COMPILER_EVAL_ROW_COMPILER_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/eval/row_program.h"
#include "compiler/eval/tensor_data.h"

namespace aotc {

class RowCompiler {
 public:
  // `row` is the position of the row variable in `vars`; `tensors` by TensorId.
  RowCompiler(const LoopVars& vars, int row, const std::vector<TensorData>& tensors);

  // The register of the value; instructions go to the levels of the program, or into the open
  // block. Error: a variable that nobody knows, lanes, types without arithmetic.
  absl::StatusOr<Reg> Compile(const Expr& e);
  // Instructions up to CloseBlock go into a block of their own.
  void OpenBlock();
  RowBlock CloseBlock();
  void Emit(RowInstruction instruction, int level);
  // Expressions may name this register from now on.
  void Bind(const std::string& name, Reg reg);
  Reg NewReg(DType dtype, bool uniform);
  // The level of the innermost loop.
  int DeepestLevel() const { return static_cast<int>(vars_.size()); }

  RowProgram Take() { return std::move(program_); }

 private:
  struct Known {
    Expr expr;
    Reg reg;
    int level;
  };
  struct Scope {
    std::vector<Known> known;  // looked up by structural equality
    RowBlock block;
    int level = 0;  // of what was compiled inside
  };
  struct Branch {
    RowBlock block;
    Reg value;
    int level;
  };
  // A guard in the making: forms that are all >= 0, and what is not linear.
  struct Guard {
    std::vector<LinearForm> forms;
    std::vector<Expr> rest;
  };

  const Known* Find(const Expr& e) const;
  absl::StatusOr<Known> CompileNew(const Expr& e);
  absl::StatusOr<Known> Get(const Expr& e);
  absl::StatusOr<Known> CompileConst(const Expr& e);
  absl::StatusOr<Known> CompileOperator(const Expr& e);
  absl::StatusOr<Known> CompileBitCast(const Expr& e);
  // As the integer type `bits`, where it is one: the stored bits.
  absl::StatusOr<Known> CompileLoad(const Expr& e, DType bits = DType::kUndefined);
  absl::StatusOr<Known> CompileSelect(const Expr& e);
  absl::StatusOr<Known> CompileGuarded(const Expr& e, RowSelect select, int level);
  absl::StatusOr<Branch> CompileBranch(const Expr& e);
  static RowBlock EndBranch(Branch branch, Reg result);
  absl::StatusOr<int> AddIndex(const Expr& index, int axis, RowLoad& load);
  Known Linear(const Expr& e, const LinearForm& form);
  Guard CollectGuard(const Expr& condition, bool negated) const;
  bool AddComparison(const Expr& comparison, bool negated, Guard& guard) const;
  bool Varies(const std::vector<LinearForm>& forms) const;

  const LoopVars& vars_;
  const int row_;
  const std::vector<TensorData>& tensors_;
  RowProgram program_;
  std::map<std::string, Reg> bound_;
  std::vector<Scope> scopes_;  // the first is the program itself
};

}  // namespace aotc

#endif  // AOTC_COMPILER_EVAL_ROW_COMPILER_H_
