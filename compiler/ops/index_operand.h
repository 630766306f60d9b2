// Which operands of ops are indices into others, and which results are.
//
//   {.name = "Gather", ..., .indices = IndexOperand{.axis = "axis"}}
//   {.name = "TopK", ..., .places = PlacesResult{.output = 1, .axis = -1}}
#ifndef AOTC_COMPILER_OPS_INDEX_OPERAND_H_
#define AOTC_COMPILER_OPS_INDEX_OPERAND_H_

#include <cstddef>
#include <cstdint>

#include "compiler/ir/graph.h"

namespace aotc {

// Attribute of ops whose indices are labels: the one that stands for none.
inline constexpr char kIgnored[] = "ignore_index";

// Where an op has its indices, and what they are for: an axis of input 0, or with `flat` all
// elements of output 0.
struct IndexOperand {
  const char* axis = "";   // name of the attribute
  bool positions = false;  // the last axis of the indices holds one per axis, from `axis` on
  size_t input = 1;
  int64_t fixed_axis = 0;  // where no attribute names it
  bool from_end = true;    // negative indices count from the end; else they are not valid
  bool flat = false;
  bool inclusive = false;  // lengths: the dim itself is valid too

  ValueId DataOf(const Node& node) const { return flat ? node.outputs[0] : node.inputs[0]; }
  // As the node has it, maybe counted from the end.
  int64_t AxisOf(const Node& node) const { return node.attributes.Int(axis, fixed_axis); }
  // Counted from the start where the data has `rank` axes; not in [0, rank) where the node is
  // wrong.
  int64_t AxisIn(const Node& node, int64_t rank) const {
    const int64_t own = AxisOf(node);
    return own < 0 ? own + rank : own;
  }
};

// An output that gives places on an axis of input 0: below its dim, and not negative.
struct PlacesResult {
  size_t output = 0;
  int64_t axis = 0;  // where the attribute `axis` does not name it
};

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_INDEX_OPERAND_H_
