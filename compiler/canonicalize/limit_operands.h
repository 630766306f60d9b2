// Nodes with very many operands written as several: a kernel has an argument for each operand, GPUs
// hand at most 4 KiB of those to one, and code that chooses among hundreds is slow to compile.
//
//   %y = Concat(%x0, ..., %x999)        =>      32 joins of 32 or fewer, and one of those
//   %y = Sum(%x0, ..., %x999)           =>      Sum(Sum(%x0, ..., %x31), %x32, ...), in their order
#ifndef AOTC_COMPILER_CANONICALIZE_LIMIT_OPERANDS_H_
#define AOTC_COMPILER_CANONICALIZE_LIMIT_OPERANDS_H_

#include "compiler/pass/pass.h"

namespace aotc {

// Needs no types. Concat, Max, Min and Sum.
absl::StatusOr<Graph> LimitOperands(const Graph& graph, PassContext& context);

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_LIMIT_OPERANDS_H_
