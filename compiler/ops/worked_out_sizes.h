// Sizes that follow from operands that are no shape operands, floats say: an op of ours works them
// out, and what it gives is one more operand of the op whose sizes they are.
//
//   const WorkedOutSizes* sizes = WorkedOutSizesOf("Range");
//   sizes->by                        // "RangeLength"
//   node.inputs[sizes->operand]      // its result, whose elements are sizes as any others
//
// Only nodes have that operand of whose sizes nothing is known before a run.
#ifndef AOTC_COMPILER_OPS_WORKED_OUT_SIZES_H_
#define AOTC_COMPILER_OPS_WORKED_OUT_SIZES_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "compiler/ops/op.h"

namespace aotc {

struct WorkedOutSizes {
  std::string_view of;
  std::string_view by;
  std::vector<size_t> reads = {};  // the inputs of `of` that are those of `by`, in order
  size_t operand = 0;              // the input of `of` that the result becomes
};

// Null for ops that have none.
const WorkedOutSizes* WorkedOutSizesOf(std::string_view op);

// The one element of an input, a tensor of one, as a number of that type. Error: it has another
// number of elements.
absl::StatusOr<Expr> OneElement(OpContext& op, size_t index, DType dtype);

// Beyond every size: what such an op gives for numbers that are none, and a run then refuses.
inline constexpr double kNoSize = double{1LL << 40};

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_WORKED_OUT_SIZES_H_
