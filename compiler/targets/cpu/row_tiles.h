// All rows by calls of a register tile, whatever their number is.
//
//   for tile in 0..count / 14: make(tile * 14, 14)
//   make(done, left)                          // where what is left over is known
//   if left / 8 % 2 == 1: make(..., 8)        // else a tile for each binary digit of it
#ifndef AOTC_COMPILER_TARGETS_CPU_ROW_TILES_H_
#define AOTC_COMPILER_TARGETS_CPU_ROW_TILES_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/expr_simplify.h"
#include "compiler/ir/loops.h"

namespace aotc {

// Statements of a tile of `rows` rows from `first` on.
using MakeRowTile = std::function<absl::StatusOr<Stmt>(const Expr& first, int64_t rows)>;

// The variables that `first` may depend on; each is from 0 to the number of rows.
inline constexpr const char* kRowTileNames[] = {"tile", "rows_done", "rows_left"};

absl::StatusOr<std::vector<Stmt>> RowTiles(const Expr& count, int64_t rows, const Bounds& bounds,
                                           const MakeRowTile& make);

// The tiles of `rows` rows alone.
absl::StatusOr<std::vector<Stmt>> WholeRowTiles(const Expr& count, int64_t rows,
                                                const Bounds& bounds, const MakeRowTile& make);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_ROW_TILES_H_
