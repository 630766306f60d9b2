// Which ops compute each element of their result from the elements at its place, after
// broadcasting: whatever renames the places of all operands alike can as well be done behind them.
#ifndef AOTC_COMPILER_OPTIMIZE_ELEMENTWISE_H_
#define AOTC_COMPILER_OPTIMIZE_ELEMENTWISE_H_

#include <string_view>

namespace aotc {

bool IsElementwise(std::string_view op);
// Conv, Gemm and MatMul: what elementwise ops can be computed with.
bool IsContractionOp(std::string_view op);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_ELEMENTWISE_H_
