// Float expressions over the symbols as exact fractions: shapes that take the way of floats.
//
//   FloorOf(Cast(f32, n) * 2.5)      // floor_div(5*n, 2)
#ifndef AOTC_COMPILER_EVAL_RATIONAL_H_
#define AOTC_COMPILER_EVAL_RATIONAL_H_

#include <optional>

#include "compiler/ir/expr_simplify.h"

namespace aotc {

// numerator / denominator, an i64 expression and a positive number.
struct Rational {
  Expr numerator;
  int64_t denominator = 1;
};

// Of casts of integers, constants with a short binary fraction, sums, products and quotients by
// constants; floor and ceil within. Nothing for anything else.
std::optional<Rational> RationalOf(const Expr& e, const Bounds& bounds);
// The integer that a cast of `e` to an integer type gives.
std::optional<Expr> TruncationOf(const Expr& e, const Bounds& bounds);

}  // namespace aotc

#endif  // AOTC_COMPILER_EVAL_RATIONAL_H_
