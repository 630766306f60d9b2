// Text form of programs.
//
//   program @net(%x) -> (%y) arena 4096 align 64 bound 4000 workers 16 weights 512 {
//     symbol m in 1..8
//     input %x: f32[m, 4] bytes 128
//     output %y: f32[m, 4] bytes 128 of "y:0"                    // the graph's name
//     weights %w: f32[4, 4] bytes 64 offset 0
//     arena %sum: f32[m, 4](0, 1/4, 1%4) bytes 128 offset 64 steps 0..1
//     view %right = %sum + 2: f32[m, 2] bytes 64
//     view %half = %sum + 2 at [0, 2]: f32[m, 2] bytes 64        // a box, of the strides of %sum
//     host %going: bool[] bytes 1
//     kernel @dense(...) { ... }                                 // kernel_text.h
//     also "fc2 (Gemm)"                                          // nodes of a further launch
//     variant contract_tile if m == 1 feature "x86-64-v4" schedule "..." reason "..."
//     loops @dense(...) tasks m { ... }                          // loops_text.h
//     step launch @dense(%x, %w, %sum) in_place 2 <- 0 scratch %space no_barrier of "fc (Gemm)"
//     step copy(%sum, %y)
//     step check(%fits)
//     step if(%more)                                             // ... step else() ... step end()
//     step loop(%going) counter round to m                       // ... step end()
//   }
//
// The bytes of the weights are not part of the text: they are zero after parsing. Where the arena
// is made of pools, these come first, and its buffers say in which one they lie:
//
//     pool %fast limit 2048 offset 0 bytes 2048 bound 1984 least
//     pool %slow offset 2048 bytes 128 bound 128
//     arena %sum: f32[m, 4] bytes 128 offset 2048 in %slow steps 0..1
#ifndef AOTC_COMPILER_IR_PROGRAM_TEXT_H_
#define AOTC_COMPILER_IR_PROGRAM_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "compiler/ir/program.h"

namespace aotc {

class Scanner;  // compiler/support/scanner.h

std::string PrintProgram(const Program& program);
absl::StatusOr<Program> ParseProgram(Scanner& scanner);
absl::StatusOr<Program> ParseProgram(std::string_view text);

std::string_view BufferKindName(BufferKind kind);
// "launch", "copy", "if" ...
std::string_view StepKindName(StepKind kind);
// The kernel of a launch, or what else the step is: a word for reports.
std::string_view StepName(const Program& program, const Step& step);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_PROGRAM_TEXT_H_
