// Branches and loops of a program: which steps open and close them, and what that says of time.
//
//   for (const Construct& construct : Constructs(program)) {       // inner ones first
//     if (construct.is_loop) ...                                   // steps begin + 1 .. end - 1
//   }
//
// The steps are a flat list, structured as in WebAssembly: a kIf or kLoop closes with its kEnd, and
// whatever stands between belongs to it.
#ifndef AOTC_COMPILER_IR_PROGRAM_CONTROL_H_
#define AOTC_COMPILER_IR_PROGRAM_CONTROL_H_

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "compiler/ir/program.h"

namespace aotc {

// Indices of steps. A branch without kElse does nothing where its condition is false.
struct Construct {
  bool is_loop = false;
  int begin = 0;
  std::optional<int> middle = {};  // the kElse
  int end = 0;
};

// kIf, kElse, kLoop or kEnd: a step that does no work itself.
bool IsControl(const Step& step);

// kIf or kLoop: a step that a kEnd closes.
bool OpensBlock(const Step& step);

// In the order of their ends. The steps must nest (CheckControl).
std::vector<Construct> Constructs(const Program& program);

// Error: a construct without an end or the reverse, a kElse outside a branch, a flag that is no
// bool, a loop with neither an argument nor a trip.
absl::Status CheckControl(const Program& program);

// A step of kind kDecode goes from u8[n] to i64[2] or u8[height, width, channels].
absl::Status CheckDecode(const Program& program, size_t index);

// The symbols and the counters of loops.
Bounds BoundsOf(const Program& program);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_PROGRAM_CONTROL_H_
