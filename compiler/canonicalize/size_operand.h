// One more operand for nodes whose sizes follow from floats: the sizes (ops/worked_out_sizes.h).
//
//   %y: f32[?] = Range(%start, %limit, %delta)
//     =>   %n: i64[] = RangeLength(%start, %limit, %delta)
//          %y: f32[n] = Range(%start, %limit, %delta, %n)       n: an element, as of any operand
#ifndef AOTC_COMPILER_CANONICALIZE_SIZE_OPERAND_H_
#define AOTC_COMPILER_CANONICALIZE_SIZE_OPERAND_H_

#include <string>

#include "compiler/ir/graph.h"

namespace aotc {

// Whether the node may have such an operand, for want of a value, and has none.
bool LacksSizeOperand(const Graph& graph, const Node& node, ValueId unknown);
// Gives it to the node whose first output has that name. False where there is no such.
bool AddSizeOperand(Graph& graph, const std::string& output);

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_SIZE_OPERAND_H_
