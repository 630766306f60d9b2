// The CPU target: instruction sets, schedule rules, spelling.
//
//   CpuOptions options{.isas = *ParseCpuList("x86-64,x86-64-v3,x86-64-v4")};
//   ProgramKernel kernel = *ScheduleOnCpu(fused.kernel, options);
#ifndef AOTC_COMPILER_TARGETS_CPU_CPU_TARGET_H_
#define AOTC_COMPILER_TARGETS_CPU_CPU_TARGET_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/program.h"
#include "compiler/targets/cpu/features.h"
#include "compiler/targets/cpu/limits.h"
#include "compiler/targets/target.h"

namespace aotc {

struct CpuOptions {
  std::vector<Isa> isas = {};
  CpuLimitsTable limits = DefaultCpuLimits();
  bool templates = true;                // false: plain loops only
  std::set<std::string> disabled = {};  // schedules that are not to be chosen
};

// The kernel's variants, best first: one per instruction set where it pays, all under one contract
// of layouts, which says how constants are packed.
absl::StatusOr<ProgramKernel> ScheduleOnCpu(const Kernel& kernel, const CpuOptions& options);

// What could stand in the place of one of these variants.
std::vector<ScheduleCandidate> CpuCandidatesOf(const Kernel& kernel, const KernelVariant& variant,
                                               const CpuOptions& options);
// The variant with the schedule that this text says. Error: it is none of the kernel, and why.
absl::StatusOr<KernelVariant> CpuVariantBy(const Kernel& kernel, const KernelVariant& variant,
                                           std::string_view text, const CpuOptions& options);

// What the kernel should take on the best of the instruction sets, with the schedule that it would
// have: the mean of a run with one worker and of one with all of the machine's cores.
KernelEstimate EstimateOnCpu(const Kernel& kernel, const CpuOptions& options);

// Source text of one file of kernels of one instruction set. `prefix` stands before every symbol.
struct CpuKernelRef {
  const ProgramKernel* kernel;
  const KernelVariant* variant;
};
std::string EmitCpuKernels(const std::vector<CpuKernelRef>& kernels, const Isa& isa,
                           std::string_view prefix);
// The same for all kernels of a program, in files of a size that compiles quickly.
std::vector<KernelFile> CpuKernelFiles(const Program& program);

extern const TargetMaker kCpuTarget;

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_CPU_TARGET_H_
