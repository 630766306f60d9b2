// The order in which elements along an axis are ranked: TopK, Unique.
#ifndef AOTC_COMPILER_IR_ORDER_H_
#define AOTC_COMPILER_IR_ORDER_H_

#include "compiler/ir/expr.h"

namespace aotc {

// a > b in an order with NaN at its top, where all NaN are equal.
inline Expr IsAbove(const Expr& a, const Expr& b) {
  if (!IsFloat(a.dtype())) return Lt(b, a);
  return Or(Lt(b, a), And(Unary(ExprOp::kIsNan, a), Not(Unary(ExprOp::kIsNan, b))));
}

// Whether the element `other` at r comes before `own` at i: the greater one first, or the less; of
// equal ones that which is first on the axis.
inline Expr ComesBefore(const Expr& other, const Expr& r, const Expr& own, const Expr& i,
                        bool greatest_first) {
  const Expr before = greatest_first ? IsAbove(other, own) : IsAbove(own, other);
  const Expr behind = greatest_first ? IsAbove(own, other) : IsAbove(other, own);
  return Or(before, And(Not(behind), Lt(r, i)));
}

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_ORDER_H_
