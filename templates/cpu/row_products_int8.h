// The products of row_products.h on bytes, signed or not, into i32.
//
//   const aotc_matrix<uint8_t> a = {x, 256, 1};    // u8 [m, 256]
//   const aotc_matrix<int8_t> b = {w, 192, 1};     // i8 [256, 192]
//   aotc_row_products<6, 2>(rows, 192, 256, a, b, y, 192);             // y = a b
//   aotc_row_dots<6, 2>(rows, n, 256, a, {keys, 256, 1}, y, n);        // y = a b^T, i8 [n, 256]
//
// Two steps of k at a time: a lane holds both as 16-bit integers, which one instruction multiplies
// and adds (aotc/pairs.h). Results are exact, the same on every ISA, and wrap as i32 does.
#ifndef AOTC_ROW_PRODUCTS_INT8_H_
#define AOTC_ROW_PRODUCTS_INT8_H_

#include <stdint.h>

#include "aotc/pairs.h"
#include "aotc/vector.h"
#include "aotc/vector_convert.h"
#include "row_products.h"

template <class A, class B>
struct aotc_row_sums {
  typedef int32_t element;
  typedef aotc_vi vector;
  static_assert(sizeof(A) == 1 && sizeof(B) == 1, "bytes");

  template <int MR, int NV, bool Masked>
  AOTC_MEMBER static void columns(const A *const (&a)[MR], int64_t a_step, int64_t depth,
                                  const B *b, int64_t b_row, int64_t width,
                                  aotc_vi (&acc)[MR][NV]) {
    int64_t k = 0;
    AOTC_NO_UNROLL
    for (; k + 2 <= depth; k += 2) {
      step<MR, NV, Masked, true>(a, k * a_step, a_step, b, b_row, width, acc);
      b += 2 * b_row;
    }
    if (k < depth) step<MR, NV, Masked, false>(a, k * a_step, a_step, b, b_row, width, acc);
  }

  template <int MR, int NC>
  AOTC_MEMBER static void dots(const A *const (&a)[MR], const B *const (&b)[NC], int64_t depth,
                               aotc_vi (&acc)[MR][NC]) {
    const int64_t whole = 2 * AOTC_LANES;
    int64_t k = 0;
    AOTC_NO_UNROLL
    for (; k + whole <= depth; k += whole) dot_step<MR, NC, false>(a, b, k, whole, acc);
    if (k < depth) dot_step<MR, NC, true>(a, b, k, depth - k, acc);
  }

 private:
  template <bool Masked, class T>
  AOTC_MEMBER static aotc_vi load(const T *from, int64_t width) {
    return Masked ? aotc_load_first(from, width) : aotc_load(from);
  }

  // acc += a(m, k) * b(k, n) + a(m, k + 1) * b(k + 1, n); Paired: there is a second of them.
  template <int MR, int NV, bool Masked, bool Paired>
  AOTC_MEMBER static void step(const A *const (&a)[MR], int64_t at, int64_t a_step, const B *b,
                               int64_t b_row, int64_t width, aotc_vi (&acc)[MR][NV]) {
    aotc_vi row[NV];
    AOTC_UNROLL(4)
    for (int v = 0; v < NV; ++v) {
      const B *from = b + v * AOTC_LANES;
      const aotc_vi next = Paired ? load<Masked>(from + b_row, width) : aotc_vi{};
      row[v] = aotc_pair(load<Masked>(from, width), next);
    }
    AOTC_UNROLL(8)
    for (int m = 0; m < MR; ++m) {
      aotc_vi factor = aotc_broadcast(aotc_pair(a[m][at], Paired ? a[m][at + a_step] : 0));
      aotc_pin(factor);
      AOTC_UNROLL(4)
      for (int v = 0; v < NV; ++v) {
        acc[m][v] = aotc_add(acc[m][v], aotc_multiply_add_pairs(factor, row[v]));
      }
    }
  }

  // Each of AOTC_LANES numbers with the one as far behind it; Masked: `width` are there.
  template <bool Masked, class T>
  AOTC_MEMBER static aotc_vi load_pairs(const T *from, int64_t width) {
    if (!Masked) return aotc_pair(aotc_load(from), aotc_load(from + AOTC_LANES));
    if (width <= AOTC_LANES) return aotc_pair(aotc_load_first(from, width), aotc_vi{});
    return aotc_pair(aotc_load(from), aotc_load_first(from + AOTC_LANES, width - AOTC_LANES));
  }

  template <int MR, int NC, bool Masked>
  AOTC_MEMBER static void dot_step(const A *const (&a)[MR], const B *const (&b)[NC], int64_t k,
                                   int64_t width, aotc_vi (&acc)[MR][NC]) {
    aotc_vi factors[NC];
    AOTC_UNROLL(4)
    for (int n = 0; n < NC; ++n) factors[n] = load_pairs<Masked>(b[n] + k, width);
    AOTC_UNROLL(8)
    for (int m = 0; m < MR; ++m) {
      const aotc_vi row = load_pairs<Masked>(a[m] + k, width);
      AOTC_UNROLL(4)
      for (int n = 0; n < NC; ++n) {
        acc[m][n] = aotc_add(acc[m][n], aotc_multiply_add_pairs(row, factors[n]));
      }
    }
  }
};

#endif  // AOTC_ROW_PRODUCTS_INT8_H_
