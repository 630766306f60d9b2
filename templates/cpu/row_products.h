// Products of a few rows with a matrix that lies as it was computed, not packed: queries times
// keys, weights times values.
//
//   const aotc_matrix<float> a = {queries, 64, 1}, b = {keys, 64, 1};
//   aotc_row_products<6, 2>(rows, n, k, a, {values, n, 1}, y, ldy);   // y = a b
//   aotc_row_dots<6, 2>(rows, n, k, a, b, y, ldy);                    // y = a b^T
//
// MR rows share each load of b. Fewer than MR are computed as MR, of which the last are the same,
// and are stored alone; a single row has a tile of its own. Tails of columns and of the depth are
// masked: nothing beyond the operands is read. Zero columns or depth are no special case.
//
// Sizes: of aotc_row_products, MR * NV accumulators, NV vectors of b and a broadcast must fit the
// registers (8x2 with AVX-512, else 6x2); of aotc_row_dots, MR * NC accumulators, NC columns and a
// row.
//
// Here the numbers are f32; row_products_int8.h has bytes. What differs is aotc_row_sums.
#ifndef AOTC_ROW_PRODUCTS_H_
#define AOTC_ROW_PRODUCTS_H_

#include <stdint.h>

#include "aotc/vector.h"

// Element (i, j) of a matrix is data[i * row + j * step].
template <class T>
struct aotc_matrix {
  const T *data;
  int64_t row, step;
};

// Where MR rows begin; those beyond the last stand for it.
template <int MR, class T>
AOTC_INLINE void aotc_find_rows(const aotc_matrix<T> &a, int64_t rows, const T *(&begin)[MR]) {
  AOTC_UNROLL(8)
  for (int m = 0; m < MR; ++m) begin[m] = a.data + (m < rows ? m : rows - 1) * a.row;
}

// The sums of products of As and Bs: what they are, and tiles of them.
template <class A, class B>
struct aotc_row_sums;

template <>
struct aotc_row_sums<float, float> {
  typedef float element;
  typedef aotc_vf vector;

  // MR rows of a by NV vectors of columns; Masked (then NV is 1): only `width` of them are there.
  template <int MR, int NV, bool Masked>
  AOTC_MEMBER static void columns(const float *const (&a)[MR], int64_t a_step, int64_t depth,
                                  const float *b, int64_t b_row, int64_t width,
                                  aotc_vf (&acc)[MR][NV]) {
    AOTC_NO_UNROLL
    for (int64_t k = 0; k < depth; ++k) {
      aotc_vf row[NV];
      AOTC_UNROLL(4)
      for (int v = 0; v < NV; ++v) {
        row[v] = Masked ? aotc_load_first(b, width) : aotc_load(b + v * AOTC_LANES);
      }
      AOTC_UNROLL(8)
      for (int m = 0; m < MR; ++m) {
        aotc_vf factor = aotc_broadcast(a[m][k * a_step]);
        aotc_pin(factor);
        AOTC_UNROLL(4)
        for (int v = 0; v < NV; ++v) acc[m][v] += factor * row[v];
      }
      b += b_row;
    }
  }

  // MR rows of a by NC rows of b, which are `depth` long and dense.
  template <int MR, int NC>
  AOTC_MEMBER static void dots(const float *const (&a)[MR], const float *const (&b)[NC],
                               int64_t depth, aotc_vf (&acc)[MR][NC]) {
    int64_t k = 0;
    AOTC_NO_UNROLL
    for (; k + AOTC_LANES <= depth; k += AOTC_LANES) {
      aotc_vf factors[NC];
      AOTC_UNROLL(4)
      for (int n = 0; n < NC; ++n) factors[n] = aotc_load(b[n] + k);
      AOTC_UNROLL(8)
      for (int m = 0; m < MR; ++m) {
        const aotc_vf row = aotc_load(a[m] + k);
        AOTC_UNROLL(4)
        for (int n = 0; n < NC; ++n) acc[m][n] += row * factors[n];
      }
    }
    if (k < depth) {
      AOTC_UNROLL(8)
      for (int m = 0; m < MR; ++m) {
        const aotc_vf row = aotc_load_first(a[m] + k, depth - k);
        AOTC_UNROLL(4)
        for (int n = 0; n < NC; ++n) acc[m][n] += row * aotc_load_first(b[n] + k, depth - k);
      }
    }
  }
};

template <int MR, int NV, class Vector>
AOTC_INLINE void aotc_clear(Vector (&acc)[MR][NV]) {
  AOTC_UNROLL(32)
  for (int i = 0; i < MR * NV; ++i) acc[i / NV][i % NV] = Vector{};
}

template <int MR, int NV, class A, class B, class Y>
AOTC_KERNEL void aotc_row_products_tiles(int64_t rows, int64_t columns, int64_t depth,
                                         const aotc_matrix<A> &a, const aotc_matrix<B> &b, Y *y,
                                         int64_t y_row) {
  typedef aotc_row_sums<A, B> sums;
  const A *begin[MR];
  aotc_find_rows<MR>(a, rows, begin);
  const int64_t whole = NV * AOTC_LANES;
  int64_t n = 0;
  for (; n + whole <= columns; n += whole) {
    typename sums::vector acc[MR][NV];
    aotc_clear<MR, NV>(acc);
    sums::template columns<MR, NV, false>(begin, a.step, depth, b.data + n, b.row, whole, acc);
    AOTC_UNROLL(8)
    for (int m = 0; m < MR; ++m) {
      AOTC_UNROLL(4)
      for (int v = 0; v < NV; ++v) {
        if (m < rows) aotc_store(y + m * y_row + n + v * AOTC_LANES, acc[m][v]);
      }
    }
  }
  // Not in the loop, whose end would need the C++ runtime with g++ -O0.
  typename sums::vector last[MR][1];
  for (; n < columns; n += AOTC_LANES) {
    const int64_t width = columns - n < AOTC_LANES ? columns - n : AOTC_LANES;
    aotc_clear<MR, 1>(last);
    sums::template columns<MR, 1, true>(begin, a.step, depth, b.data + n, b.row, width, last);
    AOTC_UNROLL(8)
    for (int m = 0; m < MR; ++m) {
      if (m < rows) aotc_store_first(y + m * y_row + n, last[m][0], width);
    }
  }
}

// y[m][n] = sum over k of a(m, k) * b(k, n), for m < rows <= MR, n < columns, k < depth. b.step
// is 1.
template <int MR, int NV, class A, class B>
AOTC_INLINE void aotc_row_products(int64_t rows, int64_t columns, int64_t depth, aotc_matrix<A> a,
                                   aotc_matrix<B> b, typename aotc_row_sums<A, B>::element *y,
                                   int64_t y_row) {
  if (rows == 1) {
    aotc_row_products_tiles<1, MR == 1 ? NV : 4>(rows, columns, depth, a, b, y, y_row);
  } else {
    aotc_row_products_tiles<MR, NV>(rows, columns, depth, a, b, y, y_row);
  }
}

template <int MR, int NC, class A, class B, class Y>
AOTC_KERNEL void aotc_row_dots_tiles(int64_t rows, int64_t columns, int64_t depth,
                                     const aotc_matrix<A> &a, const aotc_matrix<B> &b, Y *y,
                                     int64_t y_row) {
  const A *a_rows[MR];
  const B *b_rows[NC];
  aotc_find_rows<MR>(a, rows, a_rows);
  for (int64_t n = 0; n < columns; n += NC) {
    const int64_t count = columns - n < NC ? columns - n : NC;
    aotc_find_rows<NC>(aotc_matrix<B>{b.data + n * b.row, b.row, 1}, count, b_rows);
    typename aotc_row_sums<A, B>::vector acc[MR][NC];
    aotc_clear<MR, NC>(acc);
    aotc_row_sums<A, B>::template dots<MR, NC>(a_rows, b_rows, depth, acc);
    AOTC_UNROLL(8)
    for (int m = 0; m < MR; ++m) {
      AOTC_UNROLL(4)
      for (int c = 0; c < NC; ++c) {
        if (m < rows && c < count) y[m * y_row + n + c] = aotc_sum_lanes(acc[m][c]);
      }
    }
  }
}

// y[m][n] = sum over k of a(m, k) * b(n, k), for m < rows <= MR, n < columns, k < depth. a.step and
// b.step are 1.
template <int MR, int NC, class A, class B>
AOTC_INLINE void aotc_row_dots(int64_t rows, int64_t columns, int64_t depth, aotc_matrix<A> a,
                               aotc_matrix<B> b, typename aotc_row_sums<A, B>::element *y,
                               int64_t y_row) {
  if (rows == 1) {
    aotc_row_dots_tiles<1, MR == 1 ? NC : 4>(rows, columns, depth, a, b, y, y_row);
  } else {
    aotc_row_dots_tiles<MR, NC>(rows, columns, depth, a, b, y, y_row);
  }
}

#endif  // AOTC_ROW_PRODUCTS_H_
