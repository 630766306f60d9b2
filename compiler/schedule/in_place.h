// Results that a kernel may write over what it reads.
//
//   %y[i, j] = max(%x[i, j], 0.0)     // InPlacePairs(kernel): {{1, 0}}, %y over %x
#ifndef AOTC_COMPILER_SCHEDULE_IN_PLACE_H_
#define AOTC_COMPILER_SCHEDULE_IN_PLACE_H_

#include <utility>
#include <vector>

#include "compiler/ir/kernel.h"

namespace aotc {

// Numbers of params: of an output, and of an input that is read only at the index that is being
// written.
std::vector<std::pair<int, int>> InPlacePairs(const Kernel& kernel);

}  // namespace aotc

#endif  // AOTC_COMPILER_SCHEDULE_IN_PLACE_H_
