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

#include "mma_parts.cuh"

// By mma.sync m16n8k16.
struct aotc_mma_f16 {
  typedef uint16_t element;
  typedef float sum;
  enum { depth = 16, transposes = 1 };
  AOTC_MEMBER static element read(const void *source, int i) {
    return static_cast<const aotc_f16 *>(source)[i].bits;
  }
  AOTC_MEMBER static void multiply(float d[4], const uint32_t a[4], const uint32_t b[2]) {
    aotc_mma_m16n8k16_f16_f32(d, a, b, d);
  }
};

template <int BM, int BN, int BK, int WM, int WN, int ARun, int BRun, int BAlongN, class A, class B,
          class Epilogue, class Index>
AOTC_DEVICE void aotc_mma_tile(const A &a, const B &b, const Epilogue &epilogue,
                               const aotc_tile_range<Index> &range) {
  static_assert(ARun == 8 || ARun == 4 || ARun == 2 || ARun == 1, "elements that a copy moves");
  static_assert(BRun == 8 || BRun == 4 || BRun == 2 || BRun == 1, "elements that a copy moves");
  aotc_mma_contract<aotc_mma_f16, BM, BN, BK, WM, WN, ARun, BRun, BAlongN>(a, b, epilogue, range);
}

#endif  // AOTC_CUDA_MMA_TILE_CUH_
