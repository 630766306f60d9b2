// The matrices of Winograd's algorithm for convolutions with 3x3 taps and a step of 1: m x m
// outputs from a patch of (m+2) x (m+2) inputs, with (m+2)^2 products per pair of channels in place
// of 9 m^2 (A. Lavin, S. Gray, "Fast Algorithms for Convolutional Neural Networks", CVPR 2016).
//
//   y = at ((g w g^T) * (bt x bt^T)) at^T       // element by element in the middle
//
// Transformed weights have (m+2)^2 numbers for each 9, but any three rows of g span the others.
#ifndef AOTC_COMPILER_IR_WINOGRAD_H_
#define AOTC_COMPILER_IR_WINOGRAD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "compiler/ir/expr.h"

namespace aotc {

inline constexpr int64_t kWinogradTaps = 3;

// F(m, 3): the size m of output tiles, and the m + 1 points of Toom and Cook beside infinity, from
// which all else follows.
struct WinogradForm {
  int64_t m = 0;
  std::array<double, 7> points = {};  // the first m + 1 of them
};
// By size. With the points of 4 WinogradError is a quarter of that for 0, 1, -1, 2, -2.
inline constexpr WinogradForm kWinogradForms[] = {
    {2, {0, 1, -1}},
    {4, {0, 0.625, -0.625, 1.5, -1.5}},
    {6, {0, 1, -1, 2, -2, 0.5, -0.5}},
};
inline constexpr auto kWinogradTiles = [] {
  std::array<int64_t, std::size(kWinogradForms)> tiles = {};
  for (size_t i = 0; i < tiles.size(); ++i) tiles[i] = kWinogradForms[i].m;
  return tiles;
}();

using Matrix = std::vector<std::vector<double>>;  // rows

// Elements of at and bt are numbers of f32.
struct WinogradMatrices {
  Matrix at = {};  // [m][m + 2], of the sums
  Matrix bt = {};  // [m + 2][m + 2], of the input
  Matrix g = {};   // [m + 2][3], of the weights
  // The weights' transform in two steps, g = spread * kept: kept are rows 0, 1 and m + 1 of g, so
  // that what is stored is no larger than the taps; a task makes the other rows of these.
  Matrix kept = {};    // [3][3]
  Matrix spread = {};  // [m + 2][3]
};
// `m` is one of kWinogradTiles.
WinogradMatrices WinogradMatricesOf(int64_t m);

// The error in f32 that an output is to be expected to have, by the scale of the outputs: both as
// standard deviations, for independent inputs and weights. A sum of `channels` products in order is
// off by 0.41 * sqrt(channels) units of rounding, as each addition rounds what has grown like a
// random walk; the transforms multiply that by a factor that follows from their matrices.
double WinogradError(int64_t m, int64_t channels);

// The element at indices of the matrix, in f32.
Expr MatrixElement(const Matrix& matrix, const Expr& row, const Expr& column);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_WINOGRAD_H_
