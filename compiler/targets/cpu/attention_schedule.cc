// Which schedules there are for attention, and what they mean.
#include <algorithm>
#include <string>
#include <utility>

#include "compiler/support/rounding.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/attention.h"
#include "compiler/targets/cpu/product_rows.h"

namespace aotc {
namespace {

absl::Status Refuse(std::string_view reason) { return absl::FailedPreconditionError(View(reason)); }

int64_t MostTileRows(const Isa& isa, int64_t vectors) {
  constexpr int64_t kMost = 14;
  return std::clamp<int64_t>((isa.registers - 1 - vectors) / vectors, 1, kMost);
}

// A number for which there are few values more than keys.
AttentionTiling TilingFor(const Attention& a, int64_t keys, int64_t vectors, const Isa& isa) {
  const int64_t rows = MostTileRows(isa, vectors);
  const int64_t most = std::max<int64_t>(RangeOf(a.keys, a.scores.bounds).max, 1);
  AttentionTiling tiling{.block = vectors * isa.lanes, .vectors = vectors};
  tiling.score_rows = rows;
  tiling.keys = std::min(RoundUp(EvenPart(most, keys), rows), RoundUp(keys, rows));
  if (most <= tiling.keys) tiling.keys = most;
  tiling.score_rows = EvenPart(tiling.keys, rows);
  tiling.value_rows = EvenPart(a.columns, rows);
  return tiling;
}

// Enough keys that what a block costs beside its products is little.
AttentionTiling TilingOfRow(const Attention& a, int64_t keys, int64_t width) {
  const int64_t most = std::max<int64_t>(RangeOf(a.keys, a.scores.bounds).max, 1);
  return {.block = 1, .keys = std::min(most, keys), .vectors = 1, .width = width};
}

// The values as a matrix whose rows are the columns of the result.
AttentionRows Transposed(const AttentionRows& rows) {
  return {rows.tensor, rows.offset, rows.step, rows.row_step};
}

// The names of the results of stages first to last - 1.
std::vector<std::string> NamesOf(const Kernel& kernel, size_t first, size_t last) {
  std::vector<std::string> names;
  for (size_t s = first; s < last; ++s) {
    names.push_back(kernel.tensors[kernel.stages[s].results[0].tensor].name);
  }
  return names;
}

Schedule ScheduleOf(const Attention& a, const AttentionTiling& tiling, int lanes) {
  const Kernel& kernel = a.kernel;
  const std::string loop = kernel.stages[a.anchor.values].reduce_axes[0].name;
  Schedule schedule{.result = kernel.tensors[MainOutput(kernel)].name};
  for (size_t i = 0; i + 1 < a.result.outer.size(); ++i) {
    schedule.tasks.push_back({a.result.outer[i].walks, i == a.row ? tiling.block : 1});
  }
  schedule.loops = {{{loop}, tiling.keys}};
  const StageMemory scratch = StageMemory::kScratch;
  schedule.parts = {
      {.results = NamesOf(kernel, 0, a.anchor.maximum),
       .at = {loop},
       .memory = scratch,
       .by = "contract_tile",
       .params = {tiling.score_rows, tiling.vectors, 1}},
      {.results = NamesOf(kernel, a.anchor.maximum, a.anchor.values),
       .at = {loop},
       .memory = scratch,
       .by = "loops",
       .params = {lanes}},
      {.results = NamesOf(kernel, a.anchor.values, kernel.stages.size()),
       .at = {loop},
       .memory = scratch,
       .by = "contract_tile",
       .params = {tiling.value_rows, tiling.vectors, 1},
       .is_partial = true},
  };
  if (tiling.block > 1) return schedule;
  for (const auto& [part, matrix] : {std::pair(0, a.key), std::pair(2, Transposed(a.value))}) {
    const SchedulePart product = RowProductPart(matrix, tiling.width);
    schedule.parts[part].by = product.by;
    schedule.parts[part].params = product.params;
  }
  return schedule;
}

}  // namespace

SchedulePart RowProductPart(const AttentionRows& matrix, int64_t width) {
  if (matrix.step.IsInt(1))
    return {.by = std::string(ProductRowOf(true, false)), .params = {1, width}};
  if (matrix.row_step.IsInt(1))
    return {.by = std::string(ProductRowOf(false, false)), .params = {1, width}};
  return {};
}

bool HasSingleRows(const Attention& a) {
  return RangeOf(a.rows().extent, a.scores.bounds).max == 1;
}

absl::Status CheckRowAttention(const Attention& a) {
  if (!HasSingleRows(a)) return absl::OkStatus();
  const bool lie_together =
      !RowProductPart(a.key, 1).by.empty() && !RowProductPart(Transposed(a.value), 1).by.empty();
  return lie_together ? absl::OkStatus() : Refuse("keys or values of a single row lie apart");
}

bool IsAttention(const Schedule& schedule) { return schedule.parts.back().is_partial; }

absl::StatusOr<AttentionTiling> AttentionTilingOf(const Attention& a, const Schedule& schedule,
                                                  int lanes) {
  if (schedule.parts.size() != 3 || schedule.loops.size() != 1 ||
      schedule.tasks.size() != a.result.outer.size() - 1 || !schedule.parts[2].is_partial) {
    return Refuse("attention has three parts in a loop over keys");
  }
  AttentionTiling tiling{.block = schedule.tasks[a.row].block, .keys = schedule.loops[0].block};
  if (tiling.block == 1 && schedule.parts[0].params.size() == 2) {
    tiling.width = schedule.parts[0].params[1];
  }
  for (const size_t part : {0, 2}) {
    if (tiling.block > 1 && schedule.parts[part].by != "contract_tile")
      return Refuse("products are by contract_tile");
  }
  if (tiling.block > 1) {
    tiling.score_rows = schedule.parts[0].params[0];
    tiling.value_rows = schedule.parts[2].params[0];
    tiling.vectors = schedule.parts[0].params[1];
    if (tiling.block != tiling.vectors * lanes) return Refuse("a block has the rows of a tile");
  }
  if (schedule == ScheduleOf(a, tiling, lanes)) return tiling;
  return Refuse(StrCat("it should be ", PrintSchedule(ScheduleOf(a, tiling, lanes))));
}

std::vector<Schedule> AttentionCandidates(const Attention& a, const Isa& isa) {
  std::vector<Schedule> schedules;
  if (HasSingleRows(a)) {
    for (const int64_t keys : {256, 512, 128, 64, 32}) {
      for (const int64_t width : {4, 2, 1}) {
        schedules.push_back(ScheduleOf(a, TilingOfRow(a, keys, width), isa.lanes));
      }
    }
  }
  if (RangeOf(a.rows().extent, a.scores.bounds).max < isa.lanes) return schedules;
  for (const int64_t vectors : {3, 2, 1}) {
    for (const int64_t keys : {112, 168, 224, 84, 56, 28}) {
      AttentionTiling tiling = TilingFor(a, keys, vectors, isa);
      schedules.push_back(ScheduleOf(a, tiling, isa.lanes));
      tiling.score_rows = CeilOf(tiling.score_rows, 2);
      tiling.value_rows = CeilOf(tiling.value_rows, 2);
      schedules.push_back(ScheduleOf(a, tiling, isa.lanes));
    }
  }
  return schedules;
}

}  // namespace aotc
