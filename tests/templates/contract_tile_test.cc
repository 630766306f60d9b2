// The contraction tile against sums in double, over odd sizes, element types and ISAs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "aotc/half.h"
#include "tests/templates/contract_tile_cases.h"
#include "tests/templates/isa.h"

AOTC_TEST_TABLES(contract, ContractKernels)

namespace {

struct Matrix {
  std::vector<float> values;     // what the kernel sees, after rounding to the kind
  std::vector<uint16_t> halves;  // the same as f16 or bf16
  const void* data(ElementKind kind) const {
    return kind == kF32 ? (const void*)values.data() : (const void*)halves.data();
  }
};

Matrix RandomMatrix(int64_t size, ElementKind kind, std::mt19937& random) {
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  Matrix matrix;
  for (int64_t i = 0; i < size; ++i) {
    float value = uniform(random);
    uint16_t half = kind == kBf16 ? aotc_bf16_from_f32(value) : aotc_f16_from_f32(value);
    if (kind == kBf16) value = aotc_bf16_to_f32(half);
    if (kind == kF16) value = aotc_f16_to_f32(half);
    matrix.values.push_back(value);
    matrix.halves.push_back(half);
  }
  return matrix;
}

struct Problem {
  int64_t m, k, n;
  ElementKind a_kind = kF32, b_kind = kF32;
  int64_t k_block = 0;
};

// Error bound: reduction length times half an ulp of sums of size about sqrt(k).
double Tolerance(int64_t k) { return 1e-6 * (4.0 + std::sqrt(static_cast<double>(k))); }

void CheckMatmul(const Problem& of, void (*kernel)(const MatmulArguments*), const char* isa) {
  SCOPED_TRACE(testing::Message() << isa << " m=" << of.m << " k=" << of.k << " n=" << of.n);
  std::mt19937 random(static_cast<unsigned>(of.m * 10007 + of.k * 101 + of.n));
  const int64_t a_stride = of.k + 3, panels = (of.n + 31) / 32;
  const Matrix a = RandomMatrix(of.m * a_stride, of.a_kind, random);
  Matrix b = RandomMatrix(panels * of.k * 32, of.b_kind, random);
  const Matrix bias = RandomMatrix(panels * 32, kF32, random);
  const Matrix residual = RandomMatrix(of.m * of.n, kF32, random);
  const float canary = 12345.0f;
  std::vector<float> y(of.m * of.n + 64, canary), row_max(of.m + 1, canary);
  const MatmulArguments arguments = {of.a_kind,
                                     a.data(of.a_kind),
                                     of.b_kind,
                                     b.data(of.b_kind),
                                     bias.values.data(),
                                     residual.values.data(),
                                     y.data(),
                                     row_max.data(),
                                     of.m,
                                     of.k,
                                     of.n,
                                     a_stride,
                                     of.k_block};
  kernel(&arguments);
  for (int64_t m = 0; m < of.m; ++m) {
    double expected_max = 0.0;
    for (int64_t n = 0; n < of.n; ++n) {
      double sum = bias.values[n] + static_cast<double>(residual.values[m * of.n + n]);
      for (int64_t k = 0; k < of.k; ++k) {
        sum += static_cast<double>(a.values[m * a_stride + k]) *
               b.values[(n / 32 * of.k + k) * 32 + n % 32];
      }
      const double expected = std::max(sum, 0.0);
      expected_max = std::max(expected_max, expected);
      ASSERT_NEAR(y[m * of.n + n], expected, Tolerance(of.k)) << "row " << m << " column " << n;
    }
    ASSERT_NEAR(row_max[m], expected_max, Tolerance(of.k)) << "row " << m;
  }
  for (int64_t i = of.m * of.n; i < of.m * of.n + 64; ++i) ASSERT_EQ(y[i], canary);
  ASSERT_EQ(row_max[of.m], canary);
}

const int64_t kOddSizes[] = {1, 2, 3, 5, 7, 13, 14, 15, 29, 31, 32, 33, 40, 63};

TEST(ContractTile, MatmulOverOddSizes) {
  for (const auto& isa : contract_tables) {
    for (int64_t m : {1, 2, 5, 6, 7, 13, 14, 15, 29}) {
      for (int64_t n : kOddSizes) CheckMatmul({m, 17, n}, isa.kernels->matmul, isa.name);
    }
    for (int64_t k : kOddSizes) CheckMatmul({15, k, 40}, isa.kernels->matmul, isa.name);
    CheckMatmul({200, 512, 40}, isa.kernels->matmul, isa.name);
  }
}

TEST(ContractTile, EmptyReductionGivesTheEpilogueOfZero) {
  for (const auto& isa : contract_tables) CheckMatmul({15, 0, 40}, isa.kernels->matmul, isa.name);
}

TEST(ContractTile, HalfOperandsAreWidenedExactly) {
  for (const auto& isa : contract_tables) {
    for (int64_t n : {1, 31, 40}) {
      CheckMatmul({15, 29, n, kF16, kF32}, isa.kernels->matmul, isa.name);
      CheckMatmul({15, 29, n, kF16, kF16}, isa.kernels->matmul, isa.name);
      CheckMatmul({15, 29, n, kBf16, kBf16}, isa.kernels->matmul, isa.name);
    }
  }
}

TEST(ContractTile, PartialSumsOfBlocksOfKContinue) {
  for (const auto& isa : contract_tables) {
    for (int64_t block : {1, 8, 13, 28, 29}) {
      CheckMatmul({15, 29, 40, kF32, kF32, block}, isa.kernels->matmul, isa.name);
    }
  }
}

TEST(ContractTile, RolledEpilogueDoesTheSame) {
  for (const auto& isa : contract_tables) {
    for (int64_t n : kOddSizes) CheckMatmul({29, 13, n}, isa.kernels->matmul_rolled, isa.name);
  }
}

TEST(ContractTile, SingleRowsWithSeveralStepsInFlight) {
  for (const auto& isa : contract_tables) {
    for (int64_t k : kOddSizes) CheckMatmul({1, k, 40}, isa.kernels->gemv, isa.name);
    CheckMatmul({3, 512, 129}, isa.kernels->gemv, isa.name);
  }
}

double ConvAt(const ConvArguments& of, int64_t oh, int64_t ow, int64_t n) {
  double sum = 0.0;
  for (int64_t b = 0; b < of.blocks; ++b) {
    for (int64_t h = 0; h < of.kh; ++h) {
      for (int64_t w = 0; w < of.kw; ++w) {
        const int64_t y = oh * of.stride + h, x = ow * of.stride + w;
        const float* input = of.input + ((b * of.height + y) * of.width + x) * 16;
        const float* weights = of.packed + ((b * of.kh + h) * of.kw + w) * 16 * 32 + n;
        for (int64_t c = 0; c < 16; ++c) sum += static_cast<double>(input[c]) * weights[c * 32];
      }
    }
  }
  return sum;
}

void CheckConv(ConvArguments of, const ContractKernels& kernels) {
  std::mt19937 random(7);
  const Matrix input = RandomMatrix(of.blocks * of.height * of.width * 16, kF32, random);
  const Matrix packed = RandomMatrix(of.blocks * of.kh * of.kw * 16 * 32, kF32, random);
  const int64_t out_height = (of.height - of.kh) / of.stride + 1;
  const int64_t out_width = (of.width - of.kw) / of.stride + 1;
  std::vector<float> y(out_height * out_width * 32, -1.0f);
  of.input = input.values.data(), of.packed = packed.values.data(), of.y = y.data();
  kernels.conv(&of);
  for (int64_t oh = 0; oh < out_height; ++oh) {
    for (int64_t ow = 0; ow < out_width; ++ow) {
      for (int64_t n = 0; n < 32; ++n) {
        ASSERT_NEAR(y[(oh * out_width + ow) * 32 + n], ConvAt(of, oh, ow, n),
                    Tolerance(of.blocks * of.kh * of.kw * 16))
            << kernels.lanes << " lanes, pixel " << oh << ", " << ow << " channel " << n;
      }
    }
  }
}

TEST(ContractTile, ConvolutionIsTheSameTileOverAnotherNest) {
  for (const auto& isa : contract_tables) {
    CheckConv({nullptr, nullptr, nullptr, 2, 5, 17, 3, 3, 1}, *isa.kernels);
    CheckConv({nullptr, nullptr, nullptr, 3, 7, 31, 3, 3, 2}, *isa.kernels);
    CheckConv({nullptr, nullptr, nullptr, 1, 3, 29, 1, 1, 1}, *isa.kernels);
    CheckConv({nullptr, nullptr, nullptr, 1, 7, 13, 7, 5, 2}, *isa.kernels);
  }
}

}  // namespace
