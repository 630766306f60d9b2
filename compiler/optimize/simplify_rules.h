// The tables of rules that make up the pass `simplify`, one per file.
#ifndef AOTC_COMPILER_OPTIMIZE_SIMPLIFY_RULES_H_
#define AOTC_COMPILER_OPTIMIZE_SIMPLIFY_RULES_H_

#include <optional>
#include <span>

#include "compiler/optimize/rewrite.h"

namespace aotc {

std::span<const RewriteRule> ArithmeticRules();  // neutral operands, powers, negations
std::span<const RewriteRule> CastRules();        // chains of casts
std::span<const RewriteRule> ClampRules();       // Clip, Relu, Where, sizes of one
std::span<const RewriteRule> FastRules();        // those of real numbers, for --math fast
std::span<const RewriteRule> PadRules();         // padding that convolutions do themselves
std::span<const RewriteRule> ReshapeRules();     // what keeps the order of elements, transposes
std::span<const RewriteRule> SliceRules();       // parts of joined tensors

// What several tables need.

// The value that all elements of a constant input have; not of 64-bit integers beyond 2^53.
std::optional<double> UniformInput(const RewriteSite& site, size_t index);
// The input takes the node's place where the other operand does not broadcast it.
bool ReplaceByInput(RewriteSite& site, size_t index);
// Add or Mul of constants: op(op(x, c), d) becomes op(x, op(c, d)), where `may_meet` allows c and
// d.
using MayMeet = bool (*)(const RewriteSite& site, const Constant& c, const Constant& d);
bool ConstantsMeet(RewriteSite& site, MayMeet may_meet);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_SIMPLIFY_RULES_H_
