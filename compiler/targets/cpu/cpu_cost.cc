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

// A contraction by tiles: calls of the tile, and what leaves the inner caches around them.
class ContractCost {
 public:
  ContractCost(const TiledContraction& c, const ContractTiling& tiling, const Core& core, int lanes)
      : c_(c), tiling_(tiling), core_(core), rows_(MostOf(c.row_extent, c.nest.bounds)) {
    for (const NestAxis& axis : c.outer) runs_ *= MostOf(axis.extent, c.nest.bounds);
    for (const ContractLevel& level : c.levels) steps_ *= MostOf(level.extent, c.nest.bounds);
    if (!c.is_depthwise) panels_ = Ceil(static_cast<double>(c.columns), c.panel);
    tile_columns_ = static_cast<double>(tiling.vectors * lanes);
  }

  double Cycles() const { return Tiles() + Memory() + core_.task * Chunks() * panels_; }

 private:
  static constexpr double kElement = 4;  // bytes of a step of one column, also of four bytes

  bool CutsRows() const { return c_.outer.empty() && tiling_.chunk > 0; }
  double PanelBytes() const { return steps_ * static_cast<double>(c_.panel) * kElement; }
  // Parts of the rows, each of which walks all weights.
  double Chunks() const {
    if (CutsRows()) return Ceil(rows_, static_cast<double>(tiling_.chunk));
    return Ceil(runs_, static_cast<double>(std::max<int64_t>(tiling_.chunk, 1)));
  }

  double Tiles() const {
    const double pieces = CutsRows() ? Chunks() : 1;
    const double run = CutsRows() ? std::min<double>(rows_, tiling_.chunk) : rows_;
    const auto rows = static_cast<double>(tiling_.rows);
    const double whole = std::floor(run / rows), tail = run - whole * rows;
    const double cycles = whole * Tile(rows) + (tail > 0 ? Tile(tail) : 0);
    return cycles * runs_ * pieces * panels_ * static_cast<double>(c_.panel) / tile_columns_;
  }

  // One call.
  double Tile(double rows) const {
    constexpr double kOfAccumulator = 2.5, kOfLevel = 4;
    double outer_levels = 1;
    for (size_t i = 0; i + 1 < c_.levels.size(); ++i) {
      outer_levels *= MostOf(c_.levels[i].extent, c_.nest.bounds);
    }
    const double accumulators = rows * static_cast<double>(tiling_.vectors);
    return core_.call + steps_ * Step(rows) + accumulators * kOfAccumulator +
           outer_levels * kOfLevel;
  }

  // One step of the reduction.
  double Step(double rows) const {
    constexpr double kSharedLoads = 0.6;  // of depthwise tiles, whose neighbours share inputs
    constexpr double kOfL1 = 0.75;
    const auto vectors = static_cast<double>(tiling_.vectors);
    const double accumulators = rows * vectors;
    const bool few = accumulators < static_cast<double>(kFewAccumulators);
    const double split = few ? static_cast<double>(tiling_.split) : 1;
    const double loads = vectors + (c_.is_depthwise ? accumulators * kSharedLoads : rows);
    const bool in_l1 = PanelBytes() <= core_.l1_bytes * kOfL1;
    const double weights = in_l1 ? 0 : tile_columns_ * kElement / core_.l2_rate;
    // A product of AMX is one step of a column, however many rows it has.
    if (tiling_.tile == kAmxTile) return std::max(vectors, weights);
    return std::max(
        {accumulators / core_.multiply_adds, loads / core_.loads, core_.latency / split, weights});
  }

  // Weights once a chunk where they do not stay, inputs once a panel; windows overlap.
  double Memory() const {
    constexpr double kOverlap = 9;
    double cycles = 0;
    if (PanelBytes() * panels_ > core_.l2_bytes) {
      cycles += PanelBytes() * panels_ * Chunks() / core_.memory_rate;
    }
    const double input = runs_ * rows_ * steps_ * kElement;
    const bool stays = input / Chunks() <= core_.l2_bytes;
    if (c_.is_depthwise) return cycles;
    return cycles + input / kOverlap * panels_ / (stays ? core_.l2_rate : core_.memory_rate);
  }

  const TiledContraction& c_;
  const ContractTiling& tiling_;
  const Core& core_;
  double runs_ = 1;          // of rows: iterations of the outer axes
  double rows_ = 1;          // of a run
  double steps_ = 1;         // of the reduction
  double panels_ = 1;        // of columns
  double tile_columns_ = 1;  // of one tile
};

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
      return ContractCost(*reading.contraction(), *tiling, core, isa.lanes).Cycles() /
             limits.clock_hz;
    }
  }
  if (reading.winograd().ok()) {
    const WinogradContraction& c = *reading.winograd();
    const absl::StatusOr<WinogradTiling> tiling = WinogradTilingOf(c, schedule, isa.lanes);
    if (tiling.ok()) return WinogradCost(c.size, c.m(), *tiling, isa, limits);
  }
  const double lanes = heart.by == "loops" ? static_cast<double>(heart.params[0])
                                           : static_cast<double>(isa.lanes) * 2;
  return LoopCycles(reading.kernel(), core, lanes) / limits.clock_hz;
}

}  // namespace aotc
