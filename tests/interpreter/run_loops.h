// Runs the loops of a kernel on memory, with every access checked against the bounds of its buffer.
//
//   LoopRunner runner = *LoopRunner::Make(variant.loops, CpuTiles());
//   AOTC_RETURN_IF_ERROR(runner.Run(params, {{"n", 3}}));
#ifndef AOTC_TESTS_INTERPRETER_RUN_LOOPS_H_
#define AOTC_TESTS_INTERPRETER_RUN_LOOPS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/eval/evaluate.h"
#include "compiler/ir/loops.h"
#include "compiler/schedule/tile.h"
#include "tests/interpreter/expr_code.h"
#include "tests/interpreter/run_tile.h"

namespace aotc {

class LoopRunner {
 public:
  // Calls of the tile functions of a table do what its rows say. Unimplemented: a tile that is not
  // in it or that threads share, a barrier.
  static absl::StatusOr<LoopRunner> Make(const LoopFunction& function, TileTable tiles = {});

  // All tasks, and all threads of each, one after the other. `params`: memory of each of the
  // function's params, in order.
  absl::Status Run(const std::vector<Memory>& params, const SymbolValues& symbols) const;

 private:
  struct Code {
    StmtKind kind = StmtKind::kBlock;
    LoopKind loop = LoopKind::kSerial;
    size_t index = 0;  // slot, buffer or tile
    int min = -1, extent = -1, value = -1, place = -1;
    std::vector<Code> body = {};
    std::vector<Code> else_body = {};
  };

  LoopRunner(const LoopFunction& function, TileTable tiles) : function_(&function), table_(tiles) {}
  absl::StatusOr<Code> Translate(const Stmt& stmt);
  absl::StatusOr<std::vector<Code>> TranslateAll(const std::vector<Stmt>& body);
  absl::StatusOr<size_t> AddTile(const TileCall& call);
  void Execute(const Code& code, Frame& frame) const;
  void ExecuteFor(const Code& code, Frame& frame) const;
  void ExecuteStore(const Code& code, Frame& frame) const;
  void RunTask(int64_t task, Frame& frame) const;

  const LoopFunction* function_;
  TileTable table_ = {};
  std::vector<TileRunner> tiles_ = {};
  std::vector<std::vector<Code>> methods_ = {};  // of the tiles' objects
  ExprCode exprs_ = {};
  Code code_ = {};
  int tasks_ = -1;
  size_t task_slot_ = 0, thread_slot_ = 0, lane_slot_ = 0;
};

}  // namespace aotc

#endif  // AOTC_TESTS_INTERPRETER_RUN_LOOPS_H_
