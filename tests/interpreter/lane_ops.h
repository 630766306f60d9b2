// Operators on one lane, with the meaning that ir/expr.h gives them.
#ifndef AOTC_TESTS_INTERPRETER_LANE_OPS_H_
#define AOTC_TESTS_INTERPRETER_LANE_OPS_H_

#include <optional>

#include "compiler/ir/expr.h"
#include "tests/interpreter/frame.h"

namespace aotc {

// `value` as the type holds it: rounded to nearest even.
double RoundTo(DType dtype, double value);
Lane CastLane(DType from, DType to, Lane x);
Lane BitCastLane(DType from, DType to, Lane x);
// On floats of type `dtype`.
double UnaryFloat(ExprOp op, DType dtype, double x);
double BinaryFloat(ExprOp op, DType dtype, double a, double b);
// Comparisons of floats, and IsNan, IsInf with b = 0.
bool TestFloat(ExprOp op, double a, double b);

Lane LoadLane(const Memory& memory, int64_t index);
void StoreLane(const Memory& memory, int64_t index, Lane value);

}  // namespace aotc

#endif  // AOTC_TESTS_INTERPRETER_LANE_OPS_H_
