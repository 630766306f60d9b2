// Places for the arena buffers of a program whose arena is made of several pools.
//
//   program.pools.Add({.name = "fast", .limit = 65536});
//   program.pools.Add({.name = "slow"});
//   AOTC_RETURN_IF_ERROR(PlaceInPools(program, AliasClasses(program)));
#ifndef AOTC_COMPILER_PLAN_PLACE_IN_POOLS_H_
#define AOTC_COMPILER_PLAN_PLACE_IN_POOLS_H_

#include <vector>

#include "absl/status/status.h"
#include "compiler/ir/program.h"
#include "compiler/plan/alias_classes.h"

namespace aotc {

// Sets pool and offset of the members of all classes, what the pools use, and arena_bytes. Error:
// no room is found within the limits, with a limit that is enough.
absl::Status PlaceInPools(Program& program, const std::vector<AliasClass>& classes);

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_PLACE_IN_POOLS_H_
