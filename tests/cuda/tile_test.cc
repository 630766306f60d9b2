// The tile functions of templates/cuda, emulated, against brute force over sizes around a tile's.
#if !defined(__CUDACC__)
#define AOTC_CUDA_EMULATE 1
#endif
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/cuda/faults.h"
#include "tests/cuda/tiles.cu"

namespace {

// Small multiples of 1/4 around 0: products and sums of up to a few hundred are exact in f32.
Vector<float> Numbers(int64_t count, int seed) {
  Vector<float> numbers(static_cast<size_t>(count));
  uint32_t state = static_cast<uint32_t>(seed) * 2654435761u + 1;
  for (float& number : numbers) {
    state = state * 1664525u + 1013904223u;
    number = static_cast<float>(static_cast<int>(state >> 24) % 17 - 8) / 4;
  }
  return numbers;
}

// Fewer blocks than tiles: a block computes several, one after another.
uint32_t Half(int64_t tiles) { return static_cast<uint32_t>((tiles + 1) / 2); }

struct Problem {
  tile_sizes sizes;
  Vector<float> a, b, bias, residual, want;

  explicit Problem(tile_sizes s)
      : sizes(s),
        a(Numbers(s.m * s.k, 1)),
        b(Numbers(s.k * s.n, 2)),
        bias(Numbers(s.n, 3)),
        residual(Numbers(s.m * s.n, 4)),
        want(static_cast<size_t>(s.m * s.n)) {
    for (int64_t m = 0; m < s.m; ++m) {
      for (int64_t n = 0; n < s.n; ++n) {
        float sum = 0;
        for (int64_t k = 0; k < s.k; ++k) sum += a[m * s.k + k] * b[k * s.n + n];
        want[m * s.n + n] = std::fmax(sum + bias[n] + residual[m * s.n + n], 0.0f);
      }
    }
  }
  tile_epilogue Epilogue(Vector<float>* y) const {
    return {bias.data(), residual.data(), y->data(), sizes.n};
  }
};

Vector<tile_sizes> SizesAround(int64_t m, int64_t n, int64_t k) {
  return {{1, 1, 1},         {m, n, k},         {m + 1, n + 1, k + 1}, {m - 1, n - 1, k - 1},
          {7, 2 * n + 3, 2}, {2 * m, 5, 3 * k}, {13, 11, 5 * k + 7},   {m + 3, n, 2 * k - 1}};
}

template <int BM, int BN, int BK, int TM, int TN, int AByK, int BByK>
void CheckMatmul() {
  for (const tile_sizes sizes : SizesAround(BM, BN, BK)) {
    const Problem problem(sizes);
    Vector<float> y(problem.want.size(), 0.0f);
    const int64_t blocks = (sizes.m + BM - 1) / BM * ((sizes.n + BN - 1) / BN);
    const uint32_t threads = aotc_matmul_shape<BM, BN, BK, TM, TN>::threads;
    ASSERT_EQ(
        LaunchAndWait(Line(Half(blocks), threads, "matmul"),
                      tile_matmul<BM, BN, BK, TM, TN, AByK, BByK>, tile_a{problem.a.data(), sizes},
                      tile_b{problem.b.data(), sizes}, problem.Epilogue(&y), sizes.k),
        cudaSuccess)
        << last_fault;
    ASSERT_EQ(y, problem.want) << sizes.m << " x " << sizes.n << " x " << sizes.k;
  }
}

TEST(MatmulTile, AgreesWithBruteForce) {
  CheckMatmul<64, 64, 16, 4, 4, 1, 0>();
  CheckMatmul<32, 32, 8, 2, 2, 0, 1>();
  CheckMatmul<16, 64, 16, 1, 8, 1, 0>();
}

TEST(MatmulTile, AgreesWithBruteForceForLargeTiles) {
  CheckMatmul<128, 128, 8, 8, 8, 1, 0>();
  CheckMatmul<128, 32, 16, 8, 4, 1, 1>();
}

// Exact for what Numbers gives.
uint16_t HalfOf(float number) {
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  if (number == 0) return 0;
  return static_cast<uint16_t>((bits >> 16 & 0x8000u) |
                               (((bits & 0x7FFFFFFFu) - 0x38000000u) >> 13));
}

Vector<uint16_t> Halves(const Vector<float>& from, int64_t columns, int64_t stride) {
  const int64_t rows = static_cast<int64_t>(from.size()) / columns;
  Vector<uint16_t> halves(static_cast<size_t>(rows * stride), 0x7E00);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      halves[r * stride + c] = HalfOf(from[r * columns + c]);
    }
  }
  return halves;
}

// Operands begin `shift` elements behind an aligned address.
template <int BM, int BN, int BK, int WM, int WN, int ARun, int BRun, int BAlongN>
void CheckMma(size_t shift = 0) {
  for (const tile_sizes sizes : SizesAround(BM, BN, BK)) {
    const Problem problem(sizes);
    Vector<float> y(problem.want.size(), 0.0f);
    Vector<float> b = problem.b;
    int64_t b_rows = sizes.k, b_columns = sizes.n;
    if (!BAlongN) {
      std::swap(b_rows, b_columns);
      for (int64_t n = 0; n < sizes.n; ++n) {
        for (int64_t k = 0; k < sizes.k; ++k) b[n * sizes.k + k] = problem.b[k * sizes.n + n];
      }
    }
    // Rows begin at multiples of a run; what pads them is NaN.
    const int64_t a_stride = (sizes.k + ARun - 1) / ARun * ARun;
    const int64_t b_stride = (b_columns + BRun - 1) / BRun * BRun;
    Vector<uint16_t> half_a = Halves(problem.a, sizes.k, a_stride);
    Vector<uint16_t> half_b = Halves(b, b_columns, b_stride);
    half_a.insert(half_a.begin(), shift, 0x7E00);
    half_b.insert(half_b.begin(), shift, 0x7E00);
    const int64_t blocks = (sizes.m + BM - 1) / BM * ((sizes.n + BN - 1) / BN);
    const uint32_t threads = aotc_mma_shape<aotc_mma_f16, BM, BN, BK, WM, WN, BAlongN>::threads;
    ASSERT_EQ(LaunchAndWait(Line(Half(blocks), threads, "mma"),
                            tile_mma<BM, BN, BK, WM, WN, ARun, BRun, BAlongN>,
                            tile_runs{half_a.data() + shift, sizes.m, sizes.k, a_stride},
                            tile_runs{half_b.data() + shift, b_rows, b_columns, b_stride},
                            problem.Epilogue(&y), sizes.k),
              cudaSuccess)
        << last_fault;
    ASSERT_EQ(y, problem.want) << sizes.m << " x " << sizes.n << " x " << sizes.k;
  }
}

TEST(MmaTile, AgreesWithBruteForce) {
  CheckMma<64, 64, 32, 32, 32, 8, 8, 1>();
  CheckMma<64, 64, 32, 32, 32, 8, 8, 0>();
  CheckMma<64, 64, 32, 32, 32, 8, 1, 1>();
  CheckMma<64, 64, 32, 32, 32, 8, 8, 1>(3);
}

TEST(MmaTile, AgreesWithBruteForceForShortRuns) {
  CheckMma<32, 64, 16, 16, 32, 4, 4, 1>();
  CheckMma<32, 16, 32, 16, 8, 2, 8, 0>();
  CheckMma<16, 32, 16, 16, 16, 1, 2, 1>();
}

TEST(MmaTile, OfAnEmptyReductionIsTheEpilogueOfZero) {
  const Problem problem({5, 7, 3});
  Vector<float> y(35, 0.0f);
  const Vector<uint16_t> halves(64, 0x7E00);
  const tile_runs runs = {halves.data(), 5, 3, 8};
  ASSERT_EQ(LaunchAndWait(Line(1, 128, "mma"), tile_mma<64, 64, 32, 32, 32, 8, 8, 1>, runs, runs,
                          problem.Epilogue(&y), 0),
            cudaSuccess)
      << last_fault;
  for (size_t i = 0; i < y.size(); ++i) {
    EXPECT_EQ(y[i], std::fmax(problem.bias[i % 7] + problem.residual[i], 0.0f));
  }
}

// At every distance from an aligned address.
template <int Count, class T>
void CheckPacks() {
  Vector<T> x(Count * 12 + 16), y(x.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(i % 100);
  for (size_t shift = 0; shift < 2 * Count; ++shift) {
    std::fill(y.begin(), y.end(), static_cast<T>(1));
    T* const to = y.data() + 2 * Count - shift;
    ASSERT_EQ(LaunchAndWait(Line(1, 32, "packs"), tile_packs<Count, T>,
                            static_cast<const T*>(x.data() + shift), to, 10),
              cudaSuccess)
        << last_fault;
    for (size_t i = 0; i < 10 * Count; ++i) ASSERT_EQ(to[i], static_cast<T>(2 * x[shift + i]));
    ASSERT_EQ(to[10 * Count], static_cast<T>(1));
  }
}

TEST(Pack, MovesFromAndToAnyAddress) {
  CheckPacks<4, float>();
  CheckPacks<2, float>();
  CheckPacks<8, uint16_t>();
  CheckPacks<2, uint8_t>();
  CheckPacks<2, int64_t>();
}

template <int Threads>
void CheckReduce() {
  for (const int columns : {1, 2, 31, 33, 64, 257, 1000}) {
    const int rows = 6;
    const Vector<float> x = Numbers(rows * columns, columns);
    Vector<tile_moments::state> y(rows);
    ASSERT_EQ(LaunchAndWait(Line(rows / 2, Threads, "reduce"), tile_reduce<Threads>, x.data(),
                            y.data(), columns),
              cudaSuccess)
        << last_fault;
    for (int row = 0; row < rows; ++row) {
      float sum = 0;
      int where = 0;
      for (int i = 0; i < columns; ++i) {
        sum += x[row * columns + i];
        if (x[row * columns + i] > x[row * columns + where]) where = i;
      }
      EXPECT_EQ(y[row].sum, sum);
      EXPECT_EQ(y[row].max, x[row * columns + where]);
      EXPECT_EQ(y[row].where, where);
    }
  }
}

TEST(BlockReduce, CombinesTuplesOverBlocks) {
  CheckReduce<32>();
  CheckReduce<96>();
  CheckReduce<256>();
  CheckReduce<1024>();
}

template <int Rows>
void CheckTranspose(int64_t rows, int64_t columns) {
  Vector<uint16_t> x(static_cast<size_t>(rows * columns)), y(x.size(), 0), want(x.size());
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      x[r * columns + c] = static_cast<uint16_t>(r * 131 + c);
      want[c * rows + r] = x[r * columns + c];
    }
  }
  const int64_t blocks = (rows + 31) / 32 * ((columns + 31) / 32);
  ASSERT_EQ(LaunchAndWait(Line(Half(blocks), 32 * Rows, "transpose"), tile_transpose<Rows>,
                          tile_matrix_load{x.data(), columns}, tile_matrix_store{y.data(), rows}),
            cudaSuccess)
      << last_fault;
  ASSERT_EQ(y, want) << rows << " x " << columns;
}

TEST(TransposeTile, AgreesWithBruteForce) {
  for (const int64_t rows : {1, 31, 32, 33, 70}) {
    for (const int64_t columns : {1, 17, 32, 65}) {
      CheckTranspose<8>(rows, columns);
      CheckTranspose<1>(rows, columns);
    }
  }
}

// Outputs of a 3x3 filter, rows 2 apart, over every row of the image.
template <int StrideW, int DilationW, int Outputs>
void CheckDepthwise(int64_t height, int64_t width, int64_t pad) {
  const Vector<float> x = Numbers(height * width, 5), taps = Numbers(9, 6);
  const int64_t rest = width + 2 * pad - 2 * DilationW - 1;  // beside the window
  if (rest < 0) return;
  const int64_t out_width = rest / StrideW + 1;
  Vector<float> y(static_cast<size_t>(height * out_width), 0.0f), want(y.size(), 0.0f);
  for (int64_t h = 0; h < height; ++h) {
    for (int64_t w = 0; w < out_width; ++w) {
      for (int kh = 0; kh < 3; ++kh) {
        for (int kw = 0; kw < 3; ++kw) {
          const int64_t row = h + 2 * kh - pad, column = w * StrideW + kw * DilationW - pad;
          const bool inside = row >= 0 && row < height && column >= 0 && column < width;
          if (inside) want[h * out_width + w] += x[row * width + column] * taps[3 * kh + kw];
        }
      }
    }
  }
  Vector<int32_t> beyond(1, 0);
  ASSERT_EQ(LaunchAndWait(Line(static_cast<uint32_t>(height), 32, "depthwise"),
                          tile_depthwise<StrideW, DilationW, Outputs>,
                          tile_depthwise_input{x.data(), height, width, 0, pad, beyond.data()},
                          tile_depthwise_filter{taps.data()}, y.data(), out_width),
            cudaSuccess)
      << last_fault;
  ASSERT_EQ(y, want) << height << " x " << width << " pad " << pad;
  ASSERT_EQ(beyond[0], 0) << height << " x " << width << " pad " << pad;
}

TEST(DepthwiseTile, AgreesWithBruteForce) {
  for (const int64_t width : {1, 3, 8, 33, 150}) {
    for (const int64_t pad : {0, 1, 2}) {
      CheckDepthwise<1, 1, 4>(5, width, pad);
      CheckDepthwise<2, 1, 3>(7, width, pad);
      CheckDepthwise<1, 2, 1>(4, width, pad);
      CheckDepthwise<3, 2, 5>(1, width, pad);
    }
  }
}

}  // namespace
