#include "compiler/targets/cpu/contract_schedule.h"

#include <algorithm>
#include <optional>

#include "compiler/support/rounding.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Rows of the largest tile whose accumulators, weights and broadcast fit the registers.
int64_t MostRows(const TiledContraction& c, const Isa& isa, int64_t vectors) {
  constexpr int64_t kMostRows = 14;
  if (!c.is_integer || c.is_depthwise || isa.has_vnni) {
    return std::clamp<int64_t>((isa.registers - 1 - vectors) / vectors, 1, kMostRows);
  }
  // Without a dot product both operands are spread into two vectors each.
  constexpr int64_t kMostSpreadRows = 8, kTemporaries = 5;
  return std::clamp<int64_t>((isa.registers - kTemporaries - 2 * vectors) / vectors, 1,
                             kMostSpreadRows);
}

// Three vectors of columns suit the wide register file, two the narrow ones; one row all it can
// get.
int64_t ChooseVectors(const TiledContraction& c, const Isa& isa) {
  if (c.is_depthwise) return 1;
  const int64_t panel_vectors = c.panel / isa.lanes;
  constexpr int64_t kWideRegisters = 32, kMostVectors = 8;
  if (isa.registers >= kWideRegisters) return panel_vectors;
  if (c.row_extent.IsInt(1) && panel_vectors <= kMostVectors) return panel_vectors;
  return panel_vectors % 2 == 0 ? 2 : 1;
}

// The multiple of `step` from `least` to about twice that which cuts `extent` most evenly.
int64_t EvenChunk(int64_t extent, int64_t least, int64_t step) {
  if (extent <= least) return std::max<int64_t>(extent, 1);
  auto missing = [&](int64_t chunk) { return RoundUp(extent, chunk) - extent; };
  int64_t best = least;
  for (int64_t chunk = least; chunk <= std::min(2 * least, extent); chunk += step) {
    if (missing(chunk) < missing(best)) best = chunk;
  }
  return best;
}

// What one task takes of the innermost outer axis, or of the rows where there is none (whole
// tiles): enough rows that a weight which was fetched from an outer cache is used often.
int64_t ChooseChunk(const TiledContraction& c, int64_t tile_rows) {
  constexpr int64_t kRowsPerVisit = 64;
  const std::optional<int64_t> extent = c.row_extent.AsInt();
  if (c.outer.empty()) {
    const int64_t least = RoundUp(kRowsPerVisit, tile_rows);
    return extent ? EvenChunk(*extent, least, tile_rows) : least;
  }
  const int64_t rows = std::max<int64_t>(extent.value_or(tile_rows), 1);
  const int64_t least = (kRowsPerVisit + rows - 1) / rows;
  return EvenChunk(c.outer.back().extent.AsInt().value_or(least), least, 1);
}

}  // namespace

std::string PrintSchedule(const ContractSchedule& schedule) {
  return StrCat(schedule.name, "{rows=", schedule.rows, ", vectors=", schedule.vectors,
                ", split=", schedule.split, ", chunk=", schedule.chunk, "}");
}

ContractSchedule ChooseContractSchedule(const TiledContraction& c, const Isa& isa) {
  ContractSchedule schedule;
  if (c.is_integer) schedule.name = "contract_tile_int8";
  if (c.is_depthwise) schedule.name = c.is_integer ? "depthwise_tile_int8" : "depthwise_tile";
  schedule.vectors = ChooseVectors(c, isa);
  // Pixels of a depthwise tile share no weights across columns: few are enough to hide latency.
  constexpr int64_t kMostPixels = 7;
  int64_t most = MostRows(c, isa, schedule.vectors);
  if (c.is_depthwise) most = std::min(most, kMostPixels);
  const std::optional<int64_t> extent = c.row_extent.AsInt();
  schedule.rows = most;
  if (extent && *extent % most != 0) {
    const int64_t tiles = (*extent + most - 1) / most;
    schedule.rows = (*extent + tiles - 1) / tiles;
  }
  constexpr int64_t kFewAccumulators = 8;
  const bool has_small_tiles = !extent || schedule.rows * schedule.vectors < kFewAccumulators;
  if (has_small_tiles && !c.is_integer && !c.is_depthwise) schedule.split = 4;
  schedule.chunk = ChooseChunk(c, schedule.rows);
  return schedule;
}

}  // namespace aotc
