// Winograd's transforms for convolutions with 3x3 taps and a step of 1: M x M outputs from a patch
// of (M+2) x (M+2) inputs, with (M+2)^2 products of channels in place of 9 M^2. Each vector holds
// that many channels; what lies between the transforms is a matrix product per place of the patch,
// with weights u for each. Of these rows 0, 1 and M + 1 are kept along either axis, in w: as many
// numbers as a filter has. The others are sums of them, made of rows first, then of columns.
//
//   in:       v[a, b] = sum over i, j of  bt(a, i) * bt(b, j) * x[i, j]
//   weights:  u[a, b] = sum over i, j of  spread(a, i) * spread(b, j) * w[i, j]
//   out:      y[p, q] = sum over a, b of  at(p, a) * at(q, b) * s[a, b]
//
// Kernels hold one patch at a time, M = 4, channels in blocks of 16:
//
//   const aotc_patch<float> patch = {x + (h * width + w) * 16, width * 16, 16};
//   aotc_winograd_input_tile<4>(patch, v, 6 * step, step);              // v + a * 6 * step + ...
//   aotc_winograd_weights_tile<4>(2, vectors, w, step, u);           // u = sum of spread * w[i]
//   const aotc_patch<float> sums = {s, 6 * step, step};
//   aotc_winograd_output_tile<4>(sums, epilogue);                   // epilogue(p, q, 0, y[p, q])
//
// The matrices are those of Toom and Cook (A. Lavin, S. Gray, "Fast Algorithms for Convolutional
// Neural Networks", CVPR 2016) for infinity and the points 0, 1, -1 (M = 2), 0, 5/8, -5/8, 3/2,
// -3/2 (4), or 0, 1, -1, 2, -2, 1/2, -1/2 (6), which keep errors small.
#ifndef AOTC_WINOGRAD_TILE_H_
#define AOTC_WINOGRAD_TILE_H_

#include "aotc/vector.h"
#include "aotc/vector_convert.h"
#include "epilogue.h"

// Vectors of a square, a row and a column apart.
template <class Element>
struct aotc_patch {
  const Element *data;
  int64_t row, column;  // elements from one to the next
};

static constexpr float aotc_winograd_point(int m, int i) {
  const float positive = m == 4 ? (i > 2 ? 1.5f : .625f) : (i > 4 ? .5f : (i > 2 ? 2.f : 1.f));
  return i == 0 ? 0.f : (i % 2 == 1 ? positive : -positive);
}

// Coefficient `power` of the product of (x - point) over the first `count` points but `without`.
static constexpr float aotc_winograd_product(int m, int count, int without, int power) {
  if (power < 0) return 0.f;
  if (count == 0) return power == 0 ? 1.f : 0.f;
  const float rest = aotc_winograd_product(m, count - 1, without, power);
  if (count - 1 == without) return rest;
  return aotc_winograd_product(m, count - 1, without, power - 1) -
         aotc_winograd_point(m, count - 1) * rest;
}

static constexpr float aotc_winograd_bt(int m, int a, int i) {
  return aotc_winograd_product(m, m + 1, a, i);
}

static constexpr float aotc_winograd_power(float x, int power) {
  return power == 0 ? 1.f : x * aotc_winograd_power(x, power - 1);
}

static constexpr float aotc_winograd_at(int m, int p, int a) {
  return a == m + 1 ? (p == m - 1 ? 1.f : 0.f) : aotc_winograd_power(aotc_winograd_point(m, a), p);
}

// The product of (point a - point) over the first `count` points but point a itself.
static constexpr double aotc_winograd_distance(int m, int a, int count) {
  if (count == 0) return 1;
  const double rest = aotc_winograd_distance(m, a, count - 1);
  if (count - 1 == a) return rest;
  return rest * (double(aotc_winograd_point(m, a)) - double(aotc_winograd_point(m, count - 1)));
}

// How much of the kept row i row a of the weights has. By the points x of rows 0, 1 and a, row a is
// (1, x, x^2) / distance, the last one (0, 0, 1).
static constexpr float aotc_winograd_spread(int m, int a, int i) {
  if (a == m + 1) return i == 2 ? 1.f : 0.f;
  const double x = aotc_winograd_point(m, a), x1 = aotc_winograd_point(m, 1);
  const double scale = 1 / aotc_winograd_distance(m, a, m + 1);
  const double scale1 = 1 / aotc_winograd_distance(m, 1, m + 1);
  const double second = scale * x / (scale1 * x1);
  if (i == 1) return float(second);
  if (i == 2) return float(scale * x * x - second * scale1 * x1 * x1);
  return float((scale - second * scale1) * aotc_winograd_distance(m, 0, m + 1));
}

template <int M>
struct aotc_winograd_spreads {
  float of[M + 2][3] = {};
  constexpr aotc_winograd_spreads() {
    for (int a = 0; a < M + 2; ++a) {
      for (int i = 0; i < 3; ++i) of[a][i] = aotc_winograd_spread(M, a, i);
    }
  }
};

namespace {

// Row A of a transform, as far as column I: coefficients are known, so that those of 0 and 1 cost
// nothing.
template <int M, bool IsInput, int A, int I>
struct aotc_winograd_row {
  AOTC_MEMBER static void add(const aotc_vf *x, aotc_vf &sum) {
    constexpr float c = IsInput ? aotc_winograd_bt(M, A, I) : aotc_winograd_at(M, A, I);
    aotc_winograd_row<M, IsInput, A, I - 1>::add(x, sum);
    if (c == 1.f) {
      sum += x[I];
    } else if (c == -1.f) {
      sum -= x[I];
    } else if (c != 0.f) {
      sum += x[I] * aotc_broadcast(c);
    }
  }
};
template <int M, bool IsInput, int A>
struct aotc_winograd_row<M, IsInput, A, -1> {
  AOTC_MEMBER static void add(const aotc_vf *, aotc_vf &) {}
};

// All rows as far as A of the transform of M + 2 values.
template <int M, bool IsInput, int A>
struct aotc_winograd_rows {
  AOTC_MEMBER static void make(const aotc_vf *x, aotc_vf *y) {
    aotc_winograd_rows<M, IsInput, A - 1>::make(x, y);
    y[A] = aotc_vf{};
    aotc_winograd_row<M, IsInput, A, M + 1>::add(x, y[A]);
  }
};
template <int M, bool IsInput>
struct aotc_winograd_rows<M, IsInput, -1> {
  AOTC_MEMBER static void make(const aotc_vf *, aotc_vf *) {}
};

}  // namespace

// The columns of a patch: made[count of the transform][M + 2].
template <int M, bool IsInput, int N, class Element>
AOTC_INLINE void aotc_winograd_columns(const aotc_patch<Element> &x, aotc_vf (&made)[N][M + 2]) {
  AOTC_NO_UNROLL
  for (int j = 0; j < M + 2; ++j) {
    aotc_vf column[M + 2], result[N];
    AOTC_UNROLL(8)
    for (int i = 0; i < M + 2; ++i) column[i] = aotc_load(x.data + i * x.row + j * x.column);
    aotc_winograd_rows<M, IsInput, N - 1>::make(column, result);
    AOTC_UNROLL(8)
    for (int a = 0; a < N; ++a) made[a][j] = result[a];
  }
}

template <int M, class Element>
AOTC_KERNEL void aotc_winograd_input_tile(const aotc_patch<Element> &x, float *v, int64_t row,
                                          int64_t column) {
  aotc_vf made[M + 2][M + 2];
  aotc_winograd_columns<M, true>(x, made);
  AOTC_NO_UNROLL
  for (int a = 0; a < M + 2; ++a) {
    aotc_vf result[M + 2];
    aotc_winograd_rows<M, true, M + 1>::make(made[a], result);
    AOTC_UNROLL(8)
    for (int b = 0; b < M + 2; ++b) aotc_store(v + a * row + b * column, result[b]);
  }
}

// Row `row` of the weights, of the three that are kept `step` elements apart.
template <int M>
AOTC_KERNEL void aotc_winograd_weights_tile(int64_t row, int64_t vectors, const float *w,
                                            int64_t step, float *u) {
  static constexpr aotc_winograd_spreads<M> kSpreads{};
  const aotc_vf first = aotc_broadcast(kSpreads.of[row][0]);
  const aotc_vf second = aotc_broadcast(kSpreads.of[row][1]);
  const aotc_vf last = aotc_broadcast(kSpreads.of[row][2]);
  AOTC_UNROLL(4)
  for (int64_t i = 0; i < vectors * AOTC_LANES; i += AOTC_LANES) {
    aotc_vf sum = first * aotc_load(w + i);
    sum += second * aotc_load(w + i + step);
    sum += last * aotc_load(w + i + 2 * step);
    aotc_store(u + i, sum);
  }
}

template <int M, class Element, class Epilogue>
AOTC_KERNEL void aotc_winograd_output_tile(const aotc_patch<Element> &sums, Epilogue &epilogue) {
  aotc_vf made[M][M + 2];
  aotc_winograd_columns<M, false>(sums, made);
  AOTC_NO_UNROLL
  for (int p = 0; p < M; ++p) {
    aotc_vf result[M];
    aotc_winograd_rows<M, false, M - 1>::make(made[p], result);
    AOTC_NO_UNROLL
    for (int q = 0; q < M; ++q) epilogue(p, q, 0, result[q]);
  }
}

#endif  // AOTC_WINOGRAD_TILE_H_
