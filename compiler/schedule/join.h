// Joins: kernels whose one result is their operands along an axis, one after the other or in turn.
//
//   %y[n, c, i] = select(c < 32, %a[n, c, i], %b[n, c - 32, i])
//   %z[n, c, i] = select(i % 2 == 0, %a[n, c, i / 2], %b[n, c, i / 2])
//
//   ReadJoin(kernel)->axis         // 1 of %y; 2 of %z
//   ReadJoin(kernel)->parts[1]     // %b from 32 on; from 1 on
//   ReadJoin(kernel)->step         // 1; 2
//
// And their inverse, cuts: %b[n, c, i] = %y[n, c + 32, i].
#ifndef AOTC_COMPILER_SCHEDULE_JOIN_H_
#define AOTC_COMPILER_SCHEDULE_JOIN_H_

#include <cstddef>
#include <cstdint>
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
  int64_t step = 1;                  // from an element of a part to the next, along the axis
};

// A kernel whose one result is a part of its one operand along an axis, all of it along the others.
struct JoinCut {
  size_t axis = 0;
  Expr start = 0;
};
std::optional<JoinCut> ReadCut(const Kernel& kernel);

// How often a kernel's result repeats each element of its one operand, per axis:
// %y[n, c, i, j] = %x[n, c, i / 2, j / 2] gives 1, 1, 2, 2.
using Repeats = std::vector<int64_t>;
std::optional<Repeats> ReadRepeats(const Kernel& kernel);

// Nothing where the kernel is no join: parts must cover the result, be whole and keep their type.
std::optional<Join> ReadJoin(const Kernel& kernel);

}  // namespace aotc

#endif  // AOTC_COMPILER_SCHEDULE_JOIN_H_
