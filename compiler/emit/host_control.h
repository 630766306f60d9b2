// Branches and loops as host programs write them.
#ifndef AOTC_COMPILER_EMIT_HOST_CONTROL_H_
#define AOTC_COMPILER_EMIT_HOST_CONTROL_H_

#include <cstddef>
#include <string>
#include <vector>

#include "compiler/emit/parts.h"

namespace aotc {

// The line of a step of control, which opens or closes a block. `condition` is what its argument is
// in the code: of a loop it is part of the head, unless it is empty.
std::string ControlLine(const EmitContext& context, const Step& step, const std::string& condition);

// "Step 3: branch (If), where it is true."
std::string ControlTitle(const Program& program, size_t index);

// Per step, whether the host of a device waits there: at copies to its variables, and at checks in
// branches and loops, which have to be looked at before the next round.
std::vector<bool> StepsThatWait(const Program& program);

// Checks that are looked at when the run of a device is over.
size_t LateChecks(const Program& program);

}  // namespace aotc

#endif  // AOTC_COMPILER_EMIT_HOST_CONTROL_H_
