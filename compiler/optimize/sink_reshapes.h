// Moves reshapes of what contractions give down, past elementwise ops: those are computed with the
// contraction then, whose result they could not reach through the reshape.
//
//   Add(Reshape(Gemm(%x, %w)), %y)      =>      Reshape(Add(Gemm(%x, %w), Reshape(%y)))
//
// A reshape that others read stays. Other operands have the shape of the result, and are reshaped
// themselves, which is free; or are constants that mean the same on both sides: single elements,
// one per last axis where that stays, any where only axes of dim 1 come and go.
#ifndef AOTC_COMPILER_OPTIMIZE_SINK_RESHAPES_H_
#define AOTC_COMPILER_OPTIMIZE_SINK_RESHAPES_H_

#include "compiler/pass/pass.h"

namespace aotc {

absl::StatusOr<Graph> SinkReshapes(const Graph& graph, PassContext& context);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_SINK_RESHAPES_H_
