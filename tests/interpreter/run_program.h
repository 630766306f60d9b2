// Runs a Program as the generated host code would, by interpreting its loops.
//
//   RunOptions options{.isa = "x86-64-v3"};
//   std::vector<Constant> outputs = *RunProgram(program, inputs, {{"n", 3}}, options);
#ifndef AOTC_TESTS_INTERPRETER_RUN_PROGRAM_H_
#define AOTC_TESTS_INTERPRETER_RUN_PROGRAM_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/eval/evaluate.h"
#include "compiler/ir/constant.h"
#include "compiler/ir/program.h"
#include "compiler/schedule/tile.h"

namespace aotc {

struct RunOptions {
  std::string isa = {};  // the variants' feature; those of any other are passed over; "" takes any
  // Before each step, arena bytes that hold nothing which this or a later step reads become 0xFF.
  bool poison = true;
  TileTable tiles = {};  // what calls of tile functions are known by
};

// Outputs in order. Error: an access out of the bounds of its buffer, a failed check, an input that
// has changed. Unimplemented: a kernel that needs a compiler.
absl::StatusOr<std::vector<Constant>> RunProgram(const Program& program,
                                                 const std::vector<Constant>& inputs,
                                                 const SymbolValues& symbols,
                                                 const RunOptions& options);

}  // namespace aotc

#endif  // AOTC_TESTS_INTERPRETER_RUN_PROGRAM_H_
