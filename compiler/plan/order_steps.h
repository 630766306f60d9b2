// The order of the steps: as given, or another one that the dependencies allow where it needs fewer
// live bytes at the peak.
#ifndef AOTC_COMPILER_PLAN_ORDER_STEPS_H_
#define AOTC_COMPILER_PLAN_ORDER_STEPS_H_

#include <vector>

#include "compiler/ir/program.h"
#include "compiler/plan/step_graph.h"

namespace aotc {

// For each step the earlier steps that must come before it: the writer of what it reads, and
// readers and writers of what it writes. Views count as their whole base.
std::vector<std::vector<int>> StepDependencies(const Program& program);

// Largest sum of bytes alive at one step in the present order, classes of aliases counted once.
int64_t PeakBytes(const Program& program);

// The program as the search for an order sees it (step_graph.h): a branch or loop with all that it
// holds is one step there.
StepGraph StepGraphOf(const Program& program);

// Reorders the steps where that lowers PeakBytes; else leaves them as they are. The best order is
// found where the search comes to its end, which it does for small and for narrow programs.
void OrderSteps(Program& program);

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_ORDER_STEPS_H_
