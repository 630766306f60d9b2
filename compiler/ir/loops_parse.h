// The state of the parser of Loops, which the parsers of statements and of tile calls share. The
// interface is in loops_text.h.
//
//   absl::StatusOr<Stmt> ParseBarrier(LoopsParser& parser) { return Barrier(); }
#ifndef AOTC_COMPILER_IR_LOOPS_PARSE_H_
#define AOTC_COMPILER_IR_LOOPS_PARSE_H_

#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/expr_text.h"
#include "compiler/ir/loops.h"
#include "compiler/support/scanner.h"

namespace aotc {

class LoopsParser {
 public:
  explicit LoopsParser(Scanner& scanner) : scanner_(scanner) {}

  absl::StatusOr<LoopFunction> Run();

  Scanner& scanner() { return scanner_; }
  ExprScope& scope() { return scope_; }

  absl::StatusOr<Stmt> ParseStmt();
  // Statements in braces; what they define is known in them only. With `last`: up to that word or
  // the closing brace, which stays, and what was defined stays known.
  absl::StatusOr<std::vector<Stmt>> ParseBody(std::string_view last = "");
  absl::StatusOr<Expr> ParseValue();
  // %buffer
  absl::StatusOr<TensorId> ParseBufferName();
  // %buffer[index]
  absl::StatusOr<std::pair<TensorId, Expr>> ParseElement();

 private:
  absl::Status ParseHeader();
  absl::Status ParseBuffers();
  absl::StatusOr<TensorId> AddBuffer(LoopBuffer buffer);

  Scanner& scanner_;
  ExprScope scope_;
  LoopFunction function_;
  int depth_ = 0;
};

// After the word "call".
absl::StatusOr<Stmt> ParseTileCall(LoopsParser& parser);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_LOOPS_PARSE_H_
