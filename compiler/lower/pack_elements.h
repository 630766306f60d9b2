// Kernels whose results have elements of less than a byte, rewritten to write whole bytes.
//
//   %y[i<9] = i4(round(%x[i]))           // a result of i4 ...
//   %y[i<5] = code of %x[2*i] | code of %x[2*i + 1] << 4     // ... as the 5 bytes that hold it
//
// Two or four elements share a byte, so that a store of one would read and write others, which
// other tasks or threads may be writing. A kernel that computes bytes needs no other stores,
// schedules or targets than one of u8. Values of such types lie packed everywhere in memory:
// between kernels as well as in inputs, outputs and weights.
#ifndef AOTC_COMPILER_LOWER_PACK_ELEMENTS_H_
#define AOTC_COMPILER_LOWER_PACK_ELEMENTS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "compiler/ir/kernel.h"

namespace aotc {

bool IsPackedResult(const Kernel& kernel, TensorId tensor);
// Whether the kernel computes any tensor of such a type, temps included.
bool ComputesPacked(const Kernel& kernel);

// The kernel with each temp and result of such a type as u8, one byte for each element, whose low
// bits are the element's. Error: a reduction gives one, or a result is not row-major.
absl::StatusOr<Kernel> WithBytePerElement(const Kernel& kernel);

// The same kernel, one of u8 as WithBytePerElement gives it, writing the bytes of its result, which
// is of type `packed`, in one stage. Nothing where it has other stages than pointwise ones or more
// results, or where the expression would get too long.
std::optional<Kernel> PackedInOneStage(const Kernel& kernel, DType packed);

// A kernel that reads one byte for each element of `tensor`, a packed result, and writes its bytes.
Kernel PackingKernel(const Kernel& kernel, TensorId tensor);

}  // namespace aotc

#endif  // AOTC_COMPILER_LOWER_PACK_ELEMENTS_H_
