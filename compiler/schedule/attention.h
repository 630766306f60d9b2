// The anchor of attention: products of rows with rows, a softmax, and products with values.
//
//   %q2[n, h, i, d] = %q[n, h, i, d] * 0.125                            // pointwise, or nothing
//   %s[n, h, i, j]  = reduce sum(d) %q2[n, h, i, d] * %k[n, h, j, d]
//   %z[n, h, i, j]  = %s[n, h, i, j] + %mask[j]                            // pointwise, or nothing
//   %top[n, h, i]   = reduce max(j) %z[n, h, i, j]
//   %t[n, h, i, j]  = exp(%z[n, h, i, j] - %top[n, h, i])
//   %sum[n, h, i]   = reduce sum(j) %t[n, h, i, j]
//   %p[n, h, i, j]  = %t[n, h, i, j] / %sum[n, h, i]
//   %y[n, h, i, e]  = reduce sum(j) %p[n, h, i, j] * %v[n, h, j, e]
//   ...                                                               // pointwise, or nothing
#ifndef AOTC_COMPILER_SCHEDULE_ATTENTION_H_
#define AOTC_COMPILER_SCHEDULE_ATTENTION_H_

#include <cstddef>
#include <optional>

#include "compiler/ir/kernel.h"

namespace aotc {

// Positions of stages.
struct AttentionAnchor {
  size_t scores = 0;   // %s; those before are pointwise
  size_t maximum = 0;  // %top; %t, %sum and %p follow
  size_t values = 0;   // %y
};

// Nothing where the kernel's stages are not as above: all of them share their axes but the last.
std::optional<AttentionAnchor> ReadAttention(const Kernel& kernel);

}  // namespace aotc

#endif  // AOTC_COMPILER_SCHEDULE_ATTENTION_H_
