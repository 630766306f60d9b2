// What row_products_int8_kernels.cc computes for row_products_int8_test.cc.
#ifndef AOTC_TESTS_TEMPLATES_ROW_PRODUCTS_INT8_CASES_H_
#define AOTC_TESTS_TEMPLATES_ROW_PRODUCTS_INT8_CASES_H_

#include <stdint.h>

// y(m, n) = sum over k of a(m, k) * b(k, n), or b(n, k) for dots; rows lie `..._row` apart.
struct ByteProductArguments {
  int64_t rows, columns, depth;
  const uint8_t* a;  // as i8 where the left bytes are signed
  int64_t a_row, a_step;
  const uint8_t* b;
  int64_t b_row;
  int32_t* y;
  int64_t y_row;
};

struct ByteProductKernels {
  int most_rows;
  // By the bytes that are signed: none, the right ones, the left ones, both.
  void (*products[4])(const ByteProductArguments*);
  void (*dots[4])(const ByteProductArguments*);  // a_step is 1
};

#endif  // AOTC_TESTS_TEMPLATES_ROW_PRODUCTS_INT8_CASES_H_
