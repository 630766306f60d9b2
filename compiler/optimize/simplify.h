// Algebra on nodes, as far as it is exact: NaN, infinities, -0.0 and the rounding of every result
// stay as they are. The rules are in simplify_*.cc, a table in each.
//
//   Add(%x, -0.0), Mul(%x, 1), Sub(%x, 0)           =>   %x              (Add(%x, 0.0) stays: -0.0)
//   Cast(Cast(%x: i8 to i32) to f32)                =>   Cast(%x to f32)
//   Squeeze(Reshape(%x))                            =>   Reshape(%x)
//   Transpose(Transpose(%x))                        =>   Transpose(%x), or %x
//   Clip(Relu(%x), 1, 6)                            =>   Clip(%x, 1, 6)
//   Conv(Pad(%x))                                   =>   Conv(%x) with these pads
//   Slice(Concat(%x, %y)) inside of %y              =>   Slice(%y)
#ifndef AOTC_COMPILER_OPTIMIZE_SIMPLIFY_H_
#define AOTC_COMPILER_OPTIMIZE_SIMPLIFY_H_

#include "compiler/pass/pass.h"

namespace aotc {

absl::StatusOr<Graph> SimplifyGraph(const Graph& graph, PassContext& context);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_SIMPLIFY_H_
