// What a contraction by tiles should take.
#include <algorithm>
#include <cmath>

#include "compiler/targets/cpu/estimate.h"

namespace aotc {
namespace {

double Ceil(double a, double b) { return std::ceil(a / b); }

// A contraction by tiles: calls of the tile, and what leaves the inner caches around them.
class ContractCost {
 public:
  ContractCost(const TiledContraction& c, const ContractTiling& tiling, const CpuCore& core,
               double bands)
      : c_(c),
        tiling_(tiling),
        core_(core),
        bands_(bands),
        rows_(MostOf(c.row_extent, c.nest.bounds)) {
    for (const NestAxis& axis : c.outer) runs_ *= MostOf(axis.extent, c.nest.bounds);
    for (const ContractLevel& level : c.levels) steps_ *= MostOf(level.extent, c.nest.bounds);
    if (!c.is_depthwise) panels_ = Ceil(static_cast<double>(c.columns), c.panel);
    tile_columns_ = static_cast<double>(tiling.vectors) * core.lanes;
  }

  CpuEstimate All() const {
    const double tiles = Tiles(), memory = Memory();
    const double apart = RowsShareSets() ? 1 : kApart;
    const double cycles = std::max(tiles, memory) + apart * std::min(tiles, memory);
    return {.cycles = cycles + core_.task * Tasks(),
            .tasks = Tasks(),
            .whole_tasks = WholeChunks() * WholePanels(),
            .handed_cycles = Handed()};
  }

 private:
  static constexpr double kElement = 4;  // bytes of a step of one column, also of four bytes
  static constexpr double kApart = 0.5;  // what is fetched in a row comes while tiles compute

  // Rows of a tile lie a multiple apart of what one way of the innermost cache holds, in one set of
  // all its ways: they drive out one another, and nothing is there before it is asked for.
  bool RowsShareSets() const {
    constexpr int64_t kWayBytes = 4096, kWays = 8;
    const std::optional<int64_t> stride = c_.row_stride.AsInt();
    return !c_.is_depthwise && tiling_.rows > kWays && stride &&
           *stride * static_cast<int64_t>(kElement) % kWayBytes == 0 && *stride != 0;
  }

  bool CutsRows() const { return c_.outer.empty() && tiling_.chunk > 0; }
  double PanelBytes() const { return steps_ * static_cast<double>(c_.panel) * kElement; }
  double Tasks() const {
    return Chunks() *
           (c_.nest.HasStatistics() ? 1 : Ceil(panels_, static_cast<double>(tiling_.panels)));
  }
  // The same, had all of them as much as the largest.
  double WholePanels() const {
    return c_.nest.HasStatistics() ? 1 : panels_ / std::min<double>(tiling_.panels, panels_);
  }
  double WholeChunks() const {
    const double last = CutsRows()         ? rows_
                        : c_.outer.empty() ? 1
                                           : MostOf(c_.outer.back().extent, c_.nest.bounds);
    const double chunk = std::clamp<double>(tiling_.chunk, 1, std::max(last, 1.0));
    return Chunks() / Ceil(last, chunk) * (last / chunk);
  }
  // Weights that a task walks again for each run of rows.
  double WalkedBytes() const {
    if (c_.outer.empty()) return PanelBytes();
    return PanelBytes() * (c_.nest.HasStatistics() ? panels_ : static_cast<double>(tiling_.panels));
  }
  // Parts of the rows, each of which walks all weights.
  double Chunks() const { return bands_ * ChunksOfBand(); }
  double ChunksOfBand() const {
    const auto chunk = static_cast<double>(std::max<int64_t>(tiling_.chunk, 1));
    if (CutsRows()) return Ceil(rows_, chunk);
    if (c_.outer.empty()) return 1;
    const double last = MostOf(c_.outer.back().extent, c_.nest.bounds);
    return runs_ / std::max(last, 1.0) * Ceil(last, chunk);
  }

  // A depthwise input that is cut in fewer parts than there are workers: what computes it deals out
  // its rows, and so some have to read rows of others.
  double Handed() const {
    if (!c_.is_depthwise || c_.outer.empty()) return 0;
    const double last = MostOf(c_.outer.back().extent, c_.nest.bounds);
    const double parts = Ceil(last, static_cast<double>(std::max<int64_t>(tiling_.chunk, 1)));
    const double bytes = runs_ * rows_ * static_cast<double>(c_.panel) * kElement;
    return bytes / core_.l3_rate * std::max(1 - parts / core_.cores, 0.0);
  }

  double Tiles() const {
    const double pieces = bands_ * (CutsRows() ? ChunksOfBand() : 1);
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
    constexpr double kTilesInFlight = 2;  // of few steps: the next begins before one is done
    constexpr double kOfL1 = 0.75;        // others need some of it
    const auto vectors = static_cast<double>(tiling_.vectors);
    const double accumulators = rows * vectors;
    auto split = static_cast<double>(SplitOf(c_, tiling_, static_cast<int64_t>(rows)));
    if (c_.is_depthwise) split = kTilesInFlight;
    double products =
        c_.is_depthwise
            ? core_.TileStep(accumulators, vectors + accumulators * kSharedLoads, 0, split)
            : core_.TileStep(accumulators, vectors, rows, split);
    // A product of AMX is one step of a column, however many rows it has.
    if (tiling_.tile == kAmxTile) products = vectors;
    if (WalkedBytes() <= core_.l1_bytes * kOfL1) return products;
    const double weights = tile_columns_ * kElement / core_.RateOf(WalkedBytes());
    return std::max(products, weights);
  }

  // Weights once a chunk where they do not stay, inputs once a panel but for windows' overlap.
  double Memory() const {
    const double all = PanelBytes() * panels_;
    double cycles = 0;
    if (all > core_.l2_bytes) {
      cycles = all / core_.memory_rate + all * (Chunks() - 1) / core_.RateOf(all);
    }
    if (c_.is_depthwise) return cycles;
    const double input = bands_ * runs_ * rows_ * steps_ * kElement / Overlap();
    return cycles + input * panels_ / core_.RateOf(input / Chunks());
  }

  // How many steps read the same input: between those of channels are those of a window.
  double Overlap() const {
    double steps = 1;
    for (size_t i = 1; i + 1 < c_.levels.size(); ++i) {
      steps *= MostOf(c_.levels[i].extent, c_.nest.bounds);
    }
    return steps;
  }

  const TiledContraction& c_;
  const ContractTiling& tiling_;
  const CpuCore& core_;
  const double bands_;
  double runs_ = 1;          // of rows of a band: iterations of the outer axes
  double rows_ = 1;          // of a run
  double steps_ = 1;         // of the reduction
  double panels_ = 1;        // of columns
  double tile_columns_ = 1;  // of one tile
};

}  // namespace

CpuEstimate EstimateContraction(const TiledContraction& contraction, const ContractTiling& tiling,
                                const CpuCore& core, double bands) {
  return ContractCost(contraction, tiling, core, bands).All();
}

}  // namespace aotc
