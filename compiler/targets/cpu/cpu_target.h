// The CPU target: instruction sets, schedule rules, spelling.
//
//   std::vector<Isa> isas = *ParseCpuList("x86-64,x86-64-v3,x86-64-v4");
//   ProgramKernel kernel = *ScheduleOnCpu(fused.kernel, isas, options);
#ifndef AOTC_COMPILER_TARGETS_CPU_CPU_TARGET_H_
#define AOTC_COMPILER_TARGETS_CPU_CPU_TARGET_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/program.h"
#include "compiler/targets/target.h"

namespace aotc {

// One instruction set for which kernels are written.
struct Isa {
  std::string_view name;    // as --cpu takes it
  std::string_view macro;   // selects it in aotc/target_begin.h
  std::string_view suffix;  // of kernel names and files: "v4"
  int lanes;                // f32 lanes of a vector
  int registers;            // vector registers
  bool has_vnni = false;    // dot products of bytes: only kernels that use them are written for it
};

// Known names, best last, without duplicates; "native" is the best of this machine, "portable" is
// GNU vectors without target attributes. x86-64-v4 brings x86-64-v4-vnni. Error: an unknown name,
// with the known ones.
absl::StatusOr<std::vector<Isa>> ParseCpuList(std::string_view list);

struct CpuOptions {
  std::vector<Isa> isas = {};
  bool templates = true;                // false: plain loops only
  std::set<std::string> disabled = {};  // schedules that are not to be chosen
};

// The kernel's variants, best first: one per instruction set where it pays, all under one contract
// of layouts. Packs the layouts of constants into the kernel's tensors.
absl::StatusOr<ProgramKernel> ScheduleOnCpu(Kernel kernel, const CpuOptions& options);

// Whether what the kernel keeps between its stages, for a row of its loops, stays in a cache.
bool CpuHolds(const Kernel& kernel);

// Why `merged` must not replace its parts: a contraction would lose its tile, or the temps of a row
// would leave the cache. "" where it may.
std::string CpuFusionVeto(const Kernel& producer, const Kernel& consumer, const Kernel& merged);

// Source text of one file of kernels of one instruction set. `prefix` stands before every symbol.
struct CpuKernelRef {
  const ProgramKernel* kernel;
  const KernelVariant* variant;
};
std::string EmitCpuKernels(const std::vector<CpuKernelRef>& kernels, const Isa& isa,
                           std::string_view prefix);
// The same for all kernels of a program, in files of a size that compiles quickly.
std::vector<KernelFile> CpuKernelFiles(const Program& program, const std::vector<Isa>& isas);

extern const TargetMaker kCpuTarget;

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_CPU_TARGET_H_
