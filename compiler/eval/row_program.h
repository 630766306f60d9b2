// Row programs: what the body of a stage is compiled to. An instruction computes one register over
// a range of lanes; a lane is one value of the row variable. Floats live in registers of doubles,
// integers and bools in registers of int64s (u64 as its bits), so that 64-bit integers are exact.
//
// An instruction belongs to the level of the deepest loop variable that it reads, and runs when
// that one advances. A uniform register has one value for all lanes, in lane 0.
#ifndef AOTC_COMPILER_EVAL_ROW_PROGRAM_H_
#define AOTC_COMPILER_EVAL_ROW_PROGRAM_H_

#include <cstdint>
#include <vector>

#include "compiler/eval/linear_form.h"
#include "compiler/ir/expr.h"

namespace aotc {

constexpr int kRowLanes = 256;

struct Reg {
  int32_t index = -1;  // among the registers of its kind
  bool is_float = false;
  bool uniform = false;

  bool valid() const { return index >= 0; }
  friend bool operator==(const Reg&, const Reg&) = default;
};

enum class RowOp : uint8_t {
  kFill,    // result = value
  kLinear,  // result = forms[detail] at each lane
  kCopy,    // result = a
  kUnary,
  kBinary,
  kCast,     // from `from` to `dtype`; between integers of the same width: a change of meaning only
  kBitCast,  // likewise, of the bits; one of the two is a float
  kMulAdd,   // result += a * b
  kLoad,     // loads[detail]
  kSelect,   // selects[detail]
};

struct RowInstruction {
  RowOp kind = RowOp::kFill;
  ExprOp op = ExprOp::kConst;       // of kUnary, kBinary
  DType dtype = DType::kUndefined;  // of the operands; of the result of a cast
  DType from = DType::kUndefined;   // of the operand of a cast
  Reg result = {}, a = {}, b = {};
  int32_t detail = -1;
  double float_value = 0;
  int64_t int_value = 0;
};

using RowBlock = std::vector<RowInstruction>;

// An index that is not linear, from a register: checked in every lane.
struct IndirectIndex {
  Reg index;
  int axis;
};

// An index that may leave 0..extent - 1 for some values of the loop variables.
struct CheckedIndex {
  LinearForm form;
  int axis;
};

struct RowLoad {
  TensorId tensor = {};
  LinearForm offset = {};  // in cells: the part that is linear
  // Unless undefined, the integer type that the stored elements are read as, not the cells: a NaN
  // that stays a NaN in a register would not keep all its bits.
  DType bits = DType::kUndefined;
  std::vector<CheckedIndex> checks = {};
  std::vector<IndirectIndex> indirect = {};
};

// Runs `if_true` where the condition holds, `if_false` elsewhere: no lane runs both, so that loads
// under a guard are never out of range. The condition is either a register or `guards`, forms that
// are all >= 0.
struct RowSelect {
  std::vector<LinearForm> guards = {};
  Reg condition = {};
  RowBlock if_true = {};
  RowBlock if_false = {};
};

struct RowProgram {
  std::vector<RowBlock> levels = {};  // one more than there are loop variables
  std::vector<RowLoad> loads = {};
  std::vector<RowSelect> selects = {};
  std::vector<LinearForm> forms = {};
  int32_t float_registers = 0;
  int32_t int_registers = 0;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_EVAL_ROW_PROGRAM_H_
