// The tile functions of the CPU target (templates/cpu), one row each.
#ifndef AOTC_COMPILER_TARGETS_CPU_TILES_H_
#define AOTC_COMPILER_TARGETS_CPU_TILES_H_

#include <cstdint>
#include <span>

#include "compiler/schedule/tile.h"

namespace aotc {

TileTable CpuTiles();

// Of a tile of params[0] rows by params[1] vectors: accumulators, a row of vectors, and an element.
TileNeeds BlockNeeds(std::span<const int64_t> params, int lanes);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_TILES_H_
