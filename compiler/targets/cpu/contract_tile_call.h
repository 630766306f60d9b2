// One call of a contraction's tile function, with its operands and its epilogue.
#ifndef AOTC_COMPILER_TARGETS_CPU_CONTRACT_TILE_CALL_H_
#define AOTC_COMPILER_TARGETS_CPU_CONTRACT_TILE_CALL_H_

#include <vector>

#include "compiler/targets/cpu/contract_schedule.h"

namespace aotc {

// Where the tile lies: its rows, and the columns of the variables `panel` and `group`.
struct TileSite {
  Expr first_row = {};                      // of the row axis
  Expr task_row = {};                       // the same, counted from the task's first row
  int64_t rows = 1;                         // of this tile
  Bounds bounds = {};                       // of the nest, panel, group, lane
  std::vector<TensorId> accumulators = {};  // scratch of the statistics: [task row, lane]
};

// Error: an epilogue without vector form.
absl::StatusOr<Stmt> ContractTileCall(const TiledContraction& contraction,
                                      const ContractTiling& tiling, int lanes,
                                      const TileSite& site);

// The logical columns' variables, for a column of the panels.
Substitution ColumnsAt(const TiledContraction& contraction, const Expr& column);

// A vector of the accumulators of one row of the task.
Expr LoadAccumulators(TensorId accumulators, const Expr& task_row, int lanes);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_CONTRACT_TILE_CALL_H_
