// Whether a kernel counts and indexes with 32 bits or with 64.
//
//   UseNarrowIndices(small);   // "": the loops have `index i32` now
//   UseNarrowIndices(huge);    // "task*128 + thread reaches 2147483775": they stay as they are
//
// A GPU computes with 32 bits; arithmetic on 64 costs it two instructions or more. The choice holds
// for a whole function, and for all values of its symbols: every index, every part of one, every
// loop's end and step has to fit. Element values of type i64 stay i64, and whatever is computed of
// them until it becomes an index.
#ifndef AOTC_COMPILER_LOWER_INDEX_WIDTH_H_
#define AOTC_COMPILER_LOWER_INDEX_WIDTH_H_

#include <string>

#include "compiler/ir/loops.h"

namespace aotc {

// Narrows the indices of loops with `index i64`, without vectors. Returns why not, "" where it did.
std::string UseNarrowIndices(LoopFunction& function);

}  // namespace aotc

#endif  // AOTC_COMPILER_LOWER_INDEX_WIDTH_H_
