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

}  // namespace

CpuEstimate EstimateAttention(const Attention& a, const AttentionTiling& tiling,
                              const CpuCore& core) {
  constexpr double kOfWeight = 14, kOfScaling = 2;  // an exponential and its sums; a product
  const Bounds& bounds = a.scores.bounds;
  const double keys = MostOf(a.keys, bounds), part = std::min<double>(keys, tiling.keys);
  const auto vectors = static_cast<double>(tiling.vectors);
  const auto depth = static_cast<double>(a.depth), columns = static_cast<double>(a.columns);
  double tasks = std::ceil(MostOf(a.rows().extent, bounds) / static_cast<double>(tiling.block));
  for (size_t i = 0; i + 1 < a.scores.outer.size(); ++i) {
    if (i != a.row) tasks *= MostOf(a.scores.outer[i].extent, bounds);
  }
  double cycles = Products(part, depth, tiling.score_rows, tiling.vectors, core) +
                  Products(columns, part, tiling.value_rows, tiling.vectors, core) +
                  part * vectors * kOfWeight + columns * vectors * kOfScaling;
  const double bytes = part * (depth + columns + vectors * core.lanes) * sizeof(float);
  if (bytes > core.l1_bytes) cycles += bytes / core.l2_rate;
  return {.cycles = tasks * (core.task + std::ceil(keys / part) * cycles), .tasks = tasks};
}

}  // namespace aotc
