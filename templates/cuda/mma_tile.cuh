// A tile of a contraction on tensor cores: f16 operands, f32 accumulators, by mma.sync m16n8k16,
// with two stages of asynchronous copies.
//
//   acc[m, n] = sum over k of A[m, k] * B[k, n];   epilogue(m, n, acc[m, n])
//
// Example, y = a·b with 64x64 tiles by 4 warps, rows of both operands multiples of 8 elements:
//
//   struct a_rows { const uint16_t *a; int64_t rows, depth;    // in an unnamed namespace
//     AOTC_MEMBER const uint16_t *at(int64_t m, int64_t k) const { return a + m * depth + k; }
//     AOTC_MEMBER int64_t count(int64_t m, int64_t k) const { return m < rows ? depth - k : 0; } };
//   ...
//   const aotc_tile_range<int64_t> range = {64 * tile_m, 64 * tile_n, rows, columns, 0, depth};
//   aotc_mma_tile<64, 64, 32, 32, 32, 8, 8, 1>(a, b, epilogue, range);
//
// Operands come in runs of `ARun` and `BRun` elements that lie together: 8, 4 or 2 are copied
//   asynchronously where their address is a multiple of the run's size, as all are but those of a
//   caller's tensor that begins anywhere; 1 is for operands without such runs.
//   A: runs along k; at(m, k) is the address of a run, count(m, k) how many of its elements exist
//     (any number: below 1 there is none, and `at` is not read; missing elements are zeros).
//   B with BAlongN = 1: runs along n, at(k, n), count(k, n). With 0: along k, at(n, k), count(n,
//   k).
// epilogue(m, n, acc): called once for each result within the range, in the order of the fragments:
//   a lane holds the results that aotc_mma_c_position tells. With statistics of the rows:
//   row_statistics.cuh, and a warp as wide as the tile.
// Threads: exactly 32 * (BM / WM) * (BN / WN), in one dimension; a warp computes WM x WN results.
// Every thread of the block must call it, with the same range.
#ifndef AOTC_CUDA_MMA_TILE_CUH_
#define AOTC_CUDA_MMA_TILE_CUH_

#include "aotc/cuda.h"
#include "row_statistics.cuh"
#include "tile_range.cuh"

// A Rows x Columns tile in shared memory. Rows are padded by 16 bytes: the eight rows that ldmatrix
// reads at a time then lie in different banks.
template <int Rows, int Columns, int KIsRow>
struct aotc_mma_stage {
  enum { rows = Rows, columns = Columns, stride = Columns + 8, size = Rows * (Columns + 8) };
  enum { k_is_row = KIsRow };
};

// Sizes that follow from the template's.
template <int BM, int BN, int BK, int WM, int WN, int BAlongN>
struct aotc_mma_shape {
  typedef aotc_mma_stage<BM, BK, 0> a_tile;
  typedef aotc_mma_stage<(BAlongN ? BK : BN), (BAlongN ? BN : BK), BAlongN> b_tile;
  enum {
    threads = 32 * (BM / WM) * (BN / WN),
    stage = static_cast<int>(a_tile::size) + static_cast<int>(b_tile::size),  // elements
    m_tiles = WM / 16,
    n_tiles = WN / 8,
  };
  static_assert(BM % WM == 0 && BN % WN == 0, "warps cover the tile");
  static_assert(WM % 16 == 0 && WN % 8 == 0 && BK % 16 == 0, "mma tiles cover a warp's tile");
  static_assert(threads <= 1024 && 4 * stage <= 48 * 1024, "the limits of a block");
};

// Begins to copy one run to shared memory, at most `limit` elements of it.
template <int Run, class Operand, class Index>
AOTC_DEVICE void aotc_mma_copy_run(AOTC_SHARED_POINTER(uint16_t) destination,
                                   const Operand &operand, Index row, Index column, Index limit) {
  const Index exist = limit > 0 ? operand.count(row, column) : 0;
  const Index wanted = limit < Run ? limit : Run;
  const int count = static_cast<int>(exist <= 0 ? 0 : (exist < wanted ? exist : wanted));
  const void *source = operand.at(count > 0 ? row : 0, count > 0 ? column : 0);
  if (Run > 1 && reinterpret_cast<uintptr_t>(source) % (2 * Run) == 0) {
    if (Run == 8) aotc_cp_async_16(destination, source, 2 * count);
    if (Run == 4) aotc_cp_async_8(destination, source, 2 * count);
    if (Run == 2) aotc_cp_async_4(destination, source, 2 * count);
    return;
  }
  AOTC_UNROLL(8)
  for (int i = 0; i < Run; ++i) {
    destination[i] = i < count ? static_cast<const aotc_f16 *>(source)[i].bits : uint16_t{0};
  }
}

// Begins to copy a tile of an operand, whose runs lie along columns. Elements whose k, the row or
// the column, is `k_end` or more become zeros.
template <class Tile, int Threads, int Run, class Operand, class Index>
AOTC_DEVICE void aotc_mma_copy_tile(AOTC_SHARED_POINTER(uint16_t) stage, const Operand &operand,
                                    Index row, Index column, Index k_end) {
  enum { row_runs = Tile::columns / Run, runs = Tile::rows * row_runs };
  for (int i = static_cast<int>(threadIdx.x); i < runs; i += Threads) {
    const int r = i / row_runs, c = i % row_runs * Run;
    const Index limit = !Tile::k_is_row ? k_end - column - c : (row + r < k_end ? Run : 0);
    aotc_mma_copy_run<Run, Operand, Index>(stage + (r * Tile::stride + c), operand, row + r,
                                           column + c, limit);
  }
}

// Begins to copy both operands of the step at `k`, as one group.
template <class Shape, int ARun, int BRun, class A, class B, class Index>
AOTC_DEVICE void aotc_mma_copy_step(AOTC_SHARED_POINTER(uint16_t) stage, const A &a, const B &b,
                                    const aotc_tile_range<Index> &range, Index k) {
  typedef typename Shape::a_tile a_tile;
  typedef typename Shape::b_tile b_tile;
  aotc_mma_copy_tile<a_tile, Shape::threads, ARun>(stage, a, range.m_begin, k, range.k_end);
  const Index row = b_tile::k_is_row ? k : range.n_begin;
  const Index column = b_tile::k_is_row ? range.n_begin : k;
  aotc_mma_copy_tile<b_tile, Shape::threads, BRun>(stage + Shape::a_tile::size, b, row, column,
                                                   range.k_end);
  aotc_cp_async_commit();
}

// acc += the product of the stage's tiles, for the results of one warp at (m, n) of the tile.
template <class Shape, int BK>
AOTC_DEVICE void aotc_mma_multiply(AOTC_SHARED_POINTER(const uint16_t) stage, int m, int n,
                                   float (&acc)[Shape::m_tiles][Shape::n_tiles][4]) {
  const int lane = static_cast<int>(aotc_lane());
  AOTC_SHARED_POINTER(const uint16_t) b_stage = stage + Shape::a_tile::size;
  AOTC_UNROLL(4)
  for (int k = 0; k < BK; k += 16) {
    uint32_t a[Shape::m_tiles][4];
    AOTC_UNROLL(8)
    for (int i = 0; i < Shape::m_tiles; ++i) {
      const int row = m + 16 * i + lane % 16, column = k + lane / 16 * 8;
      aotc_ldmatrix<4, false>(a[i], stage + (row * Shape::a_tile::stride + column));
    }
    AOTC_UNROLL(16)
    for (int j = 0; j < Shape::n_tiles; ++j) {
      uint32_t b[2];
      if (Shape::b_tile::k_is_row) {
        const int row = k + lane % 16, column = n + 8 * j;
        aotc_ldmatrix<2, true>(b, b_stage + (row * Shape::b_tile::stride + column));
      } else {
        const int row = n + 8 * j + lane % 8, column = k + lane / 8 % 2 * 8;
        aotc_ldmatrix<2, false>(b, b_stage + (row * Shape::b_tile::stride + column));
      }
      AOTC_UNROLL(8)
      for (int i = 0; i < Shape::m_tiles; ++i) {
        aotc_mma_m16n8k16_f16_f32(acc[i][j], a[i], b, acc[i][j]);
      }
    }
  }
}

// Hands a warp's results to the epilogue, row by row: four neighbouring lanes share one.
template <class Shape, class Epilogue, class Index>
AOTC_DEVICE void aotc_mma_finish(const Epilogue &epilogue, const aotc_tile_range<Index> &range,
                                 Index m, Index n,
                                 const float (&acc)[Shape::m_tiles][Shape::n_tiles][4]) {
  const int lane = static_cast<int>(aotc_lane());
  AOTC_UNROLL(16)
  for (int i = 0; i < 2 * Shape::m_tiles; ++i) {
    const int first = i % 2 * 2;  // of the elements that lie in this row
    const Index row = m + i / 2 * 16 + aotc_mma_c_position(lane, first).row;
    aotc_row_state<Epilogue> state(epilogue);
    AOTC_UNROLL(16)
    for (int j = 0; j < 2 * Shape::n_tiles; ++j) {
      const int element = first + j % 2;
      const Index column = n + j / 2 * 8 + aotc_mma_c_position(lane, element).column;
      if (row < range.m_end && column < range.n_end) {
        state.take(epilogue, row, column, acc[i / 2][j / 2][element]);
      }
    }
    state.template combine<4>(epilogue);
    if (lane % 4 == 0 && row < range.m_end) state.finish(epilogue, row);
  }
}

// While one stage is multiplied the next is on its way; one barrier a step.
template <int BM, int BN, int BK, int WM, int WN, int ARun, int BRun, int BAlongN, class A, class B,
          class Epilogue, class Index>
AOTC_DEVICE void aotc_mma_tile(const A &a, const B &b, const Epilogue &epilogue,
                               const aotc_tile_range<Index> &range) {
  static_assert(BN == WN || aotc_statistics_of<Epilogue>::count == 0, "a row lies in one warp");
  static_assert(ARun == 8 || ARun == 4 || ARun == 2 || ARun == 1, "elements that a copy moves");
  static_assert(BRun == 8 || BRun == 4 || BRun == 2 || BRun == 1, "elements that a copy moves");
  typedef aotc_mma_shape<BM, BN, BK, WM, WN, BAlongN> shape;
  AOTC_SHARED(uint16_t, stages, 2 * shape::stage);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int m = warp / (BN / WN) * WM, n = warp % (BN / WN) * WN;
  float acc[shape::m_tiles][shape::n_tiles][4] = {};
  aotc_syncthreads();  // an earlier call may still read the stages
  aotc_mma_copy_step<shape, ARun, BRun>(stages + 0, a, b, range, range.k_begin);
  int current = 0;
  for (Index k = range.k_begin; k < range.k_end; k += BK) {
    aotc_cp_async_wait_group<0>();
    aotc_syncthreads();
    const int next = 1 - current;
    if (k + BK < range.k_end) {
      aotc_mma_copy_step<shape, ARun, BRun, A, B, Index>(stages + next * shape::stage, a, b, range,
                                                         k + BK);
    }
    aotc_mma_multiply<shape, BK>(stages + current * shape::stage, m, n, acc);
    current = next;
  }
  aotc_cp_async_wait_all();  // of an empty range
  aotc_mma_finish<shape, Epilogue, Index>(epilogue, range, range.m_begin + m, range.n_begin + n,
                                          acc);
}

#endif  // AOTC_CUDA_MMA_TILE_CUH_
