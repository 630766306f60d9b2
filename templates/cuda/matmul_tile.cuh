// A tile of a contraction on CUDA cores: BM x BN results of a block, accumulated in f32.
//
//   acc[m, n] = sum over k of a(m, k) * b(k, n);   epilogue(m, n, acc[m, n])
//
// Example, y = relu(a·b + bias) with 64x64 tiles by 256 threads:
//
//   struct a_rows { const float *a; int64_t rows, depth;       // in an unnamed namespace
//     AOTC_MEMBER float operator()(int64_t m, int64_t k) const {
//       return m < rows && k < depth ? a[m * depth + k] : 0.0f; } };
//   ...
//   const aotc_tile_range<int64_t> range = {64 * tile_m, 64 * tile_n, rows, columns, 0, depth};
//   aotc_matmul_tile<64, 64, 16, 4, 4>(a, b, epilogue, range);
//
// a(m, k), b(k, n): the element as f32; 0 outside of their bounds (they are called up to the end of
//   the tile and of the last step). An implicit convolution differs in them alone.
// epilogue(m, n, acc): called once for each result within the range. With statistics of the rows:
//   row_statistics.cuh.
// ByK tells which neighbours should be fetched together: 1 for elements that lie together along k
//   (A of a row-major product), 0 along m or n (its B).
// Threads: exactly (BM / TM) * (BN / TN), in one dimension; each computes TM x TN results.
// Every thread of the block must call it, with the same range. Shared memory: see shared_floats.
#ifndef AOTC_CUDA_MATMUL_TILE_CUH_
#define AOTC_CUDA_MATMUL_TILE_CUH_

#include "aotc/cuda.h"
#include "row_statistics.cuh"
#include "tile_range.cuh"

// Sizes that follow from the template's.
template <int BM, int BN, int BK, int TM, int TN>
struct aotc_matmul_shape {
  enum {
    threads = (BM / TM) * (BN / TN),
    a_stride = BM + 4,  // rows of the stages, padded against bank conflicts of transposing stores
    b_stride = BN + 4,
    stage = BK * (a_stride + b_stride),
    shared_floats = 2 * stage,
    a_loads = BM * BK / threads,  // of each thread and step
    b_loads = BN * BK / threads,
    m_chunk = TM % 4 == 0 ? 4 : TM,  // neighbouring results of a thread
    n_chunk = TN % 4 == 0 ? 4 : TN,
  };
  static_assert(BM % TM == 0 && BN % TN == 0, "threads cover the tile");
  static_assert(BM * BK % threads == 0 && BN * BK % threads == 0, "threads share the loads evenly");
  static_assert(threads <= 1024 && 4 * shared_floats <= 48 * 1024, "the limits of a block");
};

// Where result `i` of the thread in place `place` lies along an axis of `size`: chunks are dealt
// out in turn, so that neighbouring threads read neighbouring banks.
template <int Size, int Count, int Chunk>
AOTC_DEVICE int aotc_matmul_place(int place, int i) {
  return i / Chunk * (Size / Count * Chunk) + place * Chunk + i % Chunk;
}

// The position (outer, k) of load `i` of a thread in an Outer x BK tile.
template <int Outer, int BK, int Threads, int ByK>
AOTC_DEVICE aotc_matrix_position aotc_matmul_load_place(int thread, int i) {
  const int number = thread + i * Threads;
  if (ByK) return {number / BK, number % BK};
  return {number % Outer, number / Outer};
}

template <class Shape, int BM, int BN, int BK, int AByK, int BByK, class A, class B, class Index>
AOTC_DEVICE void aotc_matmul_fetch(const A &a, const B &b, const aotc_tile_range<Index> &range,
                                   Index k, float *registers) {
  const int thread = static_cast<int>(threadIdx.x);
  AOTC_UNROLL(16)
  for (int i = 0; i < Shape::a_loads; ++i) {
    const aotc_matrix_position at = aotc_matmul_load_place<BM, BK, Shape::threads, AByK>(thread, i);
    registers[i] = a(range.m_begin + at.row, k + at.column);
  }
  AOTC_UNROLL(16)
  for (int i = 0; i < Shape::b_loads; ++i) {
    const aotc_matrix_position at = aotc_matmul_load_place<BN, BK, Shape::threads, BByK>(thread, i);
    registers[Shape::a_loads + i] = b(k + at.column, range.n_begin + at.row);
  }
}

template <class Shape, int BM, int BN, int BK, int AByK, int BByK>
AOTC_DEVICE void aotc_matmul_keep(AOTC_SHARED_POINTER(float) stage, const float *registers) {
  const int thread = static_cast<int>(threadIdx.x);
  AOTC_UNROLL(16)
  for (int i = 0; i < Shape::a_loads; ++i) {
    const aotc_matrix_position at = aotc_matmul_load_place<BM, BK, Shape::threads, AByK>(thread, i);
    stage[at.column * Shape::a_stride + at.row] = registers[i];
  }
  AOTC_UNROLL(16)
  for (int i = 0; i < Shape::b_loads; ++i) {
    const aotc_matrix_position at = aotc_matmul_load_place<BN, BK, Shape::threads, BByK>(thread, i);
    stage[BK * Shape::a_stride + at.column * Shape::b_stride + at.row] =
        registers[Shape::a_loads + i];
  }
}

// acc += the product of the stage's tiles, for one thread.
template <class Shape, int BM, int BN, int BK, int TM, int TN>
AOTC_DEVICE void aotc_matmul_multiply(AOTC_SHARED_POINTER(const float) stage, int m_place,
                                      int n_place, float (&acc)[TM][TN]) {
  AOTC_UNROLL(4)
  for (int k = 0; k < BK; ++k) {
    float a[TM], b[TN];
    AOTC_UNROLL(16)
    for (int i = 0; i < TM; ++i) {
      a[i] = stage[k * Shape::a_stride + aotc_matmul_place<BM, TM, Shape::m_chunk>(m_place, i)];
    }
    AOTC_UNROLL(16)
    for (int j = 0; j < TN; ++j) {
      b[j] = stage[BK * Shape::a_stride + k * Shape::b_stride +
                   aotc_matmul_place<BN, TN, Shape::n_chunk>(n_place, j)];
    }
    AOTC_UNROLL(16)
    for (int i = 0; i < TM; ++i) {
      AOTC_UNROLL(16)
      for (int j = 0; j < TN; ++j) acc[i][j] += a[i] * b[j];
    }
  }
}

// Hands a thread's results to the epilogue. The BN / TN threads of a row are neighbours.
template <class Shape, int BM, int BN, int TM, int TN, class Epilogue, class Index>
AOTC_DEVICE void aotc_matmul_finish(const Epilogue &epilogue, const aotc_tile_range<Index> &range,
                                    int m_place, int n_place, const float (&acc)[TM][TN]) {
  AOTC_UNROLL(16)
  for (int i = 0; i < TM; ++i) {
    const Index m = range.m_begin + aotc_matmul_place<BM, TM, Shape::m_chunk>(m_place, i);
    aotc_row_state<Epilogue> state(epilogue);
    AOTC_UNROLL(16)
    for (int j = 0; j < TN; ++j) {
      const Index n = range.n_begin + aotc_matmul_place<BN, TN, Shape::n_chunk>(n_place, j);
      if (m < range.m_end && n < range.n_end) state.take(epilogue, m, n, acc[i][j]);
    }
    state.template combine<BN / TN>(epilogue);
    if (n_place == 0 && m < range.m_end) state.finish(epilogue, m);
  }
}

// Two stages of shared memory: while one is multiplied, the next step's elements are on their way
// to registers; one barrier a step.
template <int BM, int BN, int BK, int TM, int TN, int AByK = 1, int BByK = 0, class A, class B,
          class Epilogue, class Index>
AOTC_DEVICE void aotc_matmul_tile(const A &a, const B &b, const Epilogue &epilogue,
                                  const aotc_tile_range<Index> &range) {
  typedef aotc_matmul_shape<BM, BN, BK, TM, TN> shape;
  AOTC_SHARED(float, stages, shape::shared_floats);
  const int m_place = static_cast<int>(threadIdx.x) / (BN / TN);
  const int n_place = static_cast<int>(threadIdx.x) % (BN / TN);
  float acc[TM][TN] = {};
  float registers[shape::a_loads + shape::b_loads];
  aotc_matmul_fetch<shape, BM, BN, BK, AByK, BByK>(a, b, range, range.k_begin, registers);
  aotc_syncthreads();  // an earlier call may still read the stages
  aotc_matmul_keep<shape, BM, BN, BK, AByK, BByK>(stages + 0, registers);
  aotc_syncthreads();
  int current = 0;
  for (Index k = range.k_begin; k < range.k_end; k += BK) {
    const bool more = k + BK < range.k_end;
    if (more) {
      aotc_matmul_fetch<shape, BM, BN, BK, AByK, BByK, A, B, Index>(a, b, range, k + BK, registers);
    }
    aotc_matmul_multiply<shape, BM, BN, BK, TM, TN>(stages + current * shape::stage, m_place,
                                                    n_place, acc);
    current = 1 - current;
    if (!more) break;
    aotc_matmul_keep<shape, BM, BN, BK, AByK, BByK>(stages + current * shape::stage, registers);
    aotc_syncthreads();
  }
  aotc_matmul_finish<shape, BM, BN, TM, TN>(epilogue, range, m_place, n_place, acc);
}

#endif  // AOTC_CUDA_MATMUL_TILE_CUH_
