// What ops are made of whose results have as many elements as some condition holds.
//
//   e.Emit("Gather", {x, EmitTruePlaces(e, flags)});
#ifndef AOTC_COMPILER_OPS_COMPACT_H_
#define AOTC_COMPILER_OPS_COMPACT_H_

#include "compiler/ops/expansion.h"

namespace aotc {

// The places of those of flags[n], bools, that are set, in order: i64[count].
ValueId EmitTruePlaces(Expansion& e, ValueId flags);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_COMPACT_H_
