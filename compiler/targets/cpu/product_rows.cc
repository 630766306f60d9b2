#include "compiler/targets/cpu/product_rows.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_replace.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/tiles.h"

namespace aotc {
namespace {

constexpr int64_t kUpTo8[] = {1, 2, 3, 4, 5, 6, 7, 8};
constexpr int64_t kUpTo4[] = {1, 2, 3, 4};
constexpr TileParam kProductsParams[] = {{"most_rows", kUpTo8}, {"vectors", kUpTo4}};
constexpr TileParam kDotsParams[] = {{"most_rows", kUpTo8}, {"most_columns", kUpTo4}};
constexpr std::string_view kExtents[] = {"rows", "columns", "depth"};
constexpr TileBound kBounds[] = {{"rows", "most_rows"}};
constexpr DType kBytes[] = {DType::kU8, DType::kI8};
constexpr TileStorage kBytesStored[] = {{"a", kBytes}, {"b", kBytes}};

// How the matrix lies.
struct Kind {
  bool is_dots = false;
  std::string_view name;
  std::span<const TileParam> params;
  std::string_view matrix, element;  // its axes, and what is multiplied
  std::string_view step;             // from a factor of a row to the next
  std::string_view summary;
};
constexpr Kind kKinds[] = {{false, "row_products", kProductsParams, "depth, columns", "%b[k, n]",
                            "$a.1", "rows that multiply with one matrix, such as attention"},
                           {true, "row_dots", kDotsParams, "columns, depth", "%b[n, k]", "1",
                            "rows that multiply with the rows of one matrix, such as attention"}};

// What is multiplied and summed.
struct Numbers {
  bool is_integer = false;
  std::string_view suffix, type, header;
  std::span<const TileStorage> stored = {};
};
constexpr Numbers kNumbers[] = {{false, "", "f32", "cpu/row_products.h"},
                                {true, "_int8", "i32", "cpu/row_products_int8.h", kBytesStored}};

constexpr std::string_view kText = R"(
kernel @NAME(in %a: TYPE[rows, depth], in %b: TYPE[MATRIX], out %y: TYPE[rows, columns]) {
  symbol most_rows in 1..8
  symbol WIDTH in 1..4
  symbol rows in 1..8
  symbol columns in 0..1048576
  symbol depth in 0..1048576
  %y[m<rows, n<columns] = reduce sum(k<depth) %a[m, k] * ELEMENT
})";

constexpr std::string_view kCall =
    "aotc_KIND<$most_rows, $WIDTH>($rows, $columns, $depth, "
    "aotc_matrix<$a:T>{$a, $a.0, STEP}, aotc_matrix<$b:T>{$b, $b.0, 1}, $y, $y.0)";

struct ProductRow {
  bool is_dots, is_integer;
  TileRow row;
};

// `kept` holds the texts that the row names.
TileRow RowOf(const Kind& kind, const Numbers& numbers, std::deque<std::string>& kept) {
  const auto keep = [&](std::string text) -> std::string_view {
    return kept.emplace_back(std::move(text));
  };
  const std::string_view name = keep(StrCat(kind.name, numbers.suffix));
  const std::string_view width = kind.params[1].name;
  return {.name = name,
          .header = numbers.header,
          .text = keep(absl::StrReplaceAll(View(kText), {{"NAME", View(name)},
                                                         {"TYPE", View(numbers.type)},
                                                         {"MATRIX", View(kind.matrix)},
                                                         {"WIDTH", View(width)},
                                                         {"ELEMENT", View(kind.element)}})),
          .params = kind.params,
          .extents = kExtents,
          .at_most = kBounds,
          .result = Fragment::kMemory,
          .stored = numbers.stored,
          .needs = BlockNeeds,
          .call = keep(absl::StrReplaceAll(
              View(kCall),
              {{"KIND", View(kind.name)}, {"WIDTH", View(width)}, {"STEP", View(kind.step)}})),
          .summary = numbers.is_integer ? "the same of 8-bit integers" : kind.summary};
}

const std::vector<ProductRow>& AllRows() {
  static std::deque<std::string> kept;
  static const std::vector<ProductRow> kAll = [] {
    std::vector<ProductRow> all;
    for (const Kind& kind : kKinds) {
      for (const Numbers& numbers : kNumbers) {
        all.push_back({kind.is_dots, numbers.is_integer, RowOf(kind, numbers, kept)});
      }
    }
    return all;
  }();
  return kAll;
}

}  // namespace

std::vector<TileRow> ProductRows() {
  std::vector<TileRow> rows;
  for (const ProductRow& product : AllRows()) rows.push_back(product.row);
  return rows;
}

std::string_view ProductRowOf(bool is_dots, bool is_integer) {
  return std::ranges::find_if(AllRows(),
                              [&](const ProductRow& product) {
                                return product.is_dots == is_dots &&
                                       product.is_integer == is_integer;
                              })
      ->row.name;
}

bool IsProductRow(std::string_view tile) {
  return std::ranges::any_of(AllRows(),
                             [&](const ProductRow& product) { return product.row.name == tile; });
}

}  // namespace aotc
