// Evaluation of integer operators on numbers: shared by EvaluateInt and constant folding.
//
//   EvaluateIntOp(ExprOp::kAdd, DType::kU8, {200, 100});   // 44
#ifndef AOTC_COMPILER_IR_EXPR_EVALUATE_H_
#define AOTC_COMPILER_IR_EXPR_EVALUATE_H_

#include <cstdint>
#include <optional>
#include <span>

#include "compiler/ir/expr.h"

namespace aotc {

// `value` wrapped to the type, as stored in a constant: u64 keeps its bits; bool is value != 0.
int64_t WrapInt(int64_t value, DType dtype);

// The operator on operands of type `dtype` (bool or integer); comparisons and logic give 0 or 1.
// Nothing on i64 overflow, for operators that integers do not have, and for shifts by an amount out
// of range. Division and remainder by zero give 0.
std::optional<int64_t> EvaluateIntOp(ExprOp op, DType dtype, std::span<const int64_t> operands);

// A float constant that is not NaN, or a vector of it.
bool IsKnownNumber(const Expr& e);

// Of Max and Min of two equal floats the second is the result: that of the zeros' signs. Whether
// the operands change places for it, so that the one that is no constant stays: ReLU(-0) is -0.
bool PutsConstantFirst(const Expr& e);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_EXPR_EVALUATE_H_
