// What row_products_kernels.cc computes for row_products_test.cc.
#ifndef AOTC_TESTS_TEMPLATES_ROW_PRODUCTS_CASES_H_
#define AOTC_TESTS_TEMPLATES_ROW_PRODUCTS_CASES_H_

#include <stdint.h>

// y(m, n) = sum over k of a(m, k) * b(k, n), or b(n, k) for dots; rows lie `..._row` apart.
struct ProductArguments {
  int64_t rows, columns, depth;
  const float* a;
  int64_t a_row, a_step;
  const float* b;
  int64_t b_row;
  float* y;
  int64_t y_row;
};

struct RowProductKernels {
  int most_rows;
  void (*products)(const ProductArguments*);
  void (*dots)(const ProductArguments*);  // a_step is 1
};

#endif  // AOTC_TESTS_TEMPLATES_ROW_PRODUCTS_CASES_H_
