// The tile functions of the CUDA target (templates/cuda), one row each.
#ifndef AOTC_COMPILER_TARGETS_CUDA_TILES_H_
#define AOTC_COMPILER_TARGETS_CUDA_TILES_H_

#include "compiler/schedule/tile.h"

namespace aotc {

TileTable CudaTiles();

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CUDA_TILES_H_
