// Functions that exporters write in terms of simpler ops become one op again, so that they are
// computed where their operand is, or in one kernel.
//
//   Mul(Mul(%x, 0.5), Add(Erf(Div(%x, 1.4142135)), 1))      =>   Gelu(%x)
//   Mul(%x, Sigmoid(%x))                                    =>   Swish(%x)
//   Div(Exp(Sub(%x, max)), sum of that)                     =>   Softmax(%x)
//   (%x - mean) / sqrt(mean of its square + e) * s + b      =>   LayerNormalization(%x, s, b)
//
// Nothing else may read what is inside of a pattern. Results agree to within rounding.
#ifndef AOTC_COMPILER_OPTIMIZE_RECOGNIZE_H_
#define AOTC_COMPILER_OPTIMIZE_RECOGNIZE_H_

#include <span>

#include "compiler/optimize/rewrite.h"
#include "compiler/pass/pass.h"

namespace aotc {

absl::StatusOr<Graph> RecognizeFunctions(const Graph& graph, PassContext& context);

// The rules that make up the pass, one table a file.
std::span<const RewriteRule> ActivationPatterns();
std::span<const RewriteRule> NormalizationPatterns();

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_RECOGNIZE_H_
