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

typedef uint32_t aotc_four __attribute__((vector_size(16)));

#if defined(__clang__) || __GNUC__ >= 12
#define AOTC_PICK(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#define AOTC_PICK(a, b, i, j, k, l) __builtin_shuffle(a, b, aotc_four{i, j, k, l})
#endif

// Four by four elements of 32 bits, in registers; steps are bytes.
AOTC_INLINE void aotc_transpose_four(const void *x, int64_t x_row, void *y, int64_t y_row) {
  aotc_four row[4];
  for (int r = 0; r < 4; ++r) memcpy(&row[r], (const char *)x + r * x_row, sizeof(aotc_four));
  const aotc_four even0 = AOTC_PICK(row[0], row[1], 0, 4, 2, 6);
  const aotc_four odd0 = AOTC_PICK(row[0], row[1], 1, 5, 3, 7);
  const aotc_four even1 = AOTC_PICK(row[2], row[3], 0, 4, 2, 6);
  const aotc_four odd1 = AOTC_PICK(row[2], row[3], 1, 5, 3, 7);
  row[0] = AOTC_PICK(even0, even1, 0, 1, 4, 5);
  row[1] = AOTC_PICK(odd0, odd1, 0, 1, 4, 5);
  row[2] = AOTC_PICK(even0, even1, 2, 3, 6, 7);
  row[3] = AOTC_PICK(odd0, odd1, 2, 3, 6, 7);
  for (int c = 0; c < 4; ++c) memcpy((char *)y + c * y_row, &row[c], sizeof(aotc_four));
}

template <int Block, class T>
AOTC_INLINE void aotc_transpose_block(const T *x, int64_t x_row, T *y, int64_t y_row) {
  constexpr int64_t kWidth = sizeof(T);
  constexpr int kStep = kWidth == sizeof(uint32_t) ? 4 : 1;
  T block[Block][Block];
  for (int r = 0; r < Block; ++r) memcpy(block[r], x + r * x_row, sizeof(block[r]));
  for (int c = 0; c < Block; c += kStep) {
    for (int r = 0; r < Block; r += kStep) {
      T *to = y + c * y_row + r;
      if (kStep == 4) {
        aotc_transpose_four(&block[r][c], Block * kWidth, to, y_row * kWidth);
      } else {
        *to = block[r][c];
      }
    }
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
