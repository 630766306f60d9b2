// How one stage is evaluated: the order of its loops, and which axis becomes the row.
//
//   StagePlan plan = *PlanStage(stage, symbols, tensors);
//
// Axes of extent 1 are no loops. The row is either an output axis (accumulators are rows, reduce
// axes run inside) or the innermost reduce axis (rows of the body are folded into one value). The
// axis with the least estimated time wins: long rows spread the cost of an instruction, contiguous
// loads are cheap.
#ifndef AOTC_COMPILER_EVAL_STAGE_PLAN_H_
#define AOTC_COMPILER_EVAL_STAGE_PLAN_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/eval/evaluate.h"
#include "compiler/eval/linear_form.h"
#include "compiler/eval/tensor_data.h"
#include "compiler/ir/kernel.h"

namespace aotc {

struct StagePlan {
  LoopVars vars = {};                   // outermost first: outputs, then reduce axes
  int row = 0;                          // position of the row variable
  int reduce_begin = 0;                 // position of the first reduce axis
  std::vector<Expr> body = {};          // symbols, axes of extent 1 and splats replaced by numbers
  std::vector<int> axis_position = {};  // of each stage axis; -1 where it is no loop
  // Nothing depends on the output axes: one element of each result is computed, the rest equals it.
  bool splat = false;
  bool empty_output = false;
  bool empty_reduction = false;

  bool RowIsReduced() const { return row >= reduce_begin; }
};

// `tensors` by TensorId; those that the stage reads hold their values.
absl::StatusOr<StagePlan> PlanStage(const Stage& stage, const SymbolValues& symbols,
                                    const std::vector<TensorData>& tensors);

}  // namespace aotc

#endif  // AOTC_COMPILER_EVAL_STAGE_PLAN_H_
