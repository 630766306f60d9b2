// Columns of a matrix as rows of another: copies that read along another axis than they write.
//
//   aotc_transpose_tile<16>(rows, columns, x, x_row, y, y_row);   // y[c][r] = x[r][c]
//
// Element (r, c) of x is x[r * x_row + c], element (c, r) of y is y[c * y_row + r]. Block rows and
// columns at a time: each line of x is read at once and each line of y written at once, however
// far apart they lie (powers of two share sets of a cache). Nothing beyond the operands is touched;
// zero rows or columns are no special case.
//
// Sizes: Block elements fill a line of 64 bytes or a part of it.
#ifndef AOTC_TRANSPOSE_TILE_H_
#define AOTC_TRANSPOSE_TILE_H_

#include <stdint.h>
#include <string.h>

#include "aotc/attributes.h"

template <int Block, class T>
AOTC_INLINE void aotc_transpose_block(const T *x, int64_t x_row, T *y, int64_t y_row) {
  T block[Block][Block];
  for (int r = 0; r < Block; ++r) memcpy(block[r], x + r * x_row, sizeof(block[r]));
  for (int c = 0; c < Block; ++c) {
    for (int r = 0; r < Block; ++r) y[c * y_row + r] = block[r][c];
  }
}

template <int Block, class T>
AOTC_KERNEL void aotc_transpose_tile(int64_t rows, int64_t columns, const T *x, int64_t x_row, T *y,
                                     int64_t y_row) {
  const int64_t whole_rows = rows - rows % Block, whole_columns = columns - columns % Block;
  for (int64_t r = 0; r < whole_rows; r += Block) {
    for (int64_t c = 0; c < whole_columns; c += Block)
      aotc_transpose_block<Block>(x + r * x_row + c, x_row, y + c * y_row + r, y_row);
  }
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = c < whole_columns ? whole_rows : 0; r < rows; ++r)
      y[c * y_row + r] = x[r * x_row + c];
  }
}

#endif  // AOTC_TRANSPOSE_TILE_H_
