// The tables of rules that make up the pass `simplify`, one per file.
#ifndef AOTC_COMPILER_OPTIMIZE_SIMPLIFY_RULES_H_
#define AOTC_COMPILER_OPTIMIZE_SIMPLIFY_RULES_H_

#include <span>

#include "compiler/optimize/rewrite.h"

namespace aotc {

std::span<const RewriteRule> ArithmeticRules();  // neutral operands, powers, negations
std::span<const RewriteRule> CastRules();        // chains of casts
std::span<const RewriteRule> ClampRules();       // Clip, Relu, Where, sizes of one
std::span<const RewriteRule> PadRules();         // padding that convolutions do themselves
std::span<const RewriteRule> ReshapeRules();     // what keeps the order of elements, transposes
std::span<const RewriteRule> SliceRules();       // parts of joined tensors

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_SIMPLIFY_RULES_H_
