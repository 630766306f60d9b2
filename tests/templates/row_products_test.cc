// Products of rows with unpacked matrices against the plain form in double. Operands end where
// their memory does, between guard bytes of NaN: what is read beyond them shows in the numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "tests/templates/isa.h"
#include "tests/templates/row_products_cases.h"

AOTC_TEST_TABLES(row_products, RowProductKernels)

namespace {

constexpr int64_t kGuard = 64;
constexpr float kUntouched = 77.0f;

// A matrix of `rows` rows, `stride` apart; between and behind them lie NaNs.
std::vector<float> Matrix(int64_t rows, int64_t columns, int64_t stride, int seed) {
  std::vector<float> memory(static_cast<size_t>(rows * stride + kGuard), NAN);
  std::mt19937 random(static_cast<unsigned>(seed));
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      memory[static_cast<size_t>(i * stride + j)] = uniform(random);
    }
  }
  return memory;
}

struct Case {
  int64_t rows, columns, depth;
  bool dots;
};

double Expected(const Case& of, const ProductArguments& x, int64_t m, int64_t n) {
  double sum = 0;
  for (int64_t k = 0; k < of.depth; ++k) {
    const float b = of.dots ? x.b[n * x.b_row + k] : x.b[k * x.b_row + n];
    sum += static_cast<double>(x.a[m * x.a_row + k * x.a_step]) * b;
  }
  return sum;
}

void Check(const Case& of, const RowProductKernels& kernels, const char* isa) {
  ProductArguments x = {};
  x.rows = of.rows, x.columns = of.columns, x.depth = of.depth;
  x.a_row = of.depth + 3, x.a_step = 1, x.y_row = of.columns + 5;
  x.b_row = (of.dots ? of.depth : of.columns) + 1;
  const std::vector<float> a = Matrix(of.rows, of.depth, x.a_row, 1);
  const std::vector<float> b =
      of.dots ? Matrix(of.columns, of.depth, x.b_row, 2) : Matrix(of.depth, of.columns, x.b_row, 2);
  std::vector<float> y(static_cast<size_t>(of.rows * x.y_row + kGuard), kUntouched);
  x.a = a.data(), x.b = b.data(), x.y = y.data();
  (of.dots ? kernels.dots : kernels.products)(&x);
  for (int64_t i = 0; i < static_cast<int64_t>(y.size()); ++i) {
    const int64_t m = i / x.y_row, n = i % x.y_row;
    const bool is_result = m < of.rows && n < of.columns;
    const double expected = is_result ? Expected(of, x, m, n) : kUntouched;
    ASSERT_NEAR(y[static_cast<size_t>(i)], expected, 1e-5)
        << isa << (of.dots ? " dots " : " products ") << of.rows << "x" << of.columns << "x"
        << of.depth << " at " << m << ", " << n;
  }
}

void CheckShapes(int64_t rows, const RowProductKernels& kernels, const char* isa) {
  for (int64_t columns : {1, 2, 3, 7, 8, 9, 16, 31, 32, 33, 64, 97}) {
    for (int64_t depth : {1, 2, 5, 8, 16, 17, 50}) {
      Check({rows, columns, depth, false}, kernels, isa);
      Check({rows, columns, depth, true}, kernels, isa);
    }
  }
}

TEST(RowProducts, OddSizesOfRowsColumnsAndDepth) {
  for (const auto& isa : row_products_tables) {
    for (int64_t rows = 1; rows <= isa.kernels->most_rows; ++rows) {
      CheckShapes(rows, *isa.kernels, isa.name);
    }
  }
}

TEST(RowProducts, NothingToSumIsZero) {
  for (const auto& isa : row_products_tables) {
    Check({2, 19, 0, false}, *isa.kernels, isa.name);
    Check({2, 19, 0, true}, *isa.kernels, isa.name);
    Check({2, 0, 4, false}, *isa.kernels, isa.name);
    Check({1, 0, 4, true}, *isa.kernels, isa.name);
  }
}

// The factors of a row need not be neighbours.
TEST(RowProducts, FactorsOfARowApart) {
  const std::vector<float> a = Matrix(40, 3, 3, 3), b = Matrix(40, 21, 21, 4);
  for (const auto& isa : row_products_tables) {
    std::vector<float> y(3 * 21);
    const ProductArguments x{3, 21, 40, a.data(), 1, 3, b.data(), 21, y.data(), 21};
    isa.kernels->products(&x);
    for (int64_t i = 0; i < 3 * 21; ++i) {
      ASSERT_NEAR(y[static_cast<size_t>(i)], Expected({3, 21, 40, false}, x, i / 21, i % 21), 1e-5);
    }
  }
}

}  // namespace
