// Text form of Loops. What loops.h shows, and:
//
//   loops @k(%x: f16, out %y: f32) tasks m threads 128 group 32 scratch 256 index i32 {
//     symbol m in 1..64
//     scratch %row: f32[64] at 0               // local, shared likewise; at: bytes, where not 0
//     for i in task*4 ..+ min(4, m - task*4) { // first ..+ count; first..end where both are known
//       let j = i + 1
//       if j < m { ... } else { ... }
//     }
//     unrolled for k in 0..4 { ... }           // thread for, grid for: dealt out to threads
//     block { ... }
//     store %y[16*i] = ramp<16>(0, 1) first m - 16*i
//     barrier
//     comment "text"
//     call aotc_group_all from "cuda/row.cuh" state (top, total) {
//       combiner all = identity (-inf, 0.0) combine (max(a0, b0), a1 + b1) no_identity
//     }
//     call aotc_contract_tile<14, 2> from "cpu/contract_tile.h" {
//       m + 1,
//       &%x[task*64],
//       "aotc_nest"{{1, 64}, {0, 1}},
//       "aotc_tile_range"<i32>{0, m},         // a template of that type
//       combiner add = sum f32,
//       object epilogue: aotc_epilogue {
//         constant rows = 2
//         operator()(m: i32 to 4*m, acc: f32<16>, %state) { ... }   // m is at most 4*m; %state: a
//                                                                   // pointer to it
//         at(k: i64) {
//           return &%x[16*k]
//         }
//       }
//     }
//   }
#ifndef AOTC_COMPILER_IR_LOOPS_TEXT_H_
#define AOTC_COMPILER_IR_LOOPS_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "compiler/ir/loops.h"

namespace aotc {

class Scanner;  // compiler/support/scanner.h

std::string PrintLoops(const LoopFunction& function);
absl::StatusOr<LoopFunction> ParseLoops(Scanner& scanner);
absl::StatusOr<LoopFunction> ParseLoops(std::string_view text);

// Bare integers and variables are i32 in the body of a function with `index i32`; what stands after
// `tasks` and `to` is i64 nevertheless.
//
// Names are defined before use, with the dtype and lanes of their uses; operands agree in dtype and
// lanes; buffers exist, and only written ones are stored to; scratch lies within its bytes;
// barriers stand where all threads of a task come by.
absl::Status VerifyLoops(const LoopFunction& function);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_LOOPS_TEXT_H_
