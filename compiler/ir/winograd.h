// The matrices of Winograd's algorithm for convolutions with 3x3 taps and a step of 1: m x m
// outputs from a patch of (m+2) x (m+2) inputs, with (m+2)^2 products per pair of channels in place
// of 9 m^2 (A. Lavin, S. Gray, "Fast Algorithms for Convolutional Neural Networks", CVPR 2016).
//
//   y = at ((g w g^T) * (bt x bt^T)) at^T       // element by element in the middle
//
// Transformed weights have (m+2)^2 numbers for each 9, but any three rows of g span the others.
#ifndef AOTC_COMPILER_IR_WINOGRAD_H_
#define AOTC_COMPILER_IR_WINOGRAD_H_

#include <cstdint>
#include <vector>

#include "compiler/ir/expr.h"

namespace aotc {

inline constexpr int64_t kWinogradTaps = 3;
// Sizes m of output tiles that there are matrices for.
inline constexpr int64_t kWinogradTiles[] = {2, 4, 6};

using Matrix = std::vector<std::vector<double>>;  // rows

// Those of Toom and Cook for infinity and m + 1 points: 0, 1, -1 (m = 2); 0, 5/8, -5/8, 3/2, -3/2
// (4), for which WinogradError is a quarter of that for 1 and 2; 0, 1, -1, 2, -2, 1/2, -1/2 (6).
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
