// Loops over the lanes of a row; private to the row_*.cc files.
#ifndef AOTC_COMPILER_EVAL_ROW_LOOPS_H_
#define AOTC_COMPILER_EVAL_ROW_LOOPS_H_

#include "compiler/eval/row_ops.h"

// Lanes are independent, also where the result is an operand: says so to the vectoriser.
#if defined(__clang__)
#define AOTC_LANE_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define AOTC_LANE_LOOP _Pragma("GCC ivdep")
#endif

namespace aotc {

template <class T, class R, class F>
inline void MapLanes(RowOperand<T> a, R* result, int count, F f) {
  if (a.uniform) {
    const R value = f(a.lanes[0]);
    for (int i = 0; i < count; ++i) result[i] = value;
    return;
  }
  AOTC_LANE_LOOP
  for (int i = 0; i < count; ++i) result[i] = f(a.lanes[i]);
}

template <class T, class R, class F>
inline void ZipLanes(RowOperand<T> a, RowOperand<T> b, R* result, int count, F f) {
  if (a.uniform) {
    const T x = a.lanes[0];
    if (b.uniform) {
      MapLanes(b, result, count, [&](T y) { return f(x, y); });
      return;
    }
    AOTC_LANE_LOOP
    for (int i = 0; i < count; ++i) result[i] = f(x, b.lanes[i]);
    return;
  }
  if (b.uniform) {
    const T y = b.lanes[0];
    AOTC_LANE_LOOP
    for (int i = 0; i < count; ++i) result[i] = f(a.lanes[i], y);
    return;
  }
  AOTC_LANE_LOOP
  for (int i = 0; i < count; ++i) result[i] = f(a.lanes[i], b.lanes[i]);
}

}  // namespace aotc

#endif  // AOTC_COMPILER_EVAL_ROW_LOOPS_H_
