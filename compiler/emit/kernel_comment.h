// The comment that opens every generated kernel: where it comes from, what it computes, how and
// why.
#ifndef AOTC_COMPILER_EMIT_KERNEL_COMMENT_H_
#define AOTC_COMPILER_EMIT_KERNEL_COMMENT_H_

#include <string>

#include "compiler/ir/program.h"

namespace aotc {

// Source ONNX nodes, the kernel's stages, FLOP and bytes, at the last of its variants, which is for
// the widest choice of machines; the schedule with its reason. As `//` lines.
std::string KernelComment(const ProgramKernel& program_kernel, const KernelVariant& variant);

}  // namespace aotc

#endif  // AOTC_COMPILER_EMIT_KERNEL_COMMENT_H_
