#include "compiler/targets/cuda/limits.h"

#include <algorithm>
#include <cstdlib>

#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// The largest block of shared memory is what cudaFuncSetAttribute grants; a kilobyte of each
// multiprocessor is the system's. mma.sync reaches about 62 % of what wgmma does on sm_90.
// arch, sms, shared of a block and of an SM, registers, threads, clock, f32, f16, L2, rates
const CudaLimits kRows[] = {
    // A100
    {"sm_80", 108, 166912, 167936, 65536, 2048, 1.41e9, 64, 1024, 40 << 20, 4e12, 1.555e12},
    // A10
    {"sm_86", 72, 101376, 102400, 65536, 1536, 1.695e9, 128, 512, 6 << 20, 1.5e12, 6e11},
    // L4
    {"sm_89", 58, 101376, 102400, 65536, 1536, 2.04e9, 128, 512, 48 << 20, 2e12, 3e11},
    // H100 SXM
    {"sm_90", 132, 232448, 233472, 65536, 2048, 1.83e9, 128, 1280, 50 << 20, 5.5e12, 3.35e12},
    // RTX 5090
    {"sm_120", 170, 101376, 102400, 65536, 1536, 2.41e9, 128, 256, 96 << 20, 5e12, 1.79e12},
};

using Field = LimitField<CudaLimits>;

constexpr double kMostRate = 1e16, kMostBytes = 1e12;

// name, member, least, most
const Field kFields[] = {
    {"sms", &CudaLimits::sms, 1, 4096},
    {"shared_per_block", &CudaLimits::shared_per_block, 48 << 10, 1 << 24},
    {"shared_per_sm", &CudaLimits::shared_per_sm, 48 << 10, 1 << 24},
    {"registers_per_sm", &CudaLimits::registers_per_sm, 1 << 14, 1 << 24},
    {"threads_per_sm", &CudaLimits::threads_per_sm, 1024, 1 << 16},
    {"clock_hz", &CudaLimits::clock_hz, 1e8, 1e11},
    {"f32_fma_per_clock", &CudaLimits::f32_fma_per_clock, 1, 1e6},
    {"f16_mma_fma_per_clock", &CudaLimits::f16_mma_fma_per_clock, 1, 1e6},
    {"l2_bytes", &CudaLimits::l2_bytes, 1 << 16, kMostBytes},
    {"l2_bandwidth", &CudaLimits::l2_bandwidth, 1e9, kMostRate},
    {"memory_bandwidth", &CudaLimits::memory_bandwidth, 1e9, kMostRate},
    {"launch_seconds", &CudaLimits::launch_seconds, 0, 1},
};

int NumberOf(std::string_view arch) { return std::atoi(std::string(arch).c_str()); }

// The row of "90a" is that of sm_90, of "100" too.
const CudaLimits& RowOf(const std::vector<CudaLimits>& rows, const std::string& arch) {
  const CudaLimits* best = &rows.front();
  for (const CudaLimits& row : rows) {
    if (NumberOf(row.arch.substr(3)) <= NumberOf(arch)) best = &row;
  }
  return *best;
}

CudaLimits LeastOf(const std::vector<CudaLimits>& rows, const std::vector<std::string>& archs) {
  AOTC_CHECK(!archs.empty());
  CudaLimits least = RowOf(rows, archs.front());
  for (const std::string& arch : archs) {
    const CudaLimits& row = RowOf(rows, arch);
    for (const Field& field : kFields) {
      const auto take = [&](auto member) { least.*member = std::min(least.*member, row.*member); };
      if (field.name == "launch_seconds") continue;  // the more, the slower
      std::visit(take, field.member);
    }
    least.launch_seconds = std::max(least.launch_seconds, row.launch_seconds);
  }
  return least;
}

std::vector<CudaLimits> DefaultRows() { return {std::begin(kRows), std::end(kRows)}; }

}  // namespace

CudaLimits DefaultCudaLimits(const std::vector<std::string>& archs) {
  return LeastOf(DefaultRows(), archs);
}

absl::StatusOr<CudaLimits> CudaLimitsFrom(const std::string& file,
                                          const std::vector<std::string>& archs) {
  std::vector<CudaLimits> rows = DefaultRows();
  AOTC_ASSIGN_OR_RETURN(const std::optional<LimitsJson> json, LimitsOf(file, "cuda"));
  if (!json) return LeastOf(rows, archs);
  std::vector<std::string> known;
  for (const CudaLimits& row : rows) known.emplace_back(row.arch);
  AOTC_RETURN_IF_ERROR(CheckKeys(*json, "cuda", known));
  const std::span<const Field> fields = kFields;
  for (CudaLimits& row : rows) {
    const auto found = json->find(std::string(row.arch));
    if (found == json->end()) continue;
    const std::string place = StrCat("cuda.", row.arch);
    AOTC_RETURN_IF_ERROR(CheckKeys(*found, place, FieldNames(fields)));
    AOTC_RETURN_IF_ERROR(ReadFields(*found, place, fields, row));
  }
  return LeastOf(rows, archs);
}

}  // namespace aotc
