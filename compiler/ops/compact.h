// What ops are made of whose results have as many elements as some condition holds.
//
//   e.Emit("Gather", {x, EmitTruePlaces(e, flags)});
#ifndef AOTC_COMPILER_OPS_COMPACT_H_
#define AOTC_COMPILER_OPS_COMPACT_H_

#include <functional>

#include "compiler/ops/expansion.h"
#include "compiler/ops/op.h"

namespace aotc {

// The places of those of flags[n], bools, that are set, in order: i64[count].
ValueId EmitTruePlaces(Expansion& e, ValueId flags);

// The elements of a list at places that are known to be in it: nothing is checked, as Gather does.
ValueId EmitPicked(Expansion& e, ValueId list, ValueId places);

// [dims]: how many elements of a list that ascends are at most as great as `value`, an i64 for
// indices. Found by halving, in as many steps as the length has bits.
Tensor CountAtMost(OpContext& op, const Tensor& ascending, const Shape& dims,
                   const std::function<Expr(const Indices&)>& value);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_COMPACT_H_
