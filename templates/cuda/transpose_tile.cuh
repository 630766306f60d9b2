// Transposes a 32x32 tile through shared memory, so that both the reads and the writes of a warp
// lie together. Example, y[c, r] = x[r, c] with 256 threads to a block:
//
//   const aotc_transpose_range<int64_t> range = {32 * tile_row, 32 * tile_column, rows, columns};
//   aotc_transpose_tile<8>(load, store, range);
//
// load(r, c): the element, read with neighbouring threads at neighbouring c.
// store(r, c, value): called once per element in range, with neighbouring threads at neighbouring
// r. Threads: exactly 32 * Rows, in one dimension; Rows divides 32. Every thread of the block must
// call it.
#ifndef AOTC_CUDA_TRANSPOSE_TILE_CUH_
#define AOTC_CUDA_TRANSPOSE_TILE_CUH_

#include "aotc/cuda.h"

// The tile begins at (row_begin, column_begin) and ends at (row_end, column_end) or 32 further on.
// Index is int32_t or int64_t; it must hold each end plus 32.
template <class Index>
struct aotc_transpose_range {
  Index row_begin, column_begin, row_end, column_end;
};

template <class T>
struct aotc_plain_value {
  typedef T type;
};
template <class T>
struct aotc_plain_value<const T> {
  typedef T type;
};

template <int Rows, class Load, class Store, class Index>
AOTC_DEVICE void aotc_transpose_tile(const Load &load, const Store &store,
                                     const aotc_transpose_range<Index> &range) {
  static_assert(Rows > 0 && 32 % Rows == 0, "the rows of threads divide the tile");
  typedef typename aotc_plain_value<decltype(load(Index{}, Index{}))>::type element;
  AOTC_SHARED(element, tile, 32 * 33);  // a column more: columns lie in different banks
  const int x = static_cast<int>(threadIdx.x) % 32, y = static_cast<int>(threadIdx.x) / 32;
  aotc_syncthreads();  // an earlier call may still read the tile
  for (int i = y; i < 32; i += Rows) {
    const Index row = range.row_begin + i, column = range.column_begin + x;
    if (row < range.row_end && column < range.column_end) tile[i * 33 + x] = load(row, column);
  }
  aotc_syncthreads();
  for (int i = y; i < 32; i += Rows) {
    const Index row = range.row_begin + x, column = range.column_begin + i;
    if (row >= range.row_end || column >= range.column_end) continue;
    const element value = tile[x * 33 + i];
    store(row, column, value);
  }
}

#endif  // AOTC_CUDA_TRANSPOSE_TILE_CUH_
