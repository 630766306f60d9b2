// What a machine does per second and holds in its caches, for rules and costs of the CPU target: by
// the name of the family of vectors, or as `aotc limits` has measured them.
//
//   AOTC_ASSIGN_OR_RETURN(const CpuLimitsTable table, CpuLimitsFrom(limits_file));
//   const CpuLimits& limits = table.For(isa);
//   seconds = multiply_adds / limits.fma_per_second + bytes / limits.memory_bandwidth;
#ifndef AOTC_COMPILER_TARGETS_CPU_LIMITS_H_
#define AOTC_COMPILER_TARGETS_CPU_LIMITS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/targets/cpu/features.h"
#include "compiler/targets/limits_json.h"

namespace aotc {

// Of a machine whose code is written for one family. Rates are those of one core that has the
// machine's memory to itself.
struct CpuLimits {
  std::string_view family = {};  // of VectorFamilies(), which has lanes and registers
  double fma_per_second = 0;     // multiply-adds of f32, each lane counted
  double clock_hz = 3e9;
  int64_t cores = 4;
  // L1 and L2 are a core's own; L3 is what it may count on of a shared one.
  int64_t l1_bytes = 32 << 10, l2_bytes = 256 << 10, l3_bytes = 1 << 20;
  // Bytes per second that loads in a row get.
  double l1_bandwidth = 0, l2_bandwidth = 0, l3_bandwidth = 0, memory_bandwidth = 1e10;
  double barrier_seconds = 1e-6;  // that two workers lose by meeting
};

// A row for each family.
struct CpuLimitsTable {
  std::vector<CpuLimits> rows = {};

  const CpuLimits& For(const Isa& isa) const;
};

// Conservative: what machines of the last ten years that have the family reach.
CpuLimitsTable DefaultCpuLimits();

// The default with what a limits file (limits_json.h) says in its place. Error: keys, types and
// ranges that are not known.
absl::StatusOr<CpuLimitsTable> CpuLimitsFrom(const std::string& file);

// What --limits takes, of this machine; runs for a second or two.
LimitsJson MeasureCpu();

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_LIMITS_H_
