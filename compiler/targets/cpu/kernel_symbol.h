// The names by which the host calls kernels: one rule for those who define and those who call.
//
//   KernelSymbol("mobilenet", variant);   // "mobilenet_conv1_v4"
#ifndef AOTC_COMPILER_TARGETS_CPU_KERNEL_SYMBOL_H_
#define AOTC_COMPILER_TARGETS_CPU_KERNEL_SYMBOL_H_

#include <string>
#include <string_view>

#include "compiler/ir/program.h"

namespace aotc {

// PREFIX_FUNCTION_SUFFIX, where the function is that of the variant's loops.
std::string KernelSymbol(std::string_view prefix, const KernelVariant& variant);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_KERNEL_SYMBOL_H_
