#include "compiler/targets/cpu/winograd_rows.h"

#include <string>

#include "compiler/ir/expr_text.h"
#include "compiler/ir/winograd.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/winograd.h"

namespace aotc {
namespace {

constexpr TileParam kParams[] = {{"m", kWinogradTiles}};

// The element of the matrix of each m: a text over the parameter m and the indices.
using OneOf = Matrix WinogradMatrices::*;
std::string ElementText(OneOf matrix, const char* row, const char* column) {
  Expr element;
  for (const int64_t m : kWinogradTiles) {
    const WinogradMatrices all = WinogradMatricesOf(m);
    const Expr of = MatrixElement(all.*matrix, Var(row), Var(column));
    element = element.valid() ? Select(Eq(Var("m"), m), of, element) : of;
  }
  return PrintExpr(element);
}

std::string Symbols() {
  return StrCat("\n  symbol m in ", kWinogradTiles.front(), "..", kWinogradTiles.back(),
                "\n  symbol lanes in 1..64\n");
}

const std::string& InputText() {
  static const std::string kText = StrCat(
      "kernel @winograd_input_tile(in %x: f32[m + 2, m + 2, lanes], ",
      "out %v: f32[m + 2, m + 2, lanes]) {", Symbols(), "  temp %r: f32[m + 2, m + 2, lanes]\n",
      "  %r[a<m + 2, t<m + 2, l<lanes] = reduce sum(s<m + 2) ",
      ElementText(&WinogradMatrices::bt, "a", "s"), " * %x[s, t, l]\n",
      "  %v[a<m + 2, b<m + 2, l<lanes] = reduce sum(t<m + 2) ",
      ElementText(&WinogradMatrices::bt, "b", "t"), " * %r[a, t, l]\n}");
  return kText;
}

constexpr std::string_view kWeightsExtents[] = {"row", "vectors"};
constexpr TileBound kWeightsBounds[] = {{"row", "m", 1}};  // of m + 2 rows

const std::string& WeightsText() {
  static const std::string kText =
      StrCat("kernel @winograd_weights_tile(in %w: f32[3, vectors * lanes], ",
             "out %u: f32[vectors * lanes]) {", Symbols(),
             "  symbol row in 0..7\n  symbol vectors in 0..1048576\n",
             "  %u[l<vectors * lanes] = reduce sum(s<3) ",
             ElementText(&WinogradMatrices::spread, "row", "s"), " * %w[s, l]\n}");
  return kText;
}

const std::string& OutputText() {
  static const std::string kText =
      StrCat("kernel @winograd_output_tile(in %p: f32[m + 2, m + 2, lanes], ",
             "out %y: f32[m, m, lanes]) {", Symbols(), "  temp %q: f32[m + 2, m, lanes]\n",
             "  %q[a<m + 2, w<m, l<lanes] = reduce sum(b<m + 2) ",
             ElementText(&WinogradMatrices::at, "w", "b"), " * %p[a, b, l]\n",
             "  %y[h<m, w<m, l<lanes] = reduce sum(a<m + 2) ",
             ElementText(&WinogradMatrices::at, "h", "a"), " * %q[a, w, l]\n}");
  return kText;
}

}  // namespace

std::vector<TileRow> WinogradRows() {
  return {
      {.name = kWinogradInputTile,
       .header = "cpu/winograd_tile.h",
       .text = InputText(),
       .params = kParams,
       .result = Fragment::kMemory,
       .call = "aotc_winograd_input_tile<$m>(aotc_patch<$x:T>{$x, $x.0, $x.1}, $v, $v.0, $v.1)",
       .summary = "patches of the input of a 3x3 convolution, as Winograd's algorithm wants them"},
      {.name = kWinogradWeightsTile,
       .header = "cpu/winograd_tile.h",
       .text = WeightsText(),
       .params = kParams,
       .extents = kWeightsExtents,
       .at_most = kWeightsBounds,
       .result = Fragment::kMemory,
       .call = "aotc_winograd_weights_tile<$m>($row, $vectors, $w, $w.0, $u)",
       .summary = "weights of one row of a patch's places, of the three that are kept"},
      {.name = kWinogradOutputTile,
       .header = "cpu/winograd_tile.h",
       .text = OutputText(),
       .params = kParams,
       .call = "aotc_winograd_output_tile<$m>(aotc_patch<$p:T>{$p, $p.0, $p.1}, @y)",
       .summary = "outputs of a 3x3 convolution from the sums of Winograd's algorithm"},
  };
}

}  // namespace aotc
