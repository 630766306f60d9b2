// How the operands of a contraction lie in memory.
//
//   InnermostStep(c, c.a, c.k)        // 1: neighbours along k are neighbours in memory
//   UsesAny(c.a, c.m)                 // %a is indexed by m
#ifndef AOTC_COMPILER_TARGETS_CUDA_CONTRACTION_OPERANDS_H_
#define AOTC_COMPILER_TARGETS_CUDA_CONTRACTION_OPERANDS_H_

#include <vector>

#include "compiler/schedule/anchor.h"
#include "compiler/targets/cuda/contraction_parts.h"

namespace aotc {

// Whether an expression names one of the axes; a null one does not.
bool UsesAny(const Expr& e, const std::vector<NestAxis>& axes);

// Elements between neighbours along the innermost of `axes` that has several; 0 where they lie at
// no even distance.
int64_t InnermostStep(const CudaContraction& contraction, const Expr& operand,
                      const std::vector<NestAxis>& axes);

// The axes that make up a position, of which only those that `used` names are defined.
std::vector<Stmt> DecodeUsed(const std::vector<NestAxis>& axes, const Expr& position,
                             const std::vector<Expr>& used);

// The same product with the operands exchanged: C'[n, m].
void ExchangeOperands(CudaContraction& contraction);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CUDA_CONTRACTION_OPERANDS_H_
