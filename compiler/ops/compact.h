// What ops are made of whose results have as many elements as some condition holds.
//
//   const Chosen chosen = EmitTruePlaces(rebuilder, flags, node);
//   rebuilder.Emit("Gather", {x, chosen.places}, axis, UnknownType(), node);
#ifndef AOTC_COMPILER_OPS_COMPACT_H_
#define AOTC_COMPILER_OPS_COMPACT_H_

#include "compiler/ir/graph_rebuild.h"

namespace aotc {

// Of flags[n], bools: how many are set up to each place (i64[n], that place included), how many in
// all (i64 []), and their places in order (i64[count]).
struct Chosen {
  ValueId counts = {};
  ValueId count = {};
  ValueId places = {};
};
Chosen EmitTruePlaces(Rebuilder& rebuilder, ValueId flags, const Node& node);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_COMPACT_H_
