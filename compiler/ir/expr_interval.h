// Arithmetic on inclusive intervals of integers whose open ends are INT64_MIN and INT64_MAX.
//
//   Interval a{0, 15}, b{1, INT64_MAX};
//   AddIntervals(a, b);   // {1, INT64_MAX}
//
// Results saturate at the open ends, so they always contain the exact values.
#ifndef AOTC_COMPILER_IR_EXPR_INTERVAL_H_
#define AOTC_COMPILER_IR_EXPR_INTERVAL_H_

#include "compiler/ir/expr_simplify.h"

namespace aotc {

inline Interval PointInterval(int64_t value) { return {value, value}; }
inline bool IsPoint(const Interval& a) { return a.min == a.max; }
inline bool IsBounded(const Interval& a) { return a.min != INT64_MIN && a.max != INT64_MAX; }

Interval AddIntervals(const Interval& a, const Interval& b);
Interval NegateInterval(const Interval& a);
Interval MultiplyIntervals(const Interval& a, const Interval& b);
// Divisors of any sign; a zero divisor gives 0, as EvaluateInt does.
Interval FloorDivIntervals(const Interval& a, const Interval& b);
Interval TruncDivIntervals(const Interval& a, const Interval& b);
Interval ModIntervals(const Interval& a, const Interval& b);
Interval TruncModIntervals(const Interval& a, const Interval& b);
Interval MinIntervals(const Interval& a, const Interval& b);
Interval MaxIntervals(const Interval& a, const Interval& b);
// The smallest interval that contains both.
Interval UniteIntervals(const Interval& a, const Interval& b);
Interval IntersectIntervals(const Interval& a, const Interval& b);

// All values of a type; [0, 1] for bool, everything for floats and 64-bit integers (u64 from 0).
Interval DTypeRange(DType dtype);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_EXPR_INTERVAL_H_
