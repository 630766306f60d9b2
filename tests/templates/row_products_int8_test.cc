// Products of rows of bytes with unpacked matrices against the plain form, number by number.
// Operands end where their memory does: a sanitizer sees what is read beyond them, guard bytes that
// count show in the numbers.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/templates/isa.h"
#include "tests/templates/row_products_int8_cases.h"

AOTC_TEST_TABLES(row_products_int8, ByteProductKernels)

namespace {

constexpr int32_t kUntouched = 77;

// A matrix of `rows` rows, `stride` apart, of the least and the greatest byte and those between.
std::vector<uint8_t> Matrix(int64_t rows, int64_t stride, unsigned seed) {
  std::vector<uint8_t> memory(static_cast<size_t>(rows * stride));
  std::mt19937 random(seed);
  for (uint8_t& byte : memory) {
    const uint32_t drawn = random();
    constexpr uint8_t kExtremes[] = {0, 127, 128, 255};
    byte = drawn % 2 == 0 ? kExtremes[drawn / 2 % 4] : static_cast<uint8_t>(drawn >> 8);
  }
  return memory;
}

struct Case {
  int64_t rows, columns, depth;
  bool dots;
  int types;  // that of ByteProductKernels
  int64_t a_step = 1;
};

int32_t Number(uint8_t byte, bool is_signed) {
  return is_signed ? static_cast<int8_t>(byte) : byte;
}

int32_t Expected(const Case& of, const ByteProductArguments& x, int64_t m, int64_t n) {
  int64_t sum = 0;
  for (int64_t k = 0; k < of.depth; ++k) {
    const uint8_t b = of.dots ? x.b[n * x.b_row + k] : x.b[k * x.b_row + n];
    sum += int64_t{Number(x.a[m * x.a_row + k * x.a_step], of.types >= 2)} *
           Number(b, of.types % 2 == 1);
  }
  return static_cast<int32_t>(sum);
}

void Check(const Case& of, const ByteProductKernels& kernels, const char* isa) {
  ByteProductArguments x = {};
  x.rows = of.rows, x.columns = of.columns, x.depth = of.depth, x.a_step = of.a_step;
  x.a_row = of.depth * of.a_step + 3, x.y_row = of.columns + 5;
  x.b_row = (of.dots ? of.depth : of.columns) + 1;
  const std::vector<uint8_t> a = Matrix(of.rows, x.a_row, 1);
  const std::vector<uint8_t> b = Matrix(of.dots ? of.columns : of.depth, x.b_row, 2);
  std::vector<int32_t> y(static_cast<size_t>(of.rows * x.y_row), kUntouched);
  x.a = a.data(), x.b = b.data(), x.y = y.data();
  const auto types = static_cast<size_t>(of.types);
  (of.dots ? kernels.dots : kernels.products)[types](&x);
  for (int64_t i = 0; i < static_cast<int64_t>(y.size()); ++i) {
    const int64_t m = i / x.y_row, n = i % x.y_row;
    const int32_t expected = n < of.columns ? Expected(of, x, m, n) : kUntouched;
    ASSERT_EQ(y[static_cast<size_t>(i)], expected)
        << isa << (of.dots ? " dots " : " products ") << of.rows << "x" << of.columns << "x"
        << of.depth << " of types " << of.types << " at " << m << ", " << n;
  }
}

void CheckShapes(int64_t rows, const ByteProductKernels& kernels, const char* isa) {
  for (int64_t columns : {1, 2, 7, 8, 9, 16, 31, 33, 97}) {
    for (int64_t depth : {1, 2, 5, 8, 16, 17, 32, 50, 77}) {
      for (int types = 0; types < 4; ++types) {
        Check({rows, columns, depth, false, types}, kernels, isa);
        Check({rows, columns, depth, true, types}, kernels, isa);
      }
    }
  }
}

TEST(RowProductsInt8, OddSizesOfRowsColumnsAndDepth) {
  for (const auto& isa : row_products_int8_tables) {
    for (int64_t rows = 1; rows <= isa.kernels->most_rows; ++rows) {
      CheckShapes(rows, *isa.kernels, isa.name);
    }
  }
}

TEST(RowProductsInt8, NothingToSumIsZero) {
  for (const auto& isa : row_products_int8_tables) {
    Check({2, 19, 0, false, 1}, *isa.kernels, isa.name);
    Check({2, 19, 0, true, 1}, *isa.kernels, isa.name);
    Check({2, 0, 4, false, 1}, *isa.kernels, isa.name);
    Check({1, 0, 4, true, 1}, *isa.kernels, isa.name);
  }
}

// The factors of a row need not be neighbours.
TEST(RowProductsInt8, FactorsOfARowApart) {
  for (const auto& isa : row_products_int8_tables) {
    Check({3, 21, 41, false, 1, 5}, *isa.kernels, isa.name);
  }
}

}  // namespace
