// Pointwise stages substituted into the stages that read them.
//
//   AOTC_RETURN_IF_ERROR(InlineStages(kernel, 2, {}));   // y[i] = x[i + 1] * sigmoid(x[i + 1])
#ifndef AOTC_COMPILER_FUSE_INLINE_STAGES_H_
#define AOTC_COMPILER_FUSE_INLINE_STAGES_H_

#include "absl/status/status.h"
#include "compiler/ir/kernel.h"

namespace aotc {

// Replaces loads of the temps that the first `count` stages, all pointwise, make, but for `kept`: a
// temp left behind an inlined one would be computed for a whole row where one element is read.
// Error: an expression would get too long, as each of several loads repeats what it replaces; the
// kernel is then of no use.
absl::Status InlineStages(Kernel& kernel, size_t count, TensorId kept);

}  // namespace aotc

#endif  // AOTC_COMPILER_FUSE_INLINE_STAGES_H_
