#include "compiler/targets/cpu/contract_schedule.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "compiler/support/rounding.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/estimate.h"

namespace aotc {
namespace {

bool TakesAmx(const TiledContraction& c, const Isa& isa) { return isa.has_amx && FitsAmx(c); }

// Without a dot product both operands of a product of bytes are spread into two vectors each.
bool SpreadsBytes(const TiledContraction& c, const Isa& isa) {
  return c.is_integer && !c.is_depthwise && !isa.has_vnni;
}

// That fit the registers, beside the weights and the broadcast.
int64_t MostAccumulators(const TiledContraction& c, const Isa& isa, int64_t vectors) {
  constexpr int64_t kTemporaries = 5;
  if (SpreadsBytes(c, isa)) return isa.registers - kTemporaries - 2 * vectors;
  return isa.registers - 1 - vectors;
}

// Rows of the largest tile.
int64_t MostRows(const TiledContraction& c, const Isa& isa, int64_t vectors) {
  constexpr int64_t kMostRows = 14, kMostSpreadRows = 8, kAmxRows = 16;
  if (TakesAmx(c, isa)) return kAmxRows;
  return std::clamp<int64_t>(MostAccumulators(c, isa, vectors) / vectors, 1,
                             SpreadsBytes(c, isa) ? kMostSpreadRows : kMostRows);
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

// Every outer axis by itself but the innermost, which is cut in chunks, as the rows are where there
// is none; and panels of columns.
std::vector<Cut> TaskCuts(const TiledContraction& c, int64_t chunk, int64_t panels) {
  std::vector<Cut> cuts;
  for (const NestAxis& axis : TaskAxes(c)) {
    cuts.push_back({axis.walks, axis.name == c.outer.back().name ? chunk : 1});
  }
  const bool cuts_rows = c.outer.empty() && !c.row_axis.empty() && chunk > 0 &&
                         RangeOf(c.row_extent, c.nest.bounds).max > chunk;
  if (cuts_rows) cuts.push_back({c.row_walks, chunk});
  if (c.is_depthwise || c.nest.HasStatistics()) return cuts;
  cuts.insert(RowsComeFirst(c) ? cuts.end() : cuts.begin(), {{c.column}, panels * c.panel});
  return cuts;
}

// At most `most` rows to a tile, as even as possible.
int64_t EvenRows(const TiledContraction& c, int64_t most) {
  const std::optional<int64_t> extent = c.row_extent.AsInt();
  return !extent || *extent % most == 0 ? most : EvenPart(*extent, most);
}

// Tiles of AMX are set up for a number of rows: one that leaves none over is worth some more of
// them.
int64_t AmxRows(const TiledContraction& c, int64_t most) {
  constexpr int64_t kFewestRows = 12;
  for (int64_t rows = most; rows >= kFewestRows; --rows) {
    if (*c.row_extent.AsInt() % rows == 0) return rows;
  }
  return EvenRows(c, most);
}

// Of tiles of as many vectors: all, a half, a third and a quarter of the rows that fit. Where there
// are few rows a part of them, too.
std::set<int64_t, std::greater<>> TileRows(const TiledContraction& c, const Isa& isa,
                                           int64_t vectors) {
  std::set<int64_t, std::greater<>> rows;
  for (const int64_t share : {1, 2, 3, 4}) {
    const int64_t most = std::max<int64_t>(MostRows(c, isa, vectors) / share, 1);
    rows.insert(TakesAmx(c, isa) ? AmxRows(c, most) : EvenRows(c, most));
  }
  if (rows.size() == 1) rows.insert(CeilOf(*rows.begin(), 2));
  return rows;
}

bool HasSplit(const TiledContraction& c, std::string_view tile) {
  return !c.is_depthwise && tile != kAmxTile;
}

// How many accumulators may share an output: several where the tile has few. Of those that cost the
// same the first is chosen: most reductions are multiples of powers of two.
std::vector<int64_t> Splits(const TiledContraction& c, const Isa& isa, const ContractTiling& tile) {
  const int64_t accumulators = tile.rows * tile.vectors;
  if (!HasSplit(c, tile.tile) || accumulators >= kFewAccumulators) return {1};
  std::vector<int64_t> splits = {1, 2, 4, 8, 3, 5, 6, 7};
  const int64_t most = MostAccumulators(c, isa, tile.vectors) / accumulators;
  std::erase_if(splits, [&](int64_t split) { return split > std::max<int64_t>(most, 1); });
  return splits;
}

// What a task has.
struct TaskSize {
  int64_t chunk, panels;
};

Schedule ScheduleOf(const TiledContraction& c, const ContractTiling& tile, const TaskSize& task) {
  return WholeKernel(c.kernel, TaskCuts(c, task.chunk, task.panels), StageMemory::kFragment,
                     tile.tile, TileParams(c, tile));
}

int64_t AllPanels(const TiledContraction& c) {
  return c.is_depthwise || c.nest.HasStatistics() ? 1 : CeilOf(c.columns, c.panel);
}

absl::Status Refuse(std::string_view reason) { return absl::FailedPreconditionError(View(reason)); }

absl::StatusOr<TaskSize> TaskOf(const TiledContraction& c, const Schedule& schedule) {
  TaskSize task{.chunk = 0, .panels = 1};
  const Cut* rows = FindCut(schedule, c.outer.empty() ? c.row_walks : c.outer.back().walks);
  if (rows != nullptr) task.chunk = rows->block;
  if (const Cut* columns = FindCut(schedule, {c.column})) {
    if (columns->block % c.panel != 0)
      return Refuse(StrCat("a task has whole panels of ", c.panel));
    task.panels = columns->block / c.panel;
  }
  if (schedule.tasks != TaskCuts(c, task.chunk, task.panels))
    return Refuse("its tasks are of other axes, or in another order");
  return task;
}

}  // namespace

std::vector<NestAxis> TaskAxes(const TiledContraction& c) {
  std::vector<NestAxis> axes = c.outer;
  if (!c.is_depthwise) return axes;
  std::ranges::stable_partition(
      axes, [&](const NestAxis& axis) { return !UsesVar(c.weight_offset, axis.name); });
  return axes;
}

// Parts of rows before those of columns: neighbouring tasks then share their input, which a worker
// finds where it wrote it. Of more columns than rows there are more weights than that.
bool RowsComeFirst(const TiledContraction& c) {
  return !c.outer.empty() || MostOf(c.row_extent, c.nest.bounds) >= static_cast<double>(c.columns);
}

std::string_view TileOf(const TiledContraction& c) {
  if (c.is_depthwise) return c.is_integer ? "depthwise_tile_int8" : "depthwise_tile";
  if (c.is_integer) return "contract_tile_int8";
  if (c.gathered.valid()) return "contract_tile_gathered";
  if (!c.scales.valid()) return "contract_tile";
  return c.zeros.valid() ? "contract_tile_shifted" : "contract_tile_scaled";
}

bool FitsAmx(const TiledContraction& c) {
  constexpr int64_t kLeastRows = 7, kLeastGroups = 8, kGroupBytes = 4, kMostColumns = 48;
  if (!c.is_integer || c.is_depthwise || c.levels.empty() || c.panel > kMostColumns) return false;
  const ContractLevel& inner = c.levels.back();
  return c.row_extent.AsInt().value_or(0) >= kLeastRows &&
         inner.extent.AsInt().value_or(0) >= kLeastGroups &&
         inner.input_stride.IsInt(kGroupBytes) && c.column_stride == kGroupBytes;
}

std::vector<ContractTiling> ContractTiles(const TiledContraction& c, const Isa& isa) {
  constexpr int64_t kMostVectors = 8;
  const int64_t panel = c.is_depthwise ? 1 : c.panel / isa.lanes;
  ContractTiling tile{.tile = std::string(TakesAmx(c, isa) ? kAmxTile : TileOf(c)),
                      .panels = AllPanels(c)};
  std::vector<ContractTiling> tiles;
  for (tile.vectors = std::min(panel, kMostVectors); tile.vectors > 0; --tile.vectors) {
    if (panel % tile.vectors != 0) continue;
    for (const int64_t rows : TileRows(c, isa, tile.vectors)) {
      tile.rows = rows;
      for (const int64_t split : Splits(c, isa, tile)) {
        tile.split = split;
        tiles.push_back(tile);
      }
    }
  }
  return tiles;
}

std::vector<int64_t> TileParams(const TiledContraction& c, const ContractTiling& tiling) {
  std::vector<int64_t> params = {tiling.rows, tiling.vectors};
  if (HasSplit(c, tiling.tile)) params.push_back(tiling.split);
  return params;
}

int64_t SplitOf(const TiledContraction& c, const ContractTiling& tiling, int64_t rows) {
  if (c.is_integer) return tiling.split;
  return SplitOfTile(rows, tiling.rows, tiling.vectors, tiling.split);
}

std::vector<Schedule> ContractCandidates(const TiledContraction& c, const Isa& isa) {
  const int64_t panels = AllPanels(c);
  std::vector<Schedule> schedules;
  for (const ContractTiling& tile : ContractTiles(c, isa)) {
    const int64_t chunk = ChooseChunk(c, tile.rows), whole = c.outer.empty() ? tile.rows : 1;
    for (const int64_t part : {chunk, 2 * chunk, chunk / 2, 4 * chunk, chunk / 4}) {
      for (const int64_t count : {1, 2, 4}) {
        if (count > panels) break;
        const TaskSize task{RoundUp(std::max<int64_t>(part, 1), whole), count};
        schedules.push_back(ScheduleOf(c, tile, task));
      }
    }
  }
  return schedules;
}

bool IsTileOf(const TiledContraction& c, std::string_view by) {
  return by == TileOf(c) || (by == kAmxTile && FitsAmx(c));
}

absl::StatusOr<ContractTiling> TileOfPart(const TiledContraction& c, const SchedulePart& part,
                                          int lanes) {
  if (!IsTileOf(c, part.by)) return Refuse(StrCat("stages are a part by ", TileOf(c)));
  ContractTiling tiling{
      .tile = part.by, .rows = part.params[0], .vectors = part.params[1], .panels = AllPanels(c)};
  if (part.params.size() > 2) tiling.split = part.params[2];
  const int64_t columns = tiling.vectors * lanes;
  if (c.is_depthwise ? columns > c.panel : c.panel % columns != 0) {
    return Refuse(StrCat(tiling.vectors, " vectors do not divide a panel of ", c.panel));
  }
  return tiling;
}

absl::StatusOr<ContractTiling> TilingOf(const TiledContraction& c, const Schedule& schedule,
                                        int lanes) {
  if (schedule.parts.size() != 1) return Refuse(StrCat("all stages are one part, by ", TileOf(c)));
  AOTC_ASSIGN_OR_RETURN(ContractTiling tiling, TileOfPart(c, schedule.parts[0], lanes));
  AOTC_ASSIGN_OR_RETURN(const TaskSize task, TaskOf(c, schedule));
  tiling.chunk = task.chunk;
  tiling.panels = task.panels;
  if (c.outer.empty() && tiling.chunk % tiling.rows != 0) {
    return Refuse(StrCat("a task of ", tiling.chunk, " rows is no whole tiles of ", tiling.rows));
  }
  return tiling;
}

}  // namespace aotc
