// The plan phase: the order of the steps and an offset in one arena for every buffer.
//
//   AOTC_RETURN_IF_ERROR(PlanMemory(program));
//   program.arena_bytes;                    // what the caller must provide
//   PrintMemoryMap(program);                // who lies where, and when
//
// Order of work: scratch becomes buffers, steps are ordered, lifetimes follow, scratch shrinks to
// what there is room for (fit_scratch.h), buffers that share memory become one block
// (alias_classes.h), blocks get offsets (assign_arena.h; where the arena is made of several pools,
// place_in_pools.h), barriers stay where steps touch the same bytes (barriers.h), and a verifier
// that shares no code with them proves that nothing live is overwritten (verify_plan.h).
#ifndef AOTC_COMPILER_PLAN_PLAN_H_
#define AOTC_COMPILER_PLAN_PLAN_H_

#include <string>

#include "absl/status/status.h"
#include "compiler/ir/program.h"
#include "compiler/plan/fit_scratch.h"

namespace aotc {

// Sets the order of steps, Step::scratch and ::barrier, lifetimes and offsets of arena buffers,
// arena_bytes and lower_bound, and where the program names pools, what they hold. The program must
// pass VerifyProgram. Kernels keep their variants but where `smaller` gives one with less scratch.
// Equal programs get equal plans: searches are bounded by work, not by time.
// Error: pools that are too small.
absl::Status PlanMemory(Program& program, const SmallerVariant& smaller = {});

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_PLAN_H_
