// Register-tiled contractions: aotc_contract_tile called from loops over panels, row chunks and
// tiles.
//
//   ContractSchedule schedule = ChooseContractSchedule(contraction, isa);
//   LoopFunction loops = *ApplyContractSchedule({kernel, contraction, schedule, isa});
//
// A task is a panel of columns of some rows: a chunk of the innermost outer axis, or of the rows
// themselves where there is no such axis. Statistics of rows need all columns in one task: each row
// has a vector of accumulators in scratch, which the epilogues of all panels combine with.
#ifndef AOTC_COMPILER_TARGETS_CPU_CONTRACT_SCHEDULE_H_
#define AOTC_COMPILER_TARGETS_CPU_CONTRACT_SCHEDULE_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/targets/cpu/contraction.h"
#include "compiler/targets/cpu/cpu_target.h"

namespace aotc {

// Typed parameters of the realisation. Text: contract_tile{rows=14, vectors=2, split=1, chunk=4}
struct ContractSchedule {
  std::string name = "contract_tile";  // contract_tile_int8, depthwise_tile, depthwise_tile_int8
  int64_t rows = 14;                   // MR: rows of the register tile
  int64_t vectors = 2;                 // NV: vectors of columns
  int64_t split = 1;  // KU of tiles with few accumulators: how many share an output
  int64_t chunk = 1;  // iterations of the innermost outer axis, or rows, that one task walks
};
std::string PrintSchedule(const ContractSchedule& schedule);

// Tile and blocking for one instruction set, from registers and extents.
ContractSchedule ChooseContractSchedule(const TiledContraction& contraction, const Isa& isa);

struct ScheduledContraction {
  const Kernel& kernel;
  const TiledContraction& contraction;
  const ContractSchedule& schedule;
  const Isa& isa;
};

// The loops. Error: an epilogue without vector form.
absl::StatusOr<LoopFunction> ApplyContractSchedule(const ScheduledContraction& scheduled);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_CONTRACT_SCHEDULE_H_
