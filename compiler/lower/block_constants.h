// Constants that are read along the channel blocks of a kernel's output are blocked likewise.
#ifndef AOTC_COMPILER_LOWER_BLOCK_CONSTANTS_H_
#define AOTC_COMPILER_LOWER_BLOCK_CONSTANTS_H_

#include "compiler/ir/kernel.h"

namespace aotc {

// Where the main output splits an axis into blocks, a row-major constant that is read at that axis
// gets the same split, innermost: its lanes are contiguous and padded with zeros.
void BlockConstants(Kernel& kernel);

}  // namespace aotc

#endif  // AOTC_COMPILER_LOWER_BLOCK_CONSTANTS_H_
