#include "compiler/eval/row_machine.h"

#include <algorithm>

#include "compiler/support/refusal.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

template <class T>
void CopyLanes(RowOperand<T> source, T* target, int count) {
  if (source.uniform) {
    std::fill_n(target, count, source.lanes[0]);
  } else if (source.lanes != target) {
    std::copy_n(source.lanes, count, target);
  }
}

}  // namespace

RowMachine::RowMachine(const RowProgram& program, const std::vector<TensorData>& tensors, int row)
    : program_(program),
      tensors_(tensors),
      row_(row),
      vars_(program.levels.size()),
      floats_(new double[static_cast<size_t>(program.float_registers) * kRowLanes]),
      ints_(new int64_t[static_cast<size_t>(program.int_registers) * kRowLanes]) {}

absl::Status RowMachine::error() const {
  const TensorData& tensor = tensors_[static_cast<size_t>(failure_.tensor.index())];
  return AOTC_REFUSAL(OutOfRange, StrCat("index ", failure_.index, " is outside 0..",
                                         tensor.dims[static_cast<size_t>(failure_.axis)] - 1,
                                         " of axis ", failure_.axis));
}

void RowMachine::Copy(Reg from, Reg to, int first, int last) {
  if (to.is_float) {
    RowOperand<double> source = FloatOperand(from, first);
    double* target = Floats(to) + first;
    CopyLanes(source, target, last - first);
  } else {
    RowOperand<int64_t> source = IntOperand(from, first);
    int64_t* target = Ints(to) + first;
    CopyLanes(source, target, last - first);
  }
}

bool RowMachine::Run(const RowBlock& block, int first, int last) {
  for (const RowInstruction& instruction : block) {
    bool uniform = instruction.result.uniform;
    if (!Execute(instruction, uniform ? 0 : first, uniform ? 1 : last)) return false;
  }
  return true;
}

bool RowMachine::Execute(const RowInstruction& instruction, int first, int last) {
  switch (instruction.kind) {
    case RowOp::kFill: Fill(instruction, first, last); return true;
    case RowOp::kLinear: Linear(instruction, first, last); return true;
    case RowOp::kCopy: Copy(instruction.a, instruction.result, first, last); return true;
    case RowOp::kUnary: Unary(instruction, first, last); return true;
    case RowOp::kBinary: Binary(instruction, first, last); return true;
    case RowOp::kCast: Cast(instruction, first, last); return true;
    case RowOp::kBitCast: BitCast(instruction, first, last); return true;
    case RowOp::kMulAdd:
      MulAddRow(FloatOperand(instruction.a, first), FloatOperand(instruction.b, first),
                Floats(instruction.result) + first, last - first);
      return true;
    case RowOp::kLoad: return Load(instruction, first, last);
    case RowOp::kSelect: return Select(instruction, first, last);
  }
  return true;
}

void RowMachine::Fill(const RowInstruction& instruction, int first, int last) {
  if (instruction.result.is_float) {
    std::fill_n(Floats(instruction.result) + first, last - first, instruction.float_value);
  } else {
    std::fill_n(Ints(instruction.result) + first, last - first, instruction.int_value);
  }
}

void RowMachine::Linear(const RowInstruction& instruction, int first, int last) {
  const LinearForm& form = program_.forms[static_cast<size_t>(instruction.detail)];
  int64_t value = form.At(vars_.data()), step = form.Coefficient(row_);
  int64_t* lanes = Ints(instruction.result);
  for (int lane = first; lane < last; ++lane) lanes[lane] = value + lane * step;
}

void RowMachine::Unary(const RowInstruction& instruction, int first, int last) {
  int count = last - first;
  Reg result = instruction.result, a = instruction.a;
  if (!a.is_float) {
    return IntUnaryRow(instruction.op, instruction.dtype, IntOperand(a, first),
                       Ints(result) + first, count);
  }
  if (result.is_float) {
    return FloatUnaryRow(instruction.op, FloatOperand(a, first), Floats(result) + first, count);
  }
  FloatTestRow(instruction.op, FloatOperand(a, first), Ints(result) + first, count);
}

void RowMachine::Binary(const RowInstruction& instruction, int first, int last) {
  int count = last - first;
  Reg result = instruction.result, a = instruction.a, b = instruction.b;
  if (!a.is_float) {
    return IntBinaryRow(instruction.op, instruction.dtype,
                        {IntOperand(a, first), IntOperand(b, first)}, Ints(result) + first, count);
  }
  if (result.is_float) {
    return FloatBinaryRow(instruction.op, FloatOperand(a, first), FloatOperand(b, first),
                          Floats(result) + first, count);
  }
  FloatCompareRow(instruction.op, FloatOperand(a, first), FloatOperand(b, first),
                  Ints(result) + first, count);
}

void RowMachine::Cast(const RowInstruction& instruction, int first, int last) {
  int count = last - first;
  Reg result = instruction.result, a = instruction.a;
  DType to = instruction.dtype;
  if (a.is_float && result.is_float) {
    RoundRow(to, FloatOperand(a, first), Floats(result) + first, count);
  } else if (a.is_float) {
    FloatToIntRow(to, FloatOperand(a, first), Ints(result) + first, count);
  } else if (result.is_float) {
    IntToFloatRow(instruction.from, to, IntOperand(a, first), Floats(result) + first, count);
  } else {
    WrapRow(to, IntOperand(a, first), Ints(result) + first, count);
  }
}

void RowMachine::BitCast(const RowInstruction& instruction, int first, int last) {
  const int count = last - first;
  const Reg result = instruction.result, a = instruction.a;
  const DType from = instruction.from, to = instruction.dtype;
  if (!a.is_float) {
    return BitsToFloatRow(to, IntOperand(a, first), Floats(result) + first, count);
  }
  if (!result.is_float) {
    return FloatToBitsRow(from, to, FloatOperand(a, first), Ints(result) + first, count);
  }
  FloatBitsToFloatRow(from, to, FloatOperand(a, first), Floats(result) + first, count);
}

}  // namespace aotc
