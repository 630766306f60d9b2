// What a schedule should cost on a CPU, in seconds.
#include <algorithm>
#include <cmath>

#include "compiler/schedule/stage_kinds.h"
#include "compiler/support/rounding.h"
#include "compiler/targets/cpu/cpu_schedules.h"
#include "compiler/targets/cpu/estimate.h"
#include "compiler/targets/cpu/ranks.h"

namespace aotc {
namespace {

// Plain loops, or products of rows.
CpuEstimate EstimateLoops(const CpuReading& reading, const Schedule& schedule,
                          const CpuCore& core) {
  const absl::StatusOr<Nest>& nest =
      HeartOf(schedule).by == "loops" ? reading.loops() : reading.rows();
  return nest.ok() ? EstimateNest(reading.stored(), *nest, schedule, core) : CpuEstimate{};
}

// Passes over the words of a row, and one of each stage.
CpuEstimate EstimateRanks(const Kernel& kernel, const Nest& nest, const CpuCore& core) {
  constexpr double kOfElement = 100, kOfOthers = 4, kOfTask = 10;  // cycles
  double tasks = 1, elements = 0;
  for (const NestAxis& axis : nest.outer) tasks *= MostOf(axis.extent, nest.bounds);
  for (const FlatStage& stage : nest.stages) {
    double count = 1;
    for (const Axis& axis : stage.inner) count *= MostOf(axis.extent, nest.bounds);
    elements += count * (kernel.stages[stage.stage].IsReduction() ? kOfElement : kOfOthers);
  }
  return {.cycles = tasks * (elements + kOfTask) + core.task, .tasks = tasks};
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
  if (IsChain(schedule) && reading.chain().ok()) {
    const Chain& chain = *reading.chain();
    const absl::StatusOr<ChainTiling> tiling = ChainTilingOf(chain, schedule, isa.lanes);
    if (tiling.ok()) return EstimateChain(chain, *tiling, core);
  }
  if (HeartOf(schedule).by == kTransposeTile && reading.transpose().ok()) {
    const Transpose& transpose = *reading.transpose();
    const absl::StatusOr<TransposeTiling> tiling =
        TransposeTilingOf(reading.stored(), transpose, schedule);
    if (tiling.ok()) return EstimateTranspose(transpose, *tiling, core);
  }
  if (IsRankTile(HeartOf(schedule).by) && reading.ranks().ok()) {
    return EstimateRanks(reading.stored(), *reading.ranks(), core);
  }
  if (IsAttention(schedule) && reading.attention().ok()) {
    const Attention& a = *reading.attention();
    const absl::StatusOr<AttentionTiling> tiling = AttentionTilingOf(a, schedule, isa.lanes);
    if (tiling.ok()) return EstimateAttention(a, *tiling, core);
  }
  return EstimateLoops(reading, schedule, core);
}

// Cycles for what the stages behind a tile read and write: the cost of a tile is that of its calls,
// which is what its schedules differ in.
double EpilogueCycles(const CpuReading& reading, const Schedule& schedule, const CpuCore& core) {
  const Kernel& kernel = reading.kernel();
  if (HeartOf(schedule).by == "loops" || reading.rows().ok()) return 0;
  const auto heart = std::ranges::find_if(kernel.stages, IsContraction);
  double cycles = 0;
  for (const TensorId id : kernel.params) {
    if (heart != kernel.stages.end() && Reads(*heart, id)) continue;
    const KernelTensor& tensor = kernel.tensors[id];
    double bytes = BitWidth(tensor.dtype) / 8.0;
    for (const Expr& extent : tensor.shape) bytes *= MostOf(extent, BoundsOf(kernel.symbols));
    cycles += bytes / core.RateOf(bytes);
  }
  return cycles;
}

// With a worker on each core, of which some have no task at the end.
double SharedSeconds(const CpuEstimate& estimate, const CpuLimits& limits) {
  const double rounds = std::ceil(estimate.tasks / static_cast<double>(limits.cores));
  const double handed = estimate.handed_cycles / static_cast<double>(limits.cores);
  return (estimate.cycles * rounds / std::max(estimate.whole_tasks, 1.0) + handed) /
         limits.clock_hz;
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
      loads(limits.l1_bandwidth / limits.clock_hz / sizeof(float) / lanes),
      cores(static_cast<double>(limits.cores)) {}

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

double ApartSeconds(const CpuReading& reading, const Schedule& schedule, const Isa& isa,
                    const CpuOptions& options) {
  const Chain& chain = *reading.chain();
  const CpuLimits& limits = options.limits.For(isa);
  double scores = 0, alone = 0;
  for (const Kernel* part : {&chain.head, &chain.tail}) {
    const CpuReading by_itself(*part, options);
    const Schedule chosen = ChooseOnCpu(by_itself, isa, limits);
    scores += CpuScore(by_itself, chosen, isa, limits);
    alone += CpuCost(by_itself, chosen, isa, limits);
  }
  const double handover = HandoverCycles(chain, CpuCore(limits, isa.lanes)) / limits.clock_hz;
  scores += 2 * std::max(handover - alone, 0.0);  // with one worker and with all
  return CpuSeconds(reading, schedule, isa, limits) * scores /
         CpuScore(reading, schedule, isa, limits);
}

double CpuScore(const CpuReading& reading, const Schedule& schedule, const Isa& isa,
                const CpuLimits& limits) {
  const CpuEstimate estimate = Estimate(reading, schedule, isa, limits);
  const double seconds = estimate.cycles / limits.clock_hz;
  const double shared = SharedSeconds(estimate, limits) + limits.barrier_seconds;
  return seconds + static_cast<double>(limits.cores) * std::min(shared, seconds);
}

double CpuSeconds(const CpuReading& reading, const Schedule& schedule, const Isa& isa,
                  const CpuLimits& limits) {
  CpuEstimate estimate = Estimate(reading, schedule, isa, limits);
  estimate.cycles += EpilogueCycles(reading, schedule, CpuCore(limits, isa.lanes));
  const double seconds = estimate.cycles / limits.clock_hz;
  const double shared = std::min(SharedSeconds(estimate, limits), seconds);
  return (seconds + shared + limits.barrier_seconds) / 2;
}

double CpuLaunchSeconds(const CpuLimits& limits) {
  return CpuCore(limits, 1).task / limits.clock_hz + limits.barrier_seconds / 2;
}

}  // namespace aotc
