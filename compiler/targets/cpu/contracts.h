// The contracts of the CPU's tile functions.
//
//   for (const PricedContract& offer : CpuContracts(anchor, options)) ...
//   // direct, 16 -> 16 in 31 us; winograd(4), 16 -> 16 in 14 us ...
#ifndef AOTC_COMPILER_TARGETS_CPU_CONTRACTS_H_
#define AOTC_COMPILER_TARGETS_CPU_CONTRACTS_H_

#include <cstdint>

#include "compiler/ir/contract.h"
#include "compiler/targets/cpu/cpu_target.h"

namespace aotc {

// Of the layout of images that the tiles read: the lanes of the widest vectors.
inline constexpr int64_t kChannelBlock = 16;

// Nothing but row-major tensors where there are to be no tile functions.
TargetContracts CpuContracts(const CpuOptions& options);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_CONTRACTS_H_
