// What has to hold of the kernel of a node at all sizes.
//
//   CheckReads(kernel, /*always_runs=*/true);     // "it reads an element that an empty tensor ..."
#ifndef AOTC_COMPILER_CANONICALIZE_KERNEL_CHECKS_H_
#define AOTC_COMPILER_CANONICALIZE_KERNEL_CHECKS_H_

#include <string_view>

#include "absl/status/status.h"
#include "compiler/ir/kernel.h"

namespace aotc {

inline constexpr std::string_view kLargerSize = ": give --dim a larger least size";

// Padding or an interpolation has nothing to repeat where its input is empty, nor is there an
// element for an index of the run; a branch or a round that reads at one may not run then.
absl::Status CheckReads(const Kernel& kernel, bool always_runs);

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_KERNEL_CHECKS_H_
