// Joins: kernels whose one result is their operands, one after the other along an axis.
//
//   %y[n, c, i] = select(c < 32, %a[n, c, i], %b[n, c - 32, i])
//
//   ReadJoin(kernel)->axis         // 1
//   ReadJoin(kernel)->parts[1]     // %b from 32 on
//
// And their inverse, cuts: %b[n, c, i] = %y[n, c + 32, i].
#ifndef AOTC_COMPILER_SCHEDULE_JOIN_H_
#define AOTC_COMPILER_SCHEDULE_JOIN_H_

#include <optional>
#include <vector>

#include "compiler/ir/kernel.h"

namespace aotc {

struct JoinPart {
  TensorId tensor = {};
  Expr start = 0;  // of its first element along the axis
};

struct Join {
  size_t axis = 0;
  std::vector<JoinPart> parts = {};  // in order, two or more
};

// A kernel whose one result is a part of its one operand along an axis, all of it along the others.
struct JoinCut {
  size_t axis = 0;
  Expr start = 0;
};
std::optional<JoinCut> ReadCut(const Kernel& kernel);

// Nothing where the kernel is no join: parts must cover the result, be whole and keep their type.
std::optional<Join> ReadJoin(const Kernel& kernel);

}  // namespace aotc

#endif  // AOTC_COMPILER_SCHEDULE_JOIN_H_
