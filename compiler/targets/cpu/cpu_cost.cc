// What a schedule should cost on a CPU, in seconds: cycles of its tiles, bytes that leave the inner
// caches, and what calls and tasks take besides.
#include <algorithm>
#include <cmath>

#include "compiler/ir/program_access.h"
#include "compiler/schedule/nest_form.h"
#include "compiler/targets/cpu/contract_schedule.h"
#include "compiler/targets/cpu/cpu_schedules.h"

namespace aotc {
namespace {

// A core's limits in cycles.
struct Core {
  Core(const CpuLimits& limits, int lanes)
      : multiply_adds(limits.fma_per_second / limits.clock_hz / lanes),
        l1_bytes(static_cast<double>(limits.l1_bytes)),
        l2_bytes(static_cast<double>(limits.l2_bytes)),
        l2_rate(limits.l2_bandwidth / limits.clock_hz),
        memory_rate(limits.memory_bandwidth / limits.clock_hz) {}

  double multiply_adds;  // of vectors, a cycle
  double l1_bytes, l2_bytes;
  double l2_rate, memory_rate;  // bytes a cycle
  double loads = 2;             // of vectors, a cycle
  double latency = 4;           // of a multiply-add, in cycles
  double call = 20;             // cycles of a call, its prologue and its first misses
  double task = 100;            // cycles of dealing out a task
};

double MostOf(const Expr& extent, const Bounds& bounds) {
  constexpr int64_t kUnknown = 64;
  const int64_t most = RangeOf(extent, bounds).max;
  return static_cast<double>(most == INT64_MAX ? kUnknown : std::max<int64_t>(most, 0));
}

double Ceil(double a, double b) { return std::ceil(a / b); }

// Cycles of one call of the tile on `rows` rows and `steps` steps of the reduction.
double TileCycles(const TiledContraction& c, const ContractTiling& tiling, const Core& core,
                  double rows, double steps, double weight_bytes_a_step) {
  const auto vectors = static_cast<double>(tiling.vectors);
  const double accumulators = rows * vectors;
  const double split = accumulators < kFewAccumulators ? static_cast<double>(tiling.split) : 1;
  const double compute = accumulators / core.multiply_adds;
  // Depthwise tiles load an input for each product, less what neighbours share.
  const double loads = c.is_depthwise ? vectors + accumulators * 0.6 : vectors + rows;
  const double step = std::max(
      {compute, loads / core.loads, core.latency / split, weight_bytes_a_step / core.l2_rate});
  constexpr double kOfAccumulator = 2.5, kOfLevel = 4;
  double outer_levels = 1;
  for (size_t i = 0; i + 1 < c.levels.size(); ++i) {
    outer_levels *= MostOf(c.levels[i].extent, c.nest.bounds);
  }
  return core.call + steps * step + accumulators * kOfAccumulator + outer_levels * kOfLevel;
}

struct Sizes {
  double runs = 1;     // of rows: iterations of the outer axes
  double rows = 1;     // of a run
  double steps = 1;    // of the reduction
  double panels = 1;   // of columns
  double columns = 1;  // with padding
};

Sizes SizesOf(const TiledContraction& c) {
  Sizes sizes{.rows = MostOf(c.row_extent, c.nest.bounds)};
  for (const NestAxis& axis : c.outer) sizes.runs *= MostOf(axis.extent, c.nest.bounds);
  for (const ContractLevel& level : c.levels) sizes.steps *= MostOf(level.extent, c.nest.bounds);
  if (!c.is_depthwise) sizes.panels = Ceil(static_cast<double>(c.columns), c.panel);
  sizes.columns = sizes.panels * static_cast<double>(c.panel);
  return sizes;
}

double ContractCycles(const TiledContraction& c, const ContractTiling& tiling, const Core& core,
                      int lanes) {
  const Sizes s = SizesOf(c);
  constexpr double element = 4;  // bytes of a step of one column, also of four bytes
  const double panel_bytes = s.steps * static_cast<double>(c.panel) * element;
  const double tile_columns = static_cast<double>(tiling.vectors * lanes);
  const double groups = static_cast<double>(c.panel) / tile_columns;
  const bool cuts_rows = c.outer.empty() && tiling.chunk > 0;
  const double run = cuts_rows ? std::min<double>(s.rows, tiling.chunk) : s.rows;
  const double pieces = cuts_rows ? Ceil(s.rows, tiling.chunk) : 1;
  const double whole = std::floor(run / tiling.rows), tail = run - whole * tiling.rows;
  const bool in_l1 = panel_bytes <= core.l1_bytes * 0.75;
  const double per_step = in_l1 ? 0 : tile_columns * element;
  double cycles = whole * TileCycles(c, tiling, core, tiling.rows, s.steps, per_step);
  if (tail > 0) cycles += TileCycles(c, tiling, core, tail, s.steps, per_step);
  cycles *= s.runs * pieces * s.panels * groups;
  const double chunks = c.outer.empty() ? pieces : Ceil(s.runs, std::max<int64_t>(tiling.chunk, 1));
  const double weight_bytes = panel_bytes * s.panels;
  const double input_bytes = s.runs * s.rows * s.steps * element;  // without overlap
  if (weight_bytes > core.l2_bytes) cycles += weight_bytes * chunks / core.memory_rate;
  const double task_input = input_bytes / chunks;
  const double input_rate = task_input > core.l2_bytes ? core.memory_rate : core.l2_rate;
  if (!c.is_depthwise) cycles += input_bytes / 9 * s.panels / input_rate;
  return cycles + core.task * chunks * s.panels;
}

// Plain loops: each operation by itself, operands from wherever they lie.
double LoopCycles(const Kernel& kernel, const Core& core, double lanes) {
  constexpr double kOfOperation = 1.5;
  return KernelFlops(kernel) * kOfOperation / lanes + KernelBytes(kernel) / core.memory_rate +
         core.task;
}

}  // namespace

double CpuCost(const CpuReading& reading, const Schedule& schedule, const Isa& isa,
               const CpuLimits& limits) {
  const Core core(limits, isa.lanes);
  const SchedulePart& heart = HeartOf(schedule);
  if (heart.by != "loops" && reading.contraction().ok()) {
    const absl::StatusOr<ContractTiling> tiling =
        TilingOf(*reading.contraction(), schedule, isa.lanes);
    if (tiling.ok()) {
      return ContractCycles(*reading.contraction(), *tiling, core, isa.lanes) / limits.clock_hz;
    }
  }
  const double lanes = heart.by == "loops" ? static_cast<double>(heart.params[0])
                                           : static_cast<double>(isa.lanes) * 2;
  return LoopCycles(reading.kernel(), core, lanes) / limits.clock_hz;
}

}  // namespace aotc
