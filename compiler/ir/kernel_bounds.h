// Whether the loads of a stage stay within their tensors.
//
//   std::string complaint = FindLoadOutOfBounds(kernel, stage, stage.body[0]);
//   // "%x[i + 1] leaves its tensor at i=7"
#ifndef AOTC_COMPILER_IR_KERNEL_BOUNDS_H_
#define AOTC_COMPILER_IR_KERNEL_BOUNDS_H_

#include <string>

#include "compiler/ir/kernel.h"

namespace aotc {

// What is expected where the index of a load is loaded itself: that it is checked elsewhere, or
// that it can be in bounds at all, as its tensor is not empty.
enum class LoadedIndices { kAreTrusted, kNeedElements };

// A load of `body` that leaves its tensor for some values of axes and symbols under which it is
// evaluated (selects, && and || guard what they contain), with those values; "" where none was
// found. What cannot be proven is tried at the corners of the axes and symbols, so every complaint
// is a true one.
std::string FindLoadOutOfBounds(const Kernel& kernel, const Stage& stage, const Expr& body,
                                LoadedIndices loaded = LoadedIndices::kAreTrusted);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_KERNEL_BOUNDS_H_
