// The arithmetic of row programs: one function per kind of operand, over `count` lanes.
//
// A uniform operand has step 0, any other step 1. `result` may be one of the operands.
#ifndef AOTC_COMPILER_EVAL_ROW_OPS_H_
#define AOTC_COMPILER_EVAL_ROW_OPS_H_

#include <cstdint>

#include "compiler/ir/expr.h"

namespace aotc {

template <class T>
struct RowOperand {
  const T* lanes;
  bool uniform;
};

void FloatUnaryRow(ExprOp op, RowOperand<double> a, double* result, int count);
// kIsNan, kIsInf
void FloatTestRow(ExprOp op, RowOperand<double> a, int64_t* result, int count);
void FloatBinaryRow(ExprOp op, RowOperand<double> a, RowOperand<double> b, double* result,
                    int count);
void FloatCompareRow(ExprOp op, RowOperand<double> a, RowOperand<double> b, int64_t* result,
                     int count);
// Operands are in range of `dtype`; results wrap to it.
void IntUnaryRow(ExprOp op, DType dtype, RowOperand<int64_t> a, int64_t* result, int count);
// Comparisons and logic too.
void IntBinaryRow(ExprOp op, DType dtype, const RowOperand<int64_t> (&operands)[2], int64_t* result,
                  int count);
// result += a * b
void MulAddRow(RowOperand<double> a, RowOperand<double> b, double* result, int count);
double SumOfLanes(const double* lanes, int count);

// Casts, with the rounding of a store. `from` and `to` as the functions' names say.
void RoundRow(DType to, RowOperand<double> a, double* result, int count);
void IntToFloatRow(DType from, DType to, RowOperand<int64_t> a, double* result, int count);
void FloatToIntRow(DType to, RowOperand<double> a, int64_t* result, int count);
void WrapRow(DType to, RowOperand<int64_t> a, int64_t* result, int count);

// Bit casts.
void BitsToFloatRow(DType to, RowOperand<int64_t> a, double* result, int count);
void FloatToBitsRow(DType from, DType to, RowOperand<double> a, int64_t* result, int count);
void FloatBitsToFloatRow(DType from, DType to, RowOperand<double> a, double* result, int count);

}  // namespace aotc

#endif  // AOTC_COMPILER_EVAL_ROW_OPS_H_
