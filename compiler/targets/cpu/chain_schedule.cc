// Which schedules there are for chains, and what they mean.
#include <algorithm>
#include <set>
#include <utility>

#include "compiler/support/rounding.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/chain.h"
#include "compiler/targets/cpu/estimate.h"

namespace aotc {
namespace {

absl::Status Refuse(std::string_view reason) { return absl::FailedPreconditionError(View(reason)); }

// Of the result, at an axis of %v.
const std::string& AxisOf(const Chain& c, size_t axis) {
  return DefiningStage(c.tail, MainOutput(c.tail))->axes[*c.anchor.rows[axis]].name;
}

SchedulePart PartOf(const TiledContraction& c, const std::vector<std::string>& results,
                    StageMemory memory, const ContractTiling& tiling) {
  return {.results = results, .memory = memory, .by = tiling.tile, .params = TileParams(c, tiling)};
}

Schedule ScheduleOf(const Chain& c, const ChainTiling& tiling) {
  Schedule schedule{.result = c.kernel.tensors[MainOutput(c.kernel)].name};
  for (const size_t axis : c.single) schedule.tasks.push_back({{AxisOf(c, axis)}, 1});
  schedule.tasks.push_back({{AxisOf(c, c.band)}, tiling.rows});
  schedule.parts = {
      PartOf(c.first, ResultNames(c.head), StageMemory::kScratch, tiling.first),
      PartOf(c.second, ResultNames(c.tail), StageMemory::kFragment, tiling.second),
  };
  return schedule;
}

// Rows of bands, even parts of all; of matrices whole tiles of them.
std::set<int64_t> BandSizes(const Chain& c) {
  const Expr& extent = c.kernel.tensors[c.anchor.between].shape[c.band];
  const auto all = static_cast<int64_t>(MostOf(extent, BoundsOf(c.kernel.symbols)));
  std::set<int64_t> sizes;
  if (c.IsImage()) {
    for (const int64_t rows : {1, 2, 3, 4, 5, 7, 8, 10, 14, 16, 20, 28, 32, 56}) {
      sizes.insert(EvenPart(std::max<int64_t>(all, 1), rows));
    }
    return sizes;
  }
  for (const int64_t rows : {14, 28, 42, 84, 126, 168}) sizes.insert(std::min(rows, all));
  return sizes;
}

double BytesOf(const Chain& c, TensorId id) {
  const KernelTensor& tensor = c.kernel.tensors[id];
  const Expr elements = StorageElements(tensor.layout, tensor.shape);
  return MostOf(elements, BoundsOf(c.kernel.symbols)) * ByteWidth(tensor.dtype);
}

// Those of the `count` least costs.
std::vector<ContractTiling> BestTiles(const TiledContraction& c, const Isa& isa,
                                      const CpuCore& core, size_t count) {
  std::vector<std::pair<double, ContractTiling>> tiles;
  for (const ContractTiling& tile : ContractTiles(c, isa)) {
    tiles.emplace_back(EstimateContraction(c, tile, core).cycles, tile);
  }
  std::ranges::stable_sort(tiles, {}, &std::pair<double, ContractTiling>::first);
  std::vector<ContractTiling> best;
  for (size_t i = 0; i < std::min(count, tiles.size()); ++i) best.push_back(tiles[i].second);
  return best;
}

}  // namespace

bool IsChain(const Schedule& schedule) {
  return schedule.parts.size() == 2 && schedule.parts[0].memory == StageMemory::kScratch &&
         schedule.parts[1].memory == StageMemory::kFragment;
}

absl::StatusOr<ChainTiling> ChainTilingOf(const Chain& c, const Schedule& schedule, int lanes) {
  if (!IsChain(schedule) || schedule.tasks.empty()) {
    return Refuse("two contractions are two parts, the first in scratch");
  }
  ChainTiling tiling{.rows = schedule.tasks.back().block};
  AOTC_ASSIGN_OR_RETURN(tiling.first, TileOfPart(c.first, schedule.parts[0], lanes));
  AOTC_ASSIGN_OR_RETURN(tiling.second, TileOfPart(c.second, schedule.parts[1], lanes));
  if (schedule == ScheduleOf(c, tiling)) return tiling;
  return Refuse(StrCat("it should be ", PrintSchedule(ScheduleOf(c, tiling))));
}

bool HasRoom(const Chain& c, const Schedule& schedule) {
  constexpr double kWorkers = 16, kLess = 0.9;
  const absl::StatusOr<ChainBand>& band = BandOf(c, schedule.tasks.back().block);
  if (!band.ok()) return false;
  double tasks = 1, first = 0, second = 0;  // bytes that only one of the two has
  for (const NestAxis& task : band->of_first.tasks) {
    tasks *= MostOf(task.extent, BoundsOf(c.kernel.symbols));
  }
  for (const TensorId id : c.head.params) {
    if (c.kernel.tensors[id].role == TensorRole::kInput) first += BytesOf(c, id);
  }
  for (const TensorId id : c.tail.params) {
    if (c.kernel.tensors[id].role == TensorRole::kOutput) second += BytesOf(c, id);
  }
  const double scratch = static_cast<double>(band->elements) *
                         ByteWidth(c.kernel.tensors[c.anchor.between].dtype) *
                         std::min(tasks, kWorkers);
  const double apart = BytesOf(c, c.anchor.between) + std::max(first, second);
  return first + second + scratch <= kLess * apart;
}

absl::Status CheckBands(const Chain& c) {
  absl::Status why;
  for (const int64_t rows : BandSizes(c)) {
    why = BandOf(c, rows).status();
    if (why.ok()) return why;
  }
  return why;
}

std::vector<Schedule> ChainCandidates(const Chain& c, const Isa& isa, const CpuLimits& limits) {
  constexpr size_t kTiles = 2;
  const CpuCore core(limits, isa.lanes);
  std::vector<Schedule> schedules;
  for (const int64_t rows : BandSizes(c)) {
    const absl::StatusOr<ChainBand>& band = BandOf(c, rows);
    if (!band.ok()) continue;
    for (const ContractTiling& first : BestTiles(band->first, isa, core, kTiles)) {
      for (const ContractTiling& second : BestTiles(band->second, isa, core, kTiles)) {
        schedules.push_back(ScheduleOf(c, {rows, first, second}));
      }
    }
  }
  return schedules;
}

}  // namespace aotc
