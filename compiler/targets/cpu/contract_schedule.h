// Schedules of register-tiled contractions, and what their loops are made of.
//
//   Schedule schedule = ContractCandidates(contraction, isa).front();
//   LoopFunction loops = *ApplyContractSchedule(contraction, schedule, isa.lanes);
//
// A task is some panels of columns of some rows: a chunk of the innermost outer axis, or of the
// rows themselves where there is no such axis. Statistics of rows need all columns in one task:
// each row has a vector of accumulators in scratch, which the epilogues of all panels combine with.
#ifndef AOTC_COMPILER_TARGETS_CPU_CONTRACT_SCHEDULE_H_
#define AOTC_COMPILER_TARGETS_CPU_CONTRACT_SCHEDULE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/schedule/schedule.h"
#include "compiler/targets/cpu/contraction.h"
#include "compiler/targets/cpu/cpu_target.h"

namespace aotc {

// The outer axes as tasks are numbered. Those that choose the weights of a depthwise tile, its
// channels, come last: neighbouring tasks have neighbouring rows, as they have where the input is
// computed, and a worker reads what it wrote itself.
std::vector<NestAxis> TaskAxes(const TiledContraction& contraction);
// Whether tasks are numbered by their rows first, then by their columns.
bool RowsComeFirst(const TiledContraction& contraction);

// The tile function that computes it, on any instruction set.
std::string_view TileOf(const TiledContraction& contraction);

// The one that computes it on AMX, and whether that pays: integers, several rows, and many steps of
// the reduction that lie together.
inline constexpr std::string_view kAmxTile = "contract_tile_amx";
bool FitsAmx(const TiledContraction& contraction);
// Whether a part by this tile may compute it.
bool IsTileOf(const TiledContraction& contraction, std::string_view by);

// Tiles, splits, chunks and panels of many sizes, as far as registers and extents allow: the
// largest tiles first.
std::vector<Schedule> ContractCandidates(const TiledContraction& contraction, const Isa& isa);

// What a schedule says to the loops around the tile.
struct ContractTiling {
  std::string tile = "contract_tile";
  int64_t rows = 1;     // of the register tile
  int64_t vectors = 1;  // of columns
  int64_t split = 1;    // of tiles with few accumulators: how many share an output
  int64_t chunk = 0;    // iterations of the innermost outer axis, or rows, of a task; 0: all rows
  int64_t panels = 1;   // of a task; with statistics it has all
};

// Tiles of many sizes, as far as registers and extents allow, the largest first; around them all
// rows and panels.
std::vector<ContractTiling> ContractTiles(const TiledContraction& contraction, const Isa& isa);

// The values of the tile's parameters.
std::vector<int64_t> TileParams(const TiledContraction& contraction, const ContractTiling& tiling);
// How many accumulators share an output in a tile of so many rows, which may be the last ones.
int64_t SplitOf(const TiledContraction& contraction, const ContractTiling& tiling, int64_t rows);
// The tile that the part says, around it all rows and panels. Error: it is none of this
// contraction.
absl::StatusOr<ContractTiling> TileOfPart(const TiledContraction& contraction,
                                          const SchedulePart& part, int lanes);

// Error: the reason why the schedule is none of this contraction.
absl::StatusOr<ContractTiling> TilingOf(const TiledContraction& contraction,
                                        const Schedule& schedule, int lanes);

// The loops. Error: as above, or an epilogue without vector form.
absl::StatusOr<LoopFunction> ApplyContractSchedule(const TiledContraction& contraction,
                                                   const Schedule& schedule, int lanes);

// All of a contraction in a band of rows, as statements of a task that has more to compute. Error:
// as above.
absl::StatusOr<std::vector<Stmt>> ContractBand(const TiledContraction& contraction,
                                               const ContractTiling& tiling, int lanes,
                                               const NestBand& band);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_CONTRACT_SCHEDULE_H_
