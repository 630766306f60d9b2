// The rows of Winograd's transforms in the CPU's table of tiles.
#ifndef AOTC_COMPILER_TARGETS_CPU_WINOGRAD_ROWS_H_
#define AOTC_COMPILER_TARGETS_CPU_WINOGRAD_ROWS_H_

#include <vector>

#include "compiler/schedule/tile.h"

namespace aotc {

std::vector<TileRow> WinogradRows();

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_WINOGRAD_ROWS_H_
