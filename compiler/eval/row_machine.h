// RowMachine: runs blocks of a row program over tensors.
//
//   RowMachine machine(program, tensors, /*row=*/2);
//   machine.vars()[0] = 5;                       // loop variables; vars()[row] is that of lane 0
//   if (!machine.Run(program.levels[3], 0, 64)) return machine.error();
#ifndef AOTC_COMPILER_EVAL_ROW_MACHINE_H_
#define AOTC_COMPILER_EVAL_ROW_MACHINE_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "compiler/eval/row_ops.h"
#include "compiler/eval/row_program.h"
#include "compiler/eval/tensor_data.h"

namespace aotc {

class RowMachine {
 public:
  // `program` and `tensors` outlive the machine; `row` is the position of the row variable.
  RowMachine(const RowProgram& program, const std::vector<TensorData>& tensors, int row);

  int64_t* vars() { return vars_.data(); }
  double* Floats(Reg reg) { return floats_.get() + int64_t{reg.index} * kRowLanes; }
  int64_t* Ints(Reg reg) { return ints_.get() + int64_t{reg.index} * kRowLanes; }
  RowOperand<double> FloatOperand(Reg reg, int first) {
    return {Floats(reg) + (reg.uniform ? 0 : first), reg.uniform};
  }
  RowOperand<int64_t> IntOperand(Reg reg, int first) {
    return {Ints(reg) + (reg.uniform ? 0 : first), reg.uniform};
  }
  void Copy(Reg from, Reg to, int first, int last);

  // Runs all instructions over lanes first..last-1; false where a load was out of range.
  bool Run(const RowBlock& block, int first, int last);
  // The index that was out of range: tensor by its position.
  absl::Status error() const;

 private:
  struct Failure {
    TensorId tensor = {};
    int axis = 0;
    int64_t index = 0;
  };

  bool Execute(const RowInstruction& instruction, int first, int last);
  void Fill(const RowInstruction& instruction, int first, int last);
  void Linear(const RowInstruction& instruction, int first, int last);
  void Unary(const RowInstruction& instruction, int first, int last);
  void Binary(const RowInstruction& instruction, int first, int last);
  void Cast(const RowInstruction& instruction, int first, int last);
  void BitCast(const RowInstruction& instruction, int first, int last);
  bool Load(const RowInstruction& instruction, int first, int last);
  bool Gather(const RowLoad& load, Reg result, int first, int last);
  bool InRange(TensorId tensor, int axis, int64_t index);
  bool Select(const RowInstruction& instruction, int first, int last);
  bool SelectByGuards(const RowSelect& select, int first, int last);
  bool SelectByLane(const RowSelect& select, Reg result, int first, int last);
  bool SelectInRuns(const RowSelect& select, int first, int last);
  bool SelectBlended(const RowSelect& select, Reg result, int first, int last);

  const RowProgram& program_;
  const std::vector<TensorData>& tensors_;
  const int row_;
  std::vector<int64_t> vars_;
  std::unique_ptr<double[]> floats_;
  std::unique_ptr<int64_t[]> ints_;
  Failure failure_;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_EVAL_ROW_MACHINE_H_
