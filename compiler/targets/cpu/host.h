// The host programs of the CPU target: NAME.cpp, NAME_pool.cpp, and their part of NAME.h. What
// several workers need (run_mt, barriers, the pool) is only in programs that may have some.
//
//   EmitOptions options{.host = CpuHost()};
#ifndef AOTC_COMPILER_TARGETS_CPU_HOST_H_
#define AOTC_COMPILER_TARGETS_CPU_HOST_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/emit/parts.h"
#include "compiler/support/code_writer.h"

namespace aotc {

HostWriter CpuHost();

// NAME.cpp
absl::StatusOr<std::string> EmitCpuHost(const EmitContext& context);
// NAME_pool.cpp: threads for hosts that have none to lend.
std::string EmitCpuThreads(const EmitContext& context);

// The memory of a run: its arena, or where that is made of pools, those.
struct HostMemory {
  std::string parameter;  // "void *arena"
  std::string name;       // "arena"
  std::string run;        // what takes it: "run" or "run_pools"
  std::string member;     // of what the workers of a run share
  std::string keep;       // the line that fills it in
};
HostMemory HostMemoryOf(const EmitContext& context);
// Lines of prepare() that check it.
void CheckMemory(const EmitContext& context, CodeWriter& w);
// With pools: `pools_of(arena)`, and run and run_mt, which take one arena for all pools.
void EmitPoolsOfArena(const EmitContext& context, CodeWriter& w);
void EmitRunsInOneArena(const EmitContext& context, CodeWriter& w);

// What load and the runs are declared with in front where the user loads the weights; else "".
std::string WeightsParameter(const EmitContext& context);
// Those. `has_status`: a run may end with a status that only it finds.
void EmitEntryPoints(const EmitContext& context, bool has_status, CodeWriter& w);

// The run through the table, the table, and the function that returns it.
absl::Status EmitCpuTable(const EmitContext& context, CodeWriter& w);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_HOST_H_
