// Runs the loops of a kernel on memory, with every access checked against the bounds of its buffer.
//
//   LoopRunner runner = *LoopRunner::Make(variant.loops);
//   AOTC_RETURN_IF_ERROR(runner.Run(params, {{"n", 3}}));
#ifndef AOTC_TESTS_INTERPRETER_RUN_LOOPS_H_
#define AOTC_TESTS_INTERPRETER_RUN_LOOPS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/eval/evaluate.h"
#include "compiler/ir/loops.h"
#include "tests/interpreter/expr_code.h"

namespace aotc {

class LoopRunner {
 public:
  // Unimplemented: the loops call tile functions or have barriers, which need a compiler.
  static absl::StatusOr<LoopRunner> Make(const LoopFunction& function);

  // All tasks, and all threads of each, one after the other. `params`: memory of each of the
  // function's params, in order.
  absl::Status Run(const std::vector<Memory>& params, const SymbolValues& symbols) const;

 private:
  struct Code {
    StmtKind kind = StmtKind::kBlock;
    LoopKind loop = LoopKind::kSerial;
    size_t index = 0;  // slot or buffer
    int min = -1, extent = -1, value = -1, place = -1;
    std::vector<Code> body = {};
    std::vector<Code> else_body = {};
  };

  explicit LoopRunner(const LoopFunction& function) : function_(&function) {}
  Code Translate(const Stmt& stmt);
  void Execute(const Code& code, Frame& frame) const;
  void ExecuteFor(const Code& code, Frame& frame) const;
  void ExecuteStore(const Code& code, Frame& frame) const;
  void RunTask(int64_t task, Frame& frame) const;

  const LoopFunction* function_;
  ExprCode exprs_ = {};
  Code code_ = {};
  int tasks_ = -1;
  size_t task_slot_ = 0, thread_slot_ = 0, lane_slot_ = 0;
};

}  // namespace aotc

#endif  // AOTC_TESTS_INTERPRETER_RUN_LOOPS_H_
