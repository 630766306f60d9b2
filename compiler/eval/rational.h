// Float expressions over the symbols as fractions: shapes that take the way of floats.
//
//   TruncationOf(Cast(f32, n) * 2.5)      // floor_div(5*n, 2)
//
// Each operation is followed where its result is no other for the rounding of its float type, which
// the range of the numerator shows: fractions of that many bits are exact.
#ifndef AOTC_COMPILER_EVAL_RATIONAL_H_
#define AOTC_COMPILER_EVAL_RATIONAL_H_

#include <optional>

#include "compiler/ir/expr_simplify.h"

namespace aotc {

// numerator / denominator, an i64 expression and a positive number.
struct Rational {
  Expr numerator;
  int64_t denominator = 1;
  bool rounded = false;  // the float is the nearest one, with the same floor, ceil and truncation
};

// Of casts of integers, constants with a short binary fraction, sums, products and quotients by
// constants; floor and ceil within. A rounded quotient is the last operation, or below floor or
// ceil. Nothing for anything else, and where the numbers may have more bits than their types.
std::optional<Rational> RationalOf(const Expr& e, const Bounds& bounds);
// The integer that a cast of `e` to an integer type gives.
std::optional<Expr> TruncationOf(const Expr& e, const Bounds& bounds);

}  // namespace aotc

#endif  // AOTC_COMPILER_EVAL_RATIONAL_H_
