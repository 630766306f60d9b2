#include "compiler/targets/cpu/row_tiles.h"

#include <optional>
#include <utility>

#include "compiler/support/status.h"

namespace aotc {
namespace {

using Statements = absl::StatusOr<std::vector<Stmt>>;

// `left` rows, fewer than `rows`, whose number is not known.
Statements BinaryTiles(const Expr& done, const Expr& left, int64_t rows, const MakeRowTile& make) {
  std::vector<Stmt> tiles = {Let("rows_done", done), Let("rows_left", left)};
  const Expr count = Var("rows_left");
  int64_t part = 1;
  while (part * 2 < rows) part *= 2;
  for (; part > 0; part /= 2) {
    const Expr before = FloorDiv(count, 2 * part) * (2 * part);
    AOTC_ASSIGN_OR_RETURN(Stmt tile, make(Var("rows_done") + before, part));
    tiles.push_back(If(Eq(Mod(FloorDiv(count, part), 2), 1), {std::move(tile)}));
  }
  return tiles;
}

}  // namespace

Statements WholeRowTiles(const Expr& count, int64_t rows, const Bounds& bounds,
                         const MakeRowTile& make) {
  const Expr whole = Simplify(FloorDiv(count, rows), bounds);
  if (whole.IsInt(0)) return std::vector<Stmt>{};
  AOTC_ASSIGN_OR_RETURN(Stmt tile, make(Var("tile") * rows, rows));
  return std::vector<Stmt>{For("tile", 0, whole, {std::move(tile)})};
}

Statements RowTiles(const Expr& count, int64_t rows, const Bounds& bounds,
                    const MakeRowTile& make) {
  AOTC_ASSIGN_OR_RETURN(std::vector<Stmt> tiles, WholeRowTiles(count, rows, bounds, make));
  const Expr done = Simplify(FloorDiv(count, rows) * rows, bounds);
  const Expr left = Simplify(count - done, bounds);
  if (left.IsInt(0)) return tiles;
  if (const std::optional<int64_t> some = left.AsInt()) {
    AOTC_ASSIGN_OR_RETURN(Stmt tile, make(done, *some));
    tiles.push_back(std::move(tile));
    return tiles;
  }
  AOTC_ASSIGN_OR_RETURN(std::vector<Stmt> last, BinaryTiles(done, left, rows, make));
  tiles.insert(tiles.end(), last.begin(), last.end());
  return tiles;
}

}  // namespace aotc
