// The products of rows, built once per ISA.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tests/templates/isa.h"
#include "tests/templates/row_products_cases.h"
// The target region opens after every C header.
#include "aotc/target_begin.h"
#include "templates/cpu/row_products.h"

namespace {

enum { kRows = AOTC_LANES == 16 ? 8 : 6 };

static void products(const ProductArguments* of) {
  aotc_row_products<kRows, 2>(of->rows, of->columns, of->depth,
                              aotc_matrix<float>{of->a, of->a_row, of->a_step},
                              aotc_matrix<float>{of->b, of->b_row, 1}, of->y, of->y_row);
}

static void dots(const ProductArguments* of) {
  aotc_row_dots<kRows, 2>(of->rows, of->columns, of->depth, aotc_matrix<float>{of->a, of->a_row, 1},
                          aotc_matrix<float>{of->b, of->b_row, 1}, of->y, of->y_row);
}

const RowProductKernels kKernels = {kRows, products, dots};

}  // namespace

extern "C" const RowProductKernels* AOTC_TEST_EXPORT(row_products)() { return &kKernels; }

#include "aotc/target_end.h"
