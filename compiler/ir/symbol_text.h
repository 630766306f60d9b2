// Text form of symbols, the same in graphs, kernels and programs.
//
//   symbol batch in 1..8
//   symbol height as height_32 in 1..30 step 32     // "height" is 32 * height_32
//   symbol "batch size" as batch_size in 1..8
//   symbol "ends[0]" as ends_0 in -64..64 clamped requires ends_0 != 0 "ends[0] is 0"
//   symbol "y:0" as y_0 in 0..8 = max(ends_0, 0)    // worked out in the run
#ifndef AOTC_COMPILER_IR_SYMBOL_TEXT_H_
#define AOTC_COMPILER_IR_SYMBOL_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/ir/shape.h"
#include "compiler/support/scanner.h"

namespace aotc {

// Without a newline.
std::string PrintSymbol(const Symbol& symbol);
// At the word "symbol". Error: least above largest, step below 1.
absl::StatusOr<Symbol> ParseSymbol(Scanner& scanner);

// The text of a %name or @name; quoted where the scanner would end it early.
std::string SigilName(char sigil, std::string_view name);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_SYMBOL_TEXT_H_
