// Computes once what several nodes compute: nodes of one op with equal attributes and inputs.
//
//   %a = Relu(%x)
//   %b = Relu(%x)      =>      readers of %b read %a
//
// * Constants of equal type and bits are one; the operands of commutative ops count in any order.
// * Nodes that draw random numbers, that have regions, or that only copy are left alone. Max and
//   Min have an order: it decides which of 0 and -0.0 comes out.
// * What a region computes is never read outside of it; what the enclosing regions have computed is
//   read in it.
// * A graph output keeps its name: where it equals another one, a copy stays.
#ifndef AOTC_COMPILER_OPTIMIZE_COMMON_SUBEXPRESSIONS_H_
#define AOTC_COMPILER_OPTIMIZE_COMMON_SUBEXPRESSIONS_H_

#include "compiler/pass/pass.h"

namespace aotc {

absl::StatusOr<Graph> CommonSubexpressions(const Graph& graph, PassContext& context);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_COMMON_SUBEXPRESSIONS_H_
