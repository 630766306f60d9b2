// Tile functions that order what lies along an axis: its ranks, its order, the first few.
#ifndef AOTC_COMPILER_TARGETS_CPU_RANK_ROWS_H_
#define AOTC_COMPILER_TARGETS_CPU_RANK_ROWS_H_

#include "compiler/schedule/tile.h"

namespace aotc {

TileTable RankRows();

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_RANK_ROWS_H_
