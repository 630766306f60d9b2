// StageRunner: evaluates one stage of a kernel into its result tensors.
//
//   AOTC_ASSIGN_OR_RETURN(StagePlan plan, PlanStage(stage, symbols, tensors));
//   AOTC_RETURN_IF_ERROR(StageRunner(stage, plan, tensors).Run());
#ifndef AOTC_COMPILER_EVAL_STAGE_RUNNER_H_
#define AOTC_COMPILER_EVAL_STAGE_RUNNER_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "compiler/eval/row_compiler.h"
#include "compiler/eval/row_machine.h"
#include "compiler/eval/stage_plan.h"

namespace aotc {

class StageRunner {
 public:
  // The results of the stage are tensors made for writing.
  StageRunner(const Stage& stage, const StagePlan& plan, std::vector<TensorData>& tensors);

  absl::Status Run();

 private:
  // One component of the tuple; a pointwise stage has one with nothing but body and store.
  struct Component {
    Reg body = {};
    Reg identity = {};
    Reg accumulator = {};
    Reg earlier = {}, later = {}, combined = {};  // operands and result of the combiner
    Reg row = {};                                 // where rows are folded
    DType dtype = DType::kUndefined;
    LinearForm store = {};            // in cells of the result
    std::vector<int> zero_vars = {};  // axes that the result lacks: stored where they are 0
  };

  absl::Status Compile(RowCompiler& compiler);
  absl::Status CompileReduction(RowCompiler& compiler);
  absl::Status CompileCombiner(RowCompiler& compiler);
  absl::StatusOr<bool> CompileMulAdd(RowCompiler& compiler);
  LinearForm StoreForm(const StageResult& result) const;
  void AddZeroVars(const StageResult& result, Component& component) const;

  bool RunLevel(int level);
  bool RunLoop(int level);
  bool Accumulate();
  bool FoldRow();
  bool FoldStep(int count);
  void Begin();
  void Store();
  void StoreComponent(const Component& component, TensorData& tensor);

  const Stage& stage_;
  const StagePlan& plan_;
  std::vector<TensorData>& tensors_;
  RowProgram program_;
  RowBlock combine_;
  bool sums_floats_ = false;  // the combiner is the stock sum of one float
  std::vector<Component> components_;
  std::unique_ptr<RowMachine> machine_;
  int lanes_ = 1;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_EVAL_STAGE_RUNNER_H_
