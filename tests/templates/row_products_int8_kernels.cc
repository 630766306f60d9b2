// The products of rows of bytes, built once per ISA.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tests/templates/isa.h"
#include "tests/templates/row_products_int8_cases.h"
// The target region opens after every C header.
#include "aotc/target_begin.h"
#include "templates/cpu/row_products_int8.h"

namespace {

enum { kRows = AOTC_LANES == 16 ? 8 : 6 };

template <class T>
AOTC_INLINE aotc_matrix<T> matrix_of(const uint8_t* data, int64_t row, int64_t step) {
  return aotc_matrix<T>{(const T*)data, row, step};
}

template <class A, class B>
static void products(const ByteProductArguments* of) {
  aotc_row_products<kRows, 2>(of->rows, of->columns, of->depth,
                              matrix_of<A>(of->a, of->a_row, of->a_step),
                              matrix_of<B>(of->b, of->b_row, 1), of->y, of->y_row);
}

template <class A, class B>
static void dots(const ByteProductArguments* of) {
  aotc_row_dots<kRows, 2>(of->rows, of->columns, of->depth, matrix_of<A>(of->a, of->a_row, 1),
                          matrix_of<B>(of->b, of->b_row, 1), of->y, of->y_row);
}

const ByteProductKernels kKernels = {
    kRows,
    {products<uint8_t, uint8_t>, products<uint8_t, int8_t>, products<int8_t, uint8_t>,
     products<int8_t, int8_t>},
    {dots<uint8_t, uint8_t>, dots<uint8_t, int8_t>, dots<int8_t, uint8_t>, dots<int8_t, int8_t>}};

}  // namespace

extern "C" const ByteProductKernels* AOTC_TEST_EXPORT(row_products_int8)() { return &kKernels; }

#include "aotc/target_end.h"
