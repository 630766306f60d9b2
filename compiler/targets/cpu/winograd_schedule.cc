// Which schedules there are for Winograd's algorithm, and what they mean.
#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/support/rounding.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/contraction.h"
#include "compiler/targets/cpu/winograd.h"

namespace aotc {
namespace {

constexpr int64_t kMostTileRows = 14;

int64_t VectorsOf(int64_t panel, const Isa& isa) {
  constexpr int64_t kWideRegisters = 32;
  const int64_t vectors = panel / isa.lanes;
  if (isa.registers >= kWideRegisters) return vectors;
  return vectors % 2 == 0 ? 2 : 1;
}

int64_t TileRowsOf(int64_t patches, int64_t vectors, const Isa& isa) {
  const int64_t most =
      std::clamp<int64_t>((isa.registers - 1 - vectors) / vectors, 1, kMostTileRows);
  return EvenPart(patches, most);
}

// Patches of a task, of which there are to be about `most`: whole rows of them, or a part of one.
WinogradTiling BlockOf(int64_t rows, int64_t columns, int64_t most) {
  WinogradTiling tiling;
  tiling.columns = EvenPart(columns, most);
  if (tiling.columns == columns) tiling.rows = EvenPart(rows, std::max<int64_t>(most / columns, 1));
  return tiling;
}

void FitTile(WinogradTiling& tiling, int64_t panel, const Isa& isa) {
  tiling.tile_vectors = VectorsOf(panel, isa);
  tiling.tile_rows = TileRowsOf(tiling.Patches(), tiling.tile_vectors, isa);
  tiling.split = tiling.tile_rows * tiling.tile_vectors < kFewAccumulators ? 4 : 1;
}

// Bytes of scratch for a few workers; where the arena has no room for it, plan/fit_scratch takes
// smaller blocks.
int64_t ScratchOf(const ConvolutionSize& size, int64_t m, int64_t panel,
                  const WinogradTiling& tiling, int64_t tasks) {
  constexpr int64_t kWorkers = 4;
  constexpr int64_t kWeights = 4;  // of a row of places what is kept, and those of one place
  const int64_t channels = RoundUp(size.inputs, 16) + panel;
  const int64_t elements =
      (m + 2) * (m + 2) * tiling.Patches() * channels + kWeights * size.inputs * panel;
  return elements * 4 * std::min(tasks, kWorkers);
}

// What it may be: as much as the operand, the weights and the result, or little.
int64_t MostScratch(const ConvolutionSize& size) {
  constexpr int64_t kLittle = 5 << 19;
  const int64_t values = (size.inputs + size.outputs) * size.height * size.width;
  const int64_t weights = size.taps * size.inputs * size.outputs;
  return std::max<int64_t>((values + weights) * 4, kLittle);
}

constexpr int64_t kEnoughTasks = 8;  // for several workers

// Panels of a task: all where there are blocks enough, else parts of them.
int64_t PanelsOf(const ConvolutionSize& size, int64_t panel, int64_t blocks) {
  const int64_t panels = CeilOf(size.outputs, panel);
  return EvenPart(panels, CeilOf(panels, CeilOf(kEnoughTasks, blocks)));
}

WinogradTiling TilingFor(const ConvolutionSize& size, int64_t m, int64_t panel, int64_t most,
                         const Isa& isa) {
  WinogradTiling tiling = BlockOf(CeilOf(size.height, m), CeilOf(size.width, m), most);
  FitTile(tiling, panel, isa);
  tiling.panels = PanelsOf(size, panel, tiling.Blocks(size, m));
  return tiling;
}

bool HasRoom(const ConvolutionSize& size, int64_t m, int64_t panel, const WinogradTiling& tiling) {
  const int64_t parts = CeilOf(CeilOf(size.outputs, panel), tiling.panels);
  const int64_t tasks = tiling.Blocks(size, m) * parts;
  return ScratchOf(size, m, panel, tiling, tasks) <= MostScratch(size);
}

Schedule ScheduleOf(const WinogradContraction& c, const WinogradTiling& tiling) {
  const std::vector<std::string> names = ResultNames(c.kernel);
  Schedule schedule{.result = c.kernel.tensors[MainOutput(c.kernel)].name};
  schedule.tasks = {{{c.axes[0]}, 1},
                    {{c.axes[2]}, tiling.rows * c.m()},
                    {{c.axes[3]}, tiling.columns * c.m()},
                    {{c.axes[1]}, tiling.panels * c.panel}};
  schedule.loops = {{{c.axes[1]}, c.panel}};
  schedule.parts = {
      {.results = {names[0], names[1]},
       .memory = StageMemory::kScratch,
       .by = std::string(kWinogradInputTile),
       .params = {c.m()}},
      {.results = {names[kWinogradRows], names[kWinogradWeights]},
       .at = {c.axes[1]},
       .memory = StageMemory::kScratch,
       .by = std::string(kWinogradWeightsTile),
       .params = {c.m()}},
      {.results = {names[kWinogradProducts]},
       .at = {c.axes[1]},
       .memory = StageMemory::kScratch,
       .by = "contract_tile",
       .params = {tiling.tile_rows, tiling.tile_vectors, tiling.split}},
      {.results = {names.begin() + kWinogradSums, names.end()},
       .at = {c.axes[1]},
       .by = std::string(kWinogradOutputTile),
       .params = {c.m()}},
  };
  return schedule;
}

constexpr int64_t kBlocks[] = {7, 11, 16, 23, 32, 45, 64, 91, 128};  // patches of a task, about

// That of least cost: larger blocks use each weight more often, but leave the cache. Of those that
// cost about the same the smallest, as every worker has scratch for all of its block; none takes
// much more memory than the operands.
WinogradTiling ChooseTiling(const ConvolutionSize& size, int64_t m, int64_t panel, const Isa& isa,
                            const CpuLimits& limits) {
  constexpr double kAsGood = 1.03;
  WinogradTiling best = TilingFor(size, m, panel, kBlocks[0], isa);
  double least = WinogradCost(size, m, best, isa, limits);
  for (const int64_t most : kBlocks) {
    const WinogradTiling tiling = TilingFor(size, m, panel, most, isa);
    const double cost = WinogradCost(size, m, tiling, isa, limits);
    if (cost * kAsGood >= least || !HasRoom(size, m, panel, tiling)) continue;
    best = tiling;
    least = cost;
  }
  return best;
}

absl::Status Refuse(std::string_view reason) { return absl::FailedPreconditionError(View(reason)); }

}  // namespace

absl::StatusOr<WinogradTiling> WinogradTilingOf(const WinogradContraction& c,
                                                const Schedule& schedule, int lanes) {
  if (schedule.parts.size() != 4 || schedule.tasks.size() != 4) {
    return Refuse("a convolution by Winograd's algorithm has four parts, and tasks of four axes");
  }
  const std::vector<int64_t>& params = schedule.parts[2].params;
  WinogradTiling tiling{.rows = schedule.tasks[1].block / c.m(),
                        .columns = schedule.tasks[2].block / c.m(),
                        .panels = schedule.tasks[3].block / c.panel};
  if (schedule.parts[2].by != "contract_tile" || params.size() != 3) {
    return Refuse("the products are a part by contract_tile");
  }
  tiling.tile_rows = params[0];
  tiling.tile_vectors = params[1];
  tiling.split = params[2];
  if (c.panel % (tiling.tile_vectors * lanes) != 0) {
    return Refuse(StrCat(params[1], " vectors do not divide a panel of ", c.panel));
  }
  if (tiling.rows < 1 || tiling.columns < 1 || tiling.panels < 1) {
    return Refuse("a task has whole patches and panels");
  }
  if (schedule != ScheduleOf(c, tiling)) return Refuse(PrintSchedule(ScheduleOf(c, tiling)));
  return tiling;
}

// Blocks are those that suit the widest vectors: scratch is shared by all variants, and one of
// large blocks beside one of many tasks would take the product of both.
Schedule ChooseWinogradSchedule(const WinogradContraction& c, const Isa& isa,
                                const CpuLimits& limits) {
  constexpr int kLanes = 16, kRegisters = 32, kProductsPerCycle = 2 * kLanes;
  Isa wide = isa;
  wide.lanes = kLanes;
  wide.registers = kRegisters;
  CpuLimits fast = limits;
  fast.fma_per_second = kProductsPerCycle * limits.clock_hz;
  WinogradTiling tiling = ChooseTiling(c.size, c.m(), c.panel, wide, fast);
  FitTile(tiling, c.panel, isa);
  return ScheduleOf(c, tiling);
}

std::vector<Schedule> WinogradCandidates(const WinogradContraction& c, const Isa& isa) {
  std::vector<Schedule> schedules;
  for (const int64_t most : {7, 14, 21, 28, 42, 64, 96}) {
    const WinogradTiling tiling = TilingFor(c.size, c.m(), c.panel, most, isa);
    for (const int64_t parts : {1, 2, 4}) {
      for (const int64_t share : {1, 2, 3}) {
        WinogradTiling one = tiling;
        one.panels = CeilOf(tiling.panels, parts);
        one.tile_rows = CeilOf(tiling.tile_rows, share);
        schedules.push_back(ScheduleOf(c, one));
        one.tile_vectors = CeilOf(tiling.tile_vectors, 2);
        schedules.push_back(ScheduleOf(c, one));
      }
    }
  }
  return schedules;
}

double ConvolutionSeconds(const ConvolutionSize& size, int64_t m, const Isa& isa,
                          const CpuLimits& limits) {
  if (m > 0) {
    constexpr int64_t kPanel = 32;
    const WinogradTiling tiling = ChooseTiling(size, m, kPanel, isa, limits);
    return WinogradCost(size, m, tiling, isa, limits);
  }
  constexpr double kOfPeak = 0.85;
  const double products =
      static_cast<double>(size.taps) * static_cast<double>(size.inputs * size.outputs) *
      (static_cast<double>(size.height * size.width) * static_cast<double>(size.images));
  return products / (limits.fma_per_second * kOfPeak);
}

}  // namespace aotc
