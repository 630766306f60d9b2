// Whether the loads of a stage stay within their tensors.
//
//   std::string complaint = FindLoadOutOfBounds(kernel, stage, stage.body[0]);
//   // "%x[i + 1] leaves its tensor at i=7"
#ifndef AOTC_COMPILER_IR_KERNEL_BOUNDS_H_
#define AOTC_COMPILER_IR_KERNEL_BOUNDS_H_

#include <string>

#include "compiler/ir/kernel.h"

namespace aotc {

// A load of `body` that leaves its tensor for some values of axes and symbols under which it is
// evaluated (selects, && and || guard what they contain), with those values; "" where none was
// found. What cannot be proven is tried at the corners of the axes and symbols, so every complaint
// is a true one; an index that is loaded itself is not looked at.
std::string FindLoadOutOfBounds(const Kernel& kernel, const Stage& stage, const Expr& body);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_KERNEL_BOUNDS_H_
