// What a schedule should cost on a GPU, in seconds: products and bytes against the limits, blocks
// dealt to multiprocessors in rounds. Not fitted to measurements yet.
#include <algorithm>
#include <cmath>

#include "compiler/ir/program_access.h"
#include "compiler/targets/cuda/cuda_schedules.h"

namespace aotc {
namespace {

// The share of the peak that a thread with such a tile reaches: of its products and its loads from
// shared memory.
double ShareOf(int64_t rows, int64_t columns) {
  constexpr double kOfLoad = 2;
  const auto products = static_cast<double>(rows * columns);
  return products / (products + kOfLoad * static_cast<double>(rows + columns));
}

// Multiply-adds per second of the whole GPU.
double RateOf(const SchedulePart& heart, const CudaLimits& limits) {
  constexpr double kOfPlainLoops = 0.1;
  const double per_clock = static_cast<double>(limits.sms) * limits.clock_hz;
  const double plain = per_clock * limits.f32_fma_per_clock;
  const std::vector<int64_t>& p = heart.params;
  if (heart.by == "matmul_tile") return plain * ShareOf(p[3], p[4]);
  if (heart.by == "mma_tile" || heart.by == "mma_tile_int8") {
    constexpr double kOfBytes = 2;
    const double of_f16 = limits.f16_mma_fma_per_clock * ShareOf(p[3] / 4, p[4] / 4);
    return per_clock * of_f16 * (heart.by == "mma_tile" ? 1 : kOfBytes);
  }
  return plain * kOfPlainLoops;
}

}  // namespace

double CudaCost(const Kernel& kernel, const Schedule& schedule, const LoopFunction& loops,
                const CudaLimits& limits) {
  const int64_t most = RangeOf(loops.tasks, BoundsOf(loops.symbols)).max;
  const auto blocks = static_cast<double>(std::max<int64_t>(most, 1));
  const auto sms = static_cast<double>(limits.sms);
  const double idle = std::ceil(blocks / sms) * sms / blocks;
  const double products = KernelFlops(kernel) / 2 / RateOf(HeartOf(schedule), limits) * idle;
  return limits.launch_seconds + std::max(products, KernelBytes(kernel) / limits.memory_bandwidth);
}

}  // namespace aotc
