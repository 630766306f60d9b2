// The part of a contraction that a tile function computes. Example, tile (i, j) of 64x64 tiles:
//   const aotc_tile_range<int32_t> range = {64 * i, 64 * j, rows, columns, 0, depth};
#ifndef AOTC_CUDA_TILE_RANGE_CUH_
#define AOTC_CUDA_TILE_RANGE_CUH_

#include <stdint.h>

// Results [m_begin, m_end) x [n_begin, n_end), of which a tile computes the first BM x BN, summed
// over [k_begin, k_end). Index is int32_t or int64_t; accessors and epilogues are called with it.
// It must hold each end plus the size of the tile.
template <class Index>
struct aotc_tile_range {
  Index m_begin, n_begin, m_end, n_end, k_begin, k_end;
};

#endif  // AOTC_CUDA_TILE_RANGE_CUH_
