// Heads of attention that lie in rows, [B, S, heads * D], side by side and back.
#ifndef AOTC_COMPILER_OPS_ATTENTION_HEADS_H_
#define AOTC_COMPILER_OPS_ATTENTION_HEADS_H_

#include <cstdint>

#include "compiler/ops/expansion.h"

namespace aotc {

// [B, S, heads * D] -> [B, heads, S, D]
ValueId HeadsSideBySide(Expansion& e, ValueId x, int64_t heads);
// [B, heads, S, D] -> [B, S, heads * D]
ValueId HeadsInRows(Expansion& e, ValueId x);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_ATTENTION_HEADS_H_
