// Scratch in the gaps that everything else leaves in the arena.
//
//   const std::vector<AliasClass> rest = WithoutScratch(program, AliasClasses(program));
//   SetOffsets(program, rest);
//   PlaceScratch(program, rest, most, smaller);     // in the largest gap of each step
//
// Scratch lives for a step and may be small: it need not be in the way of what lives longer.
#ifndef AOTC_COMPILER_PLAN_PLACE_SCRATCH_H_
#define AOTC_COMPILER_PLAN_PLACE_SCRATCH_H_

#include <cstdint>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/plan/alias_classes.h"
#include "compiler/plan/fit_scratch.h"

namespace aotc {

std::vector<AliasClass> WithoutScratch(const Program& program,
                                       const std::vector<AliasClass>& classes);

// Fits scratch to the largest gap at each step below `most` bytes (fit_scratch.h), where all else
// has its offset. arena_bytes grows where a gap has no room for two workers.
void PlaceScratch(Program& program, const std::vector<AliasClass>& rest, int64_t most,
                  const SmallerVariant& smaller);

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_PLACE_SCRATCH_H_
