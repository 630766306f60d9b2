// What a schedule should cost on a CPU, in seconds.
#include <algorithm>
#include <cmath>

#include "compiler/ir/program_access.h"
#include "compiler/support/rounding.h"
#include "compiler/targets/cpu/cpu_schedules.h"
#include "compiler/targets/cpu/estimate.h"

namespace aotc {
namespace {

// The number of tasks that the cuts leave of these axes.
double TasksOf(const Schedule& schedule, const Nest& nest) {
  double tasks = 1;
  for (const NestAxis& axis : nest.outer) {
    const Cut* cut = FindCut(schedule, axis.walks);
    if (cut == nullptr) continue;
    tasks *= std::ceil(MostOf(axis.extent, nest.bounds) / static_cast<double>(cut->block));
  }
  return tasks;
}

// Plain loops: each operation by itself, operands from wherever they lie.
CpuEstimate EstimateLoops(const CpuReading& reading, const Schedule& schedule,
                          const CpuCore& core) {
  constexpr double kOfOperation = 1.5, kOfRows = 2;  // products of rows keep what they load
  const SchedulePart& heart = HeartOf(schedule);
  const bool is_plain = heart.by == "loops";
  const double lanes = is_plain ? static_cast<double>(heart.params[0]) : core.lanes * kOfRows;
  const absl::StatusOr<Nest>& nest = is_plain ? reading.loops() : reading.rows();
  const double tasks = nest.ok() ? TasksOf(schedule, *nest) : 1;
  const double cycles = KernelFlops(reading.kernel()) * kOfOperation / lanes +
                        KernelBytes(reading.kernel()) / core.memory_rate + core.task * tasks;
  return {.cycles = cycles, .tasks = tasks};
}

CpuEstimate EstimateWinograd(const WinogradContraction& c, const WinogradTiling& tiling,
                             const Isa& isa, const CpuLimits& limits) {
  const int64_t parts = CeilOf(c.panels(), tiling.panels);
  return {.cycles = WinogradCost(c.size, c.m(), tiling, isa, limits) * limits.clock_hz,
          .tasks = static_cast<double>(tiling.Blocks(c.size, c.m()) * c.size.images * parts)};
}

CpuEstimate Estimate(const CpuReading& reading, const Schedule& schedule, const Isa& isa,
                     const CpuLimits& limits) {
  const CpuCore core(limits, isa.lanes);
  if (HeartOf(schedule).by != "loops" && reading.contraction().ok()) {
    const TiledContraction& c = *reading.contraction();
    const absl::StatusOr<ContractTiling> tiling = TilingOf(c, schedule, isa.lanes);
    if (tiling.ok()) return EstimateContraction(c, *tiling, core);
  }
  if (reading.winograd().ok()) {
    const WinogradContraction& c = *reading.winograd();
    const absl::StatusOr<WinogradTiling> tiling = WinogradTilingOf(c, schedule, isa.lanes);
    if (tiling.ok()) return EstimateWinograd(c, *tiling, isa, limits);
  }
  if (IsAttention(schedule) && reading.attention().ok()) {
    const Attention& a = *reading.attention();
    const absl::StatusOr<AttentionTiling> tiling = AttentionTilingOf(a, schedule, isa.lanes);
    if (tiling.ok()) return EstimateAttention(a, *tiling, core);
  }
  return EstimateLoops(reading, schedule, core);
}

}  // namespace

CpuCore::CpuCore(const CpuLimits& limits, int lanes)
    : lanes(lanes),
      multiply_adds(limits.fma_per_second / limits.clock_hz / lanes),
      l1_bytes(static_cast<double>(limits.l1_bytes)),
      l2_bytes(static_cast<double>(limits.l2_bytes)),
      l3_bytes(static_cast<double>(limits.l3_bytes)),
      l2_rate(limits.l2_bandwidth / limits.clock_hz),
      l3_rate(limits.l3_bandwidth / limits.clock_hz),
      memory_rate(limits.memory_bandwidth / limits.clock_hz),
      loads(limits.l1_bandwidth / limits.clock_hz / sizeof(float) / lanes) {}

double CpuCore::TileStep(double accumulators, double vectors, double elements, double split) const {
  constexpr double kOfElement = 0.75;  // of what a vector takes
  const double loaded = vectors + kOfElement * elements;
  return std::max({accumulators / multiply_adds, loaded / loads, latency / split});
}

double CpuCore::RateOf(double bytes) const {
  constexpr double kOfCache = 0.75;  // others need some of it
  if (bytes <= kOfCache * l2_bytes) return l2_rate;
  return bytes <= kOfCache * l3_bytes ? l3_rate : memory_rate;
}

double MostOf(const Expr& extent, const Bounds& bounds) {
  constexpr int64_t kUnknown = 64;
  const int64_t most = RangeOf(extent, bounds).max;
  return static_cast<double>(most == INT64_MAX ? kUnknown : std::max<int64_t>(most, 0));
}

double CpuCost(const CpuReading& reading, const Schedule& schedule, const Isa& isa,
               const CpuLimits& limits) {
  return Estimate(reading, schedule, isa, limits).cycles / limits.clock_hz;
}

double CpuScore(const CpuReading& reading, const Schedule& schedule, const Isa& isa,
                const CpuLimits& limits) {
  const CpuEstimate estimate = Estimate(reading, schedule, isa, limits);
  const auto workers = static_cast<double>(limits.cores);
  const double rounds = std::ceil(estimate.tasks / workers);
  const double seconds = estimate.cycles / limits.clock_hz;
  const double shared =
      seconds * rounds / std::max(estimate.whole_tasks, 1.0) + limits.barrier_seconds;
  return seconds + workers * std::min(shared, seconds);
}

}  // namespace aotc
