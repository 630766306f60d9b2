// What GPUs do per second and hold, for rules and costs of the CUDA target: by the name of the
// architecture, or as a limits file has them. Sizes are those of NVIDIA's programming guide
// (compute capabilities); rates are those of its data sheets for one well-known card of each
// architecture, per multiprocessor and clock.
//
//   AOTC_ASSIGN_OR_RETURN(const CudaLimits limits, CudaLimitsFrom(limits_file, {"80", "90a"}));
//   blocks >= limits.sms
#ifndef AOTC_COMPILER_TARGETS_CUDA_LIMITS_H_
#define AOTC_COMPILER_TARGETS_CUDA_LIMITS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/targets/limits_json.h"

namespace aotc {

struct CudaLimits {
  std::string_view arch = {};                       // "sm_80"
  int64_t sms = 0;                                  // multiprocessors
  int64_t shared_per_block = 0, shared_per_sm = 0;  // bytes, as far as a kernel may ask for them
  int64_t registers_per_sm = 65536, threads_per_sm = 2048;
  double clock_hz = 0;
  // Multiply-adds per multiprocessor and clock: f32 without, f16 with tensor cores (mma.sync).
  double f32_fma_per_clock = 0, f16_mma_fma_per_clock = 0;
  int64_t l2_bytes = 0;
  double l2_bandwidth = 0, memory_bandwidth = 0;  // bytes per second
  double launch_seconds = 2.5e-6;                 // from one kernel of a stream to the next
};

// What all of these GPUs have ("80", "90a"): the least of each number. An architecture without a
// row takes that of the newest one before it, or of the oldest.
CudaLimits DefaultCudaLimits(const std::vector<std::string>& archs);

// The same with the rows of a limits file (limits_json.h), by architecture: {"cuda": {"sm_80": {
// "sms": 108, ...}}}. Error: keys, types and ranges that are not known.
absl::StatusOr<CudaLimits> CudaLimitsFrom(const std::string& file,
                                          const std::vector<std::string>& archs);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CUDA_LIMITS_H_
