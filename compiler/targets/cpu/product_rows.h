// Tile functions of a few rows with a matrix that lies as it was computed (templates/cpu/
// row_products.h): row_products, row_dots, and both of bytes.
#ifndef AOTC_COMPILER_TARGETS_CPU_PRODUCT_ROWS_H_
#define AOTC_COMPILER_TARGETS_CPU_PRODUCT_ROWS_H_

#include <string_view>
#include <vector>

#include "compiler/schedule/tile.h"

namespace aotc {

// Each of f32, and as NAME_int8.
std::vector<TileRow> ProductRows();

// The row that multiplies with columns that lie side by side, or with rows that do (`is_dots`).
std::string_view ProductRowOf(bool is_dots, bool is_integer);
// A name of one of them.
bool IsProductRow(std::string_view tile);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_PRODUCT_ROWS_H_
