// Kernels around each tile function of templates/cuda, as emitted code calls them. Compiled by nvcc
// as it lies here, and run emulated by tile_test.cc, which includes it.
#include <string.h>

#include "templates/cuda/block_reduce.cuh"
#include "templates/cuda/depthwise_tile.cuh"
#include "templates/cuda/matmul_tile.cuh"
#include "templates/cuda/mma_tile.cuh"
#include "templates/cuda/pack.cuh"
#include "templates/cuda/transpose_tile.cuh"

namespace {

struct tile_sizes {
  int64_t m, n, k;
};

// A [m, k] and B [k, n], row-major.
struct tile_a {
  const float* data;
  tile_sizes sizes;
  AOTC_MEMBER float operator()(int64_t m, int64_t k) const {
    return m < sizes.m && k < sizes.k ? data[m * sizes.k + k] : 0.0f;
  }
};
struct tile_b {
  const float* data;
  tile_sizes sizes;
  AOTC_MEMBER float operator()(int64_t k, int64_t n) const {
    return k < sizes.k && n < sizes.n ? data[k * sizes.n + n] : 0.0f;
  }
};

// y = relu(acc + bias[n] + residual[m, n]); every element is counted.
struct tile_epilogue {
  const float *bias, *residual;
  float* y;
  int64_t n;
  AOTC_MEMBER void operator()(int64_t row, int64_t column, float acc) const {
    y[row * n + column] += fmaxf(acc + bias[column] + residual[row * n + column], 0.0f);
  }
};

// The same operands in f16, in runs: `columns` elements to a row, `rows` rows, `stride` apart.
struct tile_runs {
  const uint16_t* data;
  int64_t rows, columns, stride;
  AOTC_MEMBER const uint16_t* at(int64_t row, int64_t column) const {
    return data + row * stride + column;
  }
  AOTC_MEMBER int64_t count(int64_t row, int64_t column) const {
    return row < rows ? columns - column : 0;
  }
};

struct tile_moments {
  struct state {
    float sum, max;
    int32_t where;  // of the largest, the first of equals
  };
  AOTC_MEMBER state identity() const { return {0.0f, -INFINITY, 0x7FFFFFFF}; }
  AOTC_MEMBER state combine(const state& a, const state& b) const {
    const bool first = a.max > b.max || (a.max == b.max && a.where < b.where);
    return {a.sum + b.sum, first ? a.max : b.max, first ? a.where : b.where};
  }
};

struct tile_matrix_load {
  const uint16_t* x;
  int64_t columns;
  AOTC_MEMBER uint16_t operator()(int64_t r, int64_t c) const { return x[r * columns + c]; }
};
struct tile_matrix_store {
  uint16_t* y;
  int64_t rows;
  AOTC_MEMBER void operator()(int64_t r, int64_t c, uint16_t value) const {
    y[c * rows + r] = static_cast<uint16_t>(y[c * rows + r] + value);
  }
};

// One row of a channel: image [height, width], `pad` on all sides. Columns behind the padding are
// none that an output needs: `beyond` takes down that one was asked for.
struct tile_depthwise_input {
  const float* x;
  int64_t height, width, first_row, pad;
  int32_t* beyond;
  AOTC_MEMBER float operator()(int kh, int64_t column) const {
    const int64_t row = first_row + 2 * kh - pad;
    if (beyond != nullptr && column >= width + 2 * pad) *beyond = 1;
    column -= pad;
    const bool inside = row >= 0 && row < height && column >= 0 && column < width;
    return inside ? x[row * width + column] : 0.0f;
  }
};
struct tile_depthwise_filter {
  const float* taps;
  AOTC_MEMBER float operator()(int kh, int kw) const { return taps[kh * 3 + kw]; }
};
struct tile_row_epilogue {
  float* y;
  AOTC_MEMBER void operator()(int64_t w, float acc) const { y[w] += acc; }
};

}  // namespace

template <int BM, int BN, int BK, int TM, int TN, int AByK, int BByK>
static __global__ void tile_matmul(tile_a a, tile_b b, tile_epilogue epilogue, int64_t steps) {
  const tile_sizes sizes = a.sizes;
  const int64_t columns = (sizes.n + BN - 1) / BN, tiles = (sizes.m + BM - 1) / BM * columns;
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const aotc_tile_range<int64_t> range = {
        tile / columns * BM, tile % columns * BN, sizes.m, sizes.n, 0, steps};
    aotc_matmul_tile<BM, BN, BK, TM, TN, AByK, BByK>(a, b, epilogue, range);
  }
}

template <int BM, int BN, int BK, int WM, int WN, int ARun, int BRun, int BAlongN>
static __global__ void tile_mma(tile_runs a, tile_runs b, tile_epilogue epilogue, int64_t steps) {
  const int64_t columns = (epilogue.n + BN - 1) / BN, tiles = (a.rows + BM - 1) / BM * columns;
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const aotc_tile_range<int64_t> range = {
        tile / columns * BM, tile % columns * BN, a.rows, epilogue.n, 0, steps};
    aotc_mma_tile<BM, BN, BK, WM, WN, ARun, BRun, BAlongN>(a, b, epilogue, range);
  }
}

// y = 2 x from `from` on to `to` on, a pack to a thread.
template <int Count, class T>
static __global__ void tile_packs(const T* from, T* to, int packs) {
  const int first = static_cast<int>(threadIdx.x) * Count;
  if (first >= packs * Count) return;
  T pack[Count] = {};
  aotc_load_pack<Count>(pack, from + first);
  for (int i = 0; i < Count; ++i) pack[i] = static_cast<T>(2 * pack[i]);
  aotc_store_pack<Count>(to + first, pack);
}

template <int Threads>
static __global__ void tile_reduce(const float* x, tile_moments::state* y, int columns) {
  const tile_moments moments = {};
  for (int row = 2 * static_cast<int>(blockIdx.x); row < 2 * static_cast<int>(blockIdx.x) + 2;
       ++row) {
    tile_moments::state mine = moments.identity();
    for (int i = static_cast<int>(threadIdx.x); i < columns; i += Threads) {
      const float value = x[row * columns + i];
      mine = moments.combine(mine, {value, value, i});
    }
    const tile_moments::state all = aotc_block_reduce<Threads>(mine, moments);
    if (static_cast<int>(threadIdx.x) == row % Threads) y[row] = all;
  }
}

template <int Rows>
static __global__ void tile_transpose(tile_matrix_load load, tile_matrix_store store) {
  const int64_t columns = (load.columns + 31) / 32, tiles = (store.rows + 31) / 32 * columns;
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const aotc_transpose_range<int64_t> range = {tile / columns * 32, tile % columns * 32,
                                                 store.rows, load.columns};
    aotc_transpose_tile<Rows>(load, store, range);
  }
}

// A 3x3 filter with vertical dilation 2, over an image of `height` rows: one block a row of
// outputs.
template <int StrideW, int DilationW, int Outputs>
static __global__ void tile_depthwise(tile_depthwise_input input, tile_depthwise_filter filter,
                                      float* y, int64_t width) {
  input.first_row = blockIdx.x;
  const tile_row_epilogue epilogue = {y + blockIdx.x * width};
  for (int64_t w = threadIdx.x * Outputs; w < width; w += blockDim.x * Outputs) {
    aotc_depthwise_tile<3, 3, StrideW, DilationW, Outputs>(input, filter, epilogue, w, width);
  }
}

// Instantiations, so that nvcc compiles them all.
struct tile_arguments {
  const float *x, *bias, *residual, *b;
  const uint16_t *half_a, *half_b;
  float* y;
  int64_t m, n, k;
};

extern "C" __attribute__((visibility("hidden"))) int32_t sample_tiles(const tile_arguments* from) {
  const tile_sizes sizes = {from->m, from->n, from->k};
  const tile_a a = {from->x, sizes};
  const tile_b b = {from->b, sizes};
  const tile_epilogue epilogue = {from->bias, from->residual, from->y, sizes.n};
  const tile_runs half_a = {from->half_a, sizes.m, sizes.k, sizes.k};
  const tile_runs half_b = {from->half_b, sizes.k, sizes.n, sizes.n};
  const aotc_launch_config wide = {{1, 1, 1}, {256, 1, 1}, 0, nullptr, "tile_matmul"};
  const aotc_launch_config warps = {{1, 1, 1}, {128, 1, 1}, 0, nullptr, "tile_mma"};
  int32_t status = aotc_cuda_status(
      aotc_launch(wide, tile_matmul<64, 64, 16, 4, 4, 1, 0>, a, b, epilogue, sizes.k));
  status |= aotc_cuda_status(
      aotc_launch(wide, tile_matmul<128, 128, 8, 8, 8, 1, 0>, a, b, epilogue, sizes.k));
  status |= aotc_cuda_status(
      aotc_launch(warps, tile_mma<64, 64, 32, 32, 32, 8, 8, 1>, half_a, half_b, epilogue, sizes.k));
  status |= aotc_cuda_status(
      aotc_launch(warps, tile_mma<64, 64, 32, 32, 32, 8, 1, 0>, half_a, half_b, epilogue, sizes.k));
  tile_moments::state* const moments = reinterpret_cast<tile_moments::state*>(from->y);
  status |= aotc_cuda_status(aotc_launch(wide, tile_reduce<256>, from->x, moments, 100));
  const tile_matrix_load load = {from->half_a, sizes.k};
  const tile_matrix_store store = {reinterpret_cast<uint16_t*>(from->y), sizes.m};
  status |= aotc_cuda_status(aotc_launch(wide, tile_transpose<8>, load, store));
  status |= aotc_cuda_status(aotc_launch(wide, tile_packs<4, float>, from->x, from->y, 16));
  const tile_depthwise_input input = {from->x, sizes.m, sizes.n, 0, 1, nullptr};
  const tile_depthwise_filter filter = {from->b};
  return status | aotc_cuda_status(
                      aotc_launch(wide, tile_depthwise<1, 1, 4>, input, filter, from->y, sizes.n));
}
