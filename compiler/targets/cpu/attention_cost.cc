// What attention in one pass should take.
#include <algorithm>
#include <cmath>

#include "compiler/targets/cpu/estimate.h"

namespace aotc {
namespace {

// Cycles of all calls of a tile that makes `count` rows of a block, each in `steps` steps.
double Products(double count, double steps, int64_t tile_rows, int64_t vectors,
                const CpuCore& core) {
  constexpr double kOfAccumulator = 2.5;
  const auto rows = static_cast<double>(tile_rows), columns = static_cast<double>(vectors);
  const double step = core.TileStep(rows * columns, columns, rows, 1);
  return std::ceil(count / rows) * (core.call + steps * step + rows * columns * kOfAccumulator);
}

// Cycles of a block of rows for so many of the keys.
double KeysOf(double keys, const Attention& a, const AttentionTiling& tiling, const CpuCore& core) {
  constexpr double kOfWeight = 14, kOfScaling = 2;  // an exponential and its sums; a product
  constexpr double kOfRows = 2;                     // keys and values come element by element
  const auto vectors = static_cast<double>(tiling.vectors);
  const auto depth = static_cast<double>(a.depth), columns = static_cast<double>(a.columns);
  const double rows = keys * (depth + columns) * sizeof(float);
  const double sums = keys * vectors * core.lanes * sizeof(float);
  const double fetched = kOfRows * rows + (rows + sums > core.l1_bytes ? sums : 0);
  return Products(keys, depth, tiling.score_rows, tiling.vectors, core) +
         Products(columns, keys, tiling.value_rows, tiling.vectors, core) +
         keys * vectors * kOfWeight + columns * vectors * kOfScaling + fetched / core.l2_rate;
}

// Cycles of a single row for so many of the keys, of which all rows of the kernel have `all_bytes`
// with their values.
double KeysOfRow(double keys, const Attention& a, const AttentionTiling& tiling, double all_bytes,
                 const CpuCore& core) {
  constexpr double kOfVector = 16, kOfSum = 6;   // an exponential and its sums; a sum over lanes
  constexpr double kInFlight = 2;                // dots do not wait for each other
  constexpr double kOfBlock = 60, kApart = 0.5;  // what does not come while something is computed
  const double lanes = core.lanes, width = static_cast<double>(tiling.width);
  const double depth = std::ceil(static_cast<double>(a.depth) / lanes);
  const double columns = std::ceil(static_cast<double>(a.columns) / lanes);
  const double dots = std::ceil(keys / width) *
                      (depth * core.TileStep(width, width, 1, kInFlight) + width * kOfSum);
  const double products = std::ceil(columns / width) * keys * core.TileStep(width, width, 1, 1);
  const double compute = dots + products + std::ceil(keys / lanes) * kOfVector + kOfBlock;
  const double bytes = keys * static_cast<double>(a.depth + a.columns) * sizeof(float);
  const double fetched = bytes / core.RateOf(all_bytes);
  return std::max(compute, fetched) + kApart * std::min(compute, fetched);
}

}  // namespace

CpuEstimate EstimateAttention(const Attention& a, const AttentionTiling& tiling,
                              const CpuCore& core) {
  const Bounds& bounds = a.scores.bounds;
  const double keys = MostOf(a.keys, bounds), part = std::min<double>(keys, tiling.keys);
  double tasks = std::ceil(MostOf(a.rows().extent, bounds) / static_cast<double>(tiling.block));
  for (size_t i = 0; i + 1 < a.scores.outer.size(); ++i) {
    if (i != a.row) tasks *= MostOf(a.scores.outer[i].extent, bounds);
  }
  const double whole = part > 0 ? std::floor(keys / part) : 0, last = keys - whole * part;
  const double bytes = tasks * keys * static_cast<double>(a.depth + a.columns) * sizeof(float);
  auto cycles_of = [&](double count) {
    return HasSingleRows(a) ? KeysOfRow(count, a, tiling, bytes, core)
                            : KeysOf(count, a, tiling, core);
  };
  double cycles = whole * cycles_of(part);
  if (last > 0) cycles += cycles_of(last);
  return {.cycles = tasks * (core.task + cycles), .tasks = tasks};
}

}  // namespace aotc
