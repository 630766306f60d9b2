// Moves transposes down, past ops that do not mind the order of axes, until they meet another one,
// a reduction, or an op that does mind.
//
//   Relu(Transpose(%x))                         =>   Transpose(Relu(%x))
//   Add(Transpose(%x), Transpose(%y))           =>   Transpose(Add(%x, %y))
//   Pad(Transpose(%x), pads)                    =>   Transpose(Pad(%x, pads in that order))
//   ReduceMax(Transpose(%x), last axis)         =>   ReduceMax(%x, where that axis comes from)
//   Softmax(Transpose(%x))                      =>   Transpose(Softmax(%x)), but of the last axis
//   Transpose(Transpose(%x))                    =>   %x, or one Transpose
//
// A transpose that several read moves only where fewer are left then (transpose_regions.h), and
// none gets a larger tensor than it had, but by pads.
#ifndef AOTC_COMPILER_OPTIMIZE_SINK_TRANSPOSES_H_
#define AOTC_COMPILER_OPTIMIZE_SINK_TRANSPOSES_H_

#include "compiler/pass/pass.h"

namespace aotc {

absl::StatusOr<Graph> SinkTransposes(const Graph& graph, PassContext& context);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_SINK_TRANSPOSES_H_
