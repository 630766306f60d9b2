// Updates on a GPU: each thread owns every so manieth element of the result, and takes all updates
// in their order to those.
//
//   %y[i<n] = reduce sum(r<m) select(%at[r] == i, %u[r], 0.0)         // `parts` threads
//
//   for s { let i = part + s*parts; store %y[i] = 0.0 }
//   for r { let i = %at[r]
//           if 0 <= i && i < n { if i mod parts == part { store %y[i] = %y[i] + %u[r] } } }
//
// That is m steps for each thread, however long the result is, without barriers or atomic
// operations, and the same numbers in every run.
#ifndef AOTC_COMPILER_LOWER_OWNED_UPDATES_H_
#define AOTC_COMPILER_LOWER_OWNED_UPDATES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "compiler/ir/kernel.h"
#include "compiler/ir/loops.h"

namespace aotc {

struct Owners {
  int64_t blocks = 64;
  int64_t threads = 256;  // of each
};

// Error, with the reason: the kernel is not one reduction of updates, or has not many more elements
// than there are owners.
absl::StatusOr<LoopFunction> LowerToOwners(const Kernel& kernel, const Owners& owners);

}  // namespace aotc

#endif  // AOTC_COMPILER_LOWER_OWNED_UPDATES_H_
