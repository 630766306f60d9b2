// What tiles of contractions on tensor cores share: two stages of asynchronous copies in shared
// memory, fragments by ldmatrix, and the order in which results are handed out. A `Unit` says what
// one instruction multiplies:
//
//   struct aotc_mma_f16 {
//     typedef uint16_t element;                // in shared memory
//     typedef float sum;
//     enum { depth = 16 };                     // of k: 32 bytes
//     enum { transposes = 1 };                 // B may lie along n in shared memory
//     static element read(const void *source, int i);
//     static void multiply(sum d[4], const uint32_t a[4], const uint32_t b[2]);   // d += a * b
//   };
#ifndef AOTC_CUDA_MMA_PARTS_CUH_
#define AOTC_CUDA_MMA_PARTS_CUH_

#include "aotc/cuda.h"
#include "row_statistics.cuh"
#include "tile_range.cuh"

// What elements that do not exist become: `Operand::fill` where it has one, else 0.
template <class Operand, class = void>
struct aotc_fill_of {
  enum { value = 0 };
};
template <class Operand>
struct aotc_fill_of<Operand, decltype(static_cast<void>(Operand::fill))> {
  enum { value = Operand::fill };
};

// A Rows x Columns tile in shared memory. Rows are padded by 16 bytes: the eight rows that ldmatrix
// reads at a time then lie in different banks.
template <class Unit, int Rows, int Columns, int KIsRow>
struct aotc_mma_stage {
  typedef Unit unit;
  enum { pack = 16 / static_cast<int>(sizeof(typename Unit::element)) };  // elements
  enum { rows = Rows, columns = Columns, stride = Columns + pack, size = Rows * stride };
  enum { k_is_row = KIsRow };
};

// Sizes that follow from the template's.
template <class Unit, int BM, int BN, int BK, int WM, int WN, int BAlongN>
struct aotc_mma_shape {
  typedef Unit unit;
  enum { b_k_is_row = BAlongN && Unit::transposes };
  typedef aotc_mma_stage<Unit, BM, BK, 0> a_tile;
  typedef aotc_mma_stage<Unit, (b_k_is_row ? BK : BN), (b_k_is_row ? BN : BK), b_k_is_row> b_tile;
  enum {
    b_along_n = BAlongN,
    threads = 32 * (BM / WM) * (BN / WN),
    stage = static_cast<int>(a_tile::size) + static_cast<int>(b_tile::size),  // elements
    m_tiles = WM / 16,
    n_tiles = WN / 8,
  };
  static_assert(BM % WM == 0 && BN % WN == 0, "warps cover the tile");
  static_assert(WM % 16 == 0 && WN % 8 == 0 && BK % Unit::depth == 0,
                "mma tiles cover a warp's tile");
  static_assert(threads <= 1024, "the limits of a block");
  static_assert(2 * stage * sizeof(typename Unit::element) <= 48 * 1024, "the limits of a block");
};

// Begins to copy one run to shared memory, at most `limit` elements of it, which lie `Step` apart
// there: together, unless they are turned.
template <class Unit, int Run, int Step, class Operand, class Index>
AOTC_DEVICE void aotc_mma_copy_run(AOTC_SHARED_POINTER(typename Unit::element) destination,
                                   const Operand &operand, Index row, Index column, Index limit) {
  typedef typename Unit::element element;
  enum { fill = aotc_fill_of<Operand>::value, bytes = Run * static_cast<int>(sizeof(element)) };
  static_assert(Run == 1 || fill == 0, "copies of several elements fill with zeros");
  const Index exist = limit > 0 ? operand.count(row, column) : 0;
  const Index wanted = limit < Run ? limit : Run;
  const int count = static_cast<int>(exist <= 0 ? 0 : (exist < wanted ? exist : wanted));
  const void *source = operand.at(count > 0 ? row : 0, count > 0 ? column : 0);
  if (Run > 1 && Step == 1 && reinterpret_cast<uintptr_t>(source) % bytes == 0) {
    const int copied = count * static_cast<int>(sizeof(element));
    if (bytes == 16) aotc_cp_async_16(destination, source, copied);
    if (bytes == 8) aotc_cp_async_8(destination, source, copied);
    if (bytes == 4) aotc_cp_async_4(destination, source, copied);
    return;
  }
  AOTC_UNROLL(16)
  for (int i = 0; i < Run; ++i) {
    destination[i * Step] = i < count ? Unit::read(source, i) : static_cast<element>(fill);
  }
}

// Begins to copy a tile of an operand, whose runs lie along columns. Elements whose k, the row or
// the column, is `k_end` or more do not exist.
template <class Tile, int Threads, int Run, class Operand, class Index>
AOTC_DEVICE void aotc_mma_copy_tile(AOTC_SHARED_POINTER(typename Tile::unit::element) stage,
                                    const Operand &operand, Index row, Index column, Index k_end) {
  enum { row_runs = Tile::columns / Run, runs = Tile::rows * row_runs };
  for (int i = static_cast<int>(threadIdx.x); i < runs; i += Threads) {
    const int r = i / row_runs, c = i % row_runs * Run;
    const Index limit = !Tile::k_is_row ? k_end - column - c : (row + r < k_end ? Run : 0);
    aotc_mma_copy_run<typename Tile::unit, Run, 1, Operand, Index>(
        stage + (r * Tile::stride + c), operand, row + r, column + c, limit);
  }
}

// The same where the runs lie along the tile's rows: its columns are k, the rows of the operand.
template <class Tile, int Threads, int Run, class Operand, class Index>
AOTC_DEVICE void aotc_mma_turn_tile(AOTC_SHARED_POINTER(typename Tile::unit::element) stage,
                                    const Operand &operand, Index row, Index k, Index k_end) {
  enum { column_runs = Tile::rows / Run, runs = Tile::columns * column_runs };
  for (int i = static_cast<int>(threadIdx.x); i < runs; i += Threads) {
    const int c = i / column_runs, r = i % column_runs * Run;
    aotc_mma_copy_run<typename Tile::unit, Run, Tile::stride, Operand, Index>(
        stage + (r * Tile::stride + c), operand, k + c, row + r, k + c < k_end ? Run : 0);
  }
}

// Begins to copy both operands of the step at `k`, as one group.
template <class Shape, int ARun, int BRun, class A, class B, class Index>
AOTC_DEVICE void aotc_mma_copy_step(AOTC_SHARED_POINTER(typename Shape::unit::element) stage,
                                    const A &a, const B &b, const aotc_tile_range<Index> &range,
                                    Index k) {
  typedef typename Shape::a_tile a_tile;
  typedef typename Shape::b_tile b_tile;
  aotc_mma_copy_tile<a_tile, Shape::threads, ARun>(stage, a, range.m_begin, k, range.k_end);
  AOTC_SHARED_POINTER(typename Shape::unit::element) b_stage = stage + Shape::a_tile::size;
  if constexpr (Shape::b_along_n && !b_tile::k_is_row) {
    aotc_mma_turn_tile<b_tile, Shape::threads, BRun>(b_stage, b, range.n_begin, k, range.k_end);
  } else {
    const Index row = b_tile::k_is_row ? k : range.n_begin;
    const Index column = b_tile::k_is_row ? range.n_begin : k;
    aotc_mma_copy_tile<b_tile, Shape::threads, BRun>(b_stage, b, row, column, range.k_end);
  }
  aotc_cp_async_commit();
}

// acc += the product of the stage's tiles, for the results of one warp at (m, n) of the tile.
template <class Shape, int BK>
AOTC_DEVICE void aotc_mma_multiply(
    AOTC_SHARED_POINTER(const typename Shape::unit::element) stage, int m, int n,
    typename Shape::unit::sum (&acc)[Shape::m_tiles][Shape::n_tiles][4]) {
  typedef typename Shape::unit unit;
  enum { pack = Shape::a_tile::pack };
  const int lane = static_cast<int>(aotc_lane());
  AOTC_SHARED_POINTER(const typename unit::element) b_stage = stage + Shape::a_tile::size;
  AOTC_UNROLL(4)
  for (int k = 0; k < BK; k += unit::depth) {
    uint32_t a[Shape::m_tiles][4];
    AOTC_UNROLL(8)
    for (int i = 0; i < Shape::m_tiles; ++i) {
      const int row = m + 16 * i + lane % 16, column = k + lane / 16 * pack;
      aotc_ldmatrix<4, false>(a[i], stage + (row * Shape::a_tile::stride + column));
    }
    AOTC_UNROLL(16)
    for (int j = 0; j < Shape::n_tiles; ++j) {
      uint32_t b[2];
      if (Shape::b_tile::k_is_row) {
        const int row = k + lane % 16, column = n + 8 * j;
        aotc_ldmatrix<2, true>(b, b_stage + (row * Shape::b_tile::stride + column));
      } else {
        const int row = n + 8 * j + lane % 8, column = k + lane / 8 % 2 * pack;
        aotc_ldmatrix<2, false>(b, b_stage + (row * Shape::b_tile::stride + column));
      }
      AOTC_UNROLL(8)
      for (int i = 0; i < Shape::m_tiles; ++i) {
        unit::multiply(acc[i][j], a[i], b);
      }
    }
  }
}

// Hands a warp's results to the epilogue, row by row: four neighbouring lanes share one.
template <class Shape, class Epilogue, class Index>
AOTC_DEVICE void aotc_mma_finish(
    const Epilogue &epilogue, const aotc_tile_range<Index> &range, Index m, Index n,
    const typename Shape::unit::sum (&acc)[Shape::m_tiles][Shape::n_tiles][4]) {
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

// The tile as mma_tile.cuh describes it. While one stage is multiplied the next is on its way; one
// barrier a step.
template <class Unit, int BM, int BN, int BK, int WM, int WN, int ARun, int BRun, int BAlongN,
          class A, class B, class Epilogue, class Index>
AOTC_DEVICE void aotc_mma_contract(const A &a, const B &b, const Epilogue &epilogue,
                                   const aotc_tile_range<Index> &range) {
  static_assert(BN == WN || aotc_statistics_of<Epilogue>::count == 0, "a row lies in one warp");
  typedef aotc_mma_shape<Unit, BM, BN, BK, WM, WN, BAlongN> shape;
  AOTC_SHARED(typename Unit::element, stages, 2 * shape::stage);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int m = warp / (BN / WN) * WM, n = warp % (BN / WN) * WN;
  typename Unit::sum acc[shape::m_tiles][shape::n_tiles][4] = {};
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

#endif  // AOTC_CUDA_MMA_PARTS_CUH_
