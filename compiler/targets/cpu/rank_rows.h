// Tile functions that order what lies along an axis: its ranks, its order, the first few.
#ifndef AOTC_COMPILER_TARGETS_CPU_RANK_ROWS_H_
#define AOTC_COMPILER_TARGETS_CPU_RANK_ROWS_H_

#include <optional>
#include <string_view>
#include <vector>

#include "compiler/schedule/tile.h"

namespace aotc {

// Each of floats, and as NAME_integers.
std::vector<TileRow> RankRows();

// What the names of those rows end with that take elements of this type; nothing where none does.
std::optional<std::string_view> RankRowsOf(DType type);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_RANK_ROWS_H_
