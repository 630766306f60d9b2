// Scratch that the arena has room for: a worker more is not worth a larger arena.
//
//   // %x, 1 MB, and 100 KB of scratch for each of 16 workers at a step; 2 MB at another
//   FitScratch(program, 2'100'000, {});          // 11 of them have scratch at the first
//   FitScratch(program, 2'100'000, smaller);     // or all, where blocks can be smaller
#ifndef AOTC_COMPILER_PLAN_FIT_SCRATCH_H_
#define AOTC_COMPILER_PLAN_FIT_SCRATCH_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "compiler/ir/program.h"

namespace aotc {

// The variant with another schedule, one that takes some scratch, at most so many bytes, and should
// take at most so many times as long. Nothing where there is none.
using SmallerVariant = std::function<std::optional<KernelVariant>(
    const Kernel& kernel, const KernelVariant& variant, int64_t most_bytes, double most_times)>;

// What the arena may take: as much as without any scratch, and a twentieth; where it is no eighth
// of what the caller has in memory for inputs and outputs, a twentieth of that. 4 KB are no matter.
// Lifetimes must be set.
int64_t MostArena(const Program& program);

// Bytes that there are for scratch at each step.
using ScratchRoom = std::vector<int64_t>;

// Buffers of scratch of the size that there is room for. Variants change where more workers have
// scratch for little time. Two workers always have it.
void FitScratch(Program& program, const ScratchRoom& room, const SmallerVariant& smaller);
// In an arena of `most` bytes, without a gap.
void FitScratch(Program& program, int64_t most, const SmallerVariant& smaller);

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_FIT_SCRATCH_H_
