// A Range over floats that counts in whole numbers: detectors number the cells of their grids so,
// from a limit that is a size cast to float.
//
//   std::optional<WholeRange> range = FindWholeRange(graph, inputs, known);   // 0.0, f32(n), 1.0
//   range->limit                                                             // n
#ifndef AOTC_COMPILER_CANONICALIZE_WHOLE_RANGE_H_
#define AOTC_COMPILER_CANONICALIZE_WHOLE_RANGE_H_

#include <optional>
#include <vector>

#include "compiler/canonicalize/known_elements.h"
#include "compiler/ir/graph.h"

namespace aotc {

// Operands of an ONNX Range, which has the same elements as that of the floats.
struct WholeRange {
  Expr start, limit, delta;
  std::vector<SizeCheck> checks = {};  // what has to hold of a run
};

// Of the three operands of a Range over floats: nothing where one is unknown or is no whole number,
// nor where all are constants, which need no integers. An f32 may be one that the type does not
// hold exactly only where a run refuses that; nothing where a smaller one may.
std::optional<WholeRange> FindWholeRange(const Graph& graph, const std::vector<ValueId>& inputs,
                                         const KnownElements& known);

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_WHOLE_RANGE_H_
