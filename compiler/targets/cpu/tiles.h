// The tile functions of the CPU target (templates/cpu), one row each.
#ifndef AOTC_COMPILER_TARGETS_CPU_TILES_H_
#define AOTC_COMPILER_TARGETS_CPU_TILES_H_

#include "compiler/schedule/tile.h"

namespace aotc {

TileTable CpuTiles();

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_TILES_H_
