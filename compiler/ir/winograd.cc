#include "compiler/ir/winograd.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/support/status.h"

namespace aotc {
namespace {

std::vector<double> PointsOf(int64_t m) {
  const auto* form = std::ranges::find(kWinogradForms, m, &WinogradForm::m);
  AOTC_CHECK(form != std::end(kWinogradForms)) << m;
  return {form->points.begin(), form->points.begin() + m + 1};
}

// Coefficients of the product of (x - point) over all points but `without`, lowest power first.
std::vector<double> Product(const std::vector<double>& points, size_t without) {
  std::vector<double> product = {1};
  for (size_t i = 0; i < points.size(); ++i) {
    if (i == without) continue;
    product.push_back(0);
    for (size_t power = product.size(); power-- > 0;) {
      product[power] = (power > 0 ? product[power - 1] : 0) - points[i] * product[power];
    }
  }
  return product;
}

double ValueAt(const std::vector<double>& polynomial, double x) {
  double value = 0;
  for (size_t power = polynomial.size(); power-- > 0;) value = value * x + polynomial[power];
  return value;
}

std::vector<double> Powers(double x, size_t count, double by) {
  std::vector<double> powers;
  for (size_t power = 0; power < count; ++power) {
    powers.push_back(by);
    by *= x;
  }
  return powers;
}

// Row a of g is scale * (1, x, x^2) for the point x; of the rows that are kept the first has the
// point 0, the second x1, the last is (0, 0, 1).
std::vector<double> SpreadOf(const std::vector<double>& row, const Matrix& kept) {
  const double of_second = row[1] / kept[1][1];
  const double of_first = (row[0] - of_second * kept[1][0]) / kept[0][0];
  return {of_first + 0.0, of_second + 0.0, row[2] - of_second * kept[1][2]};  // not -0
}

double SumOfSquares(const std::vector<double>& row) {
  double sum = 0;
  for (const double x : row) sum += x * x;
  return sum;
}

}  // namespace

WinogradMatrices WinogradMatricesOf(int64_t m) {
  const std::vector<double> points = PointsOf(m);
  const size_t count = points.size(), outputs = count - 1, size = count + 1;
  WinogradMatrices made;
  made.at.assign(outputs, std::vector<double>(size, 0));
  for (size_t a = 0; a < count; ++a) {
    std::vector<double> row = Product(points, a);
    made.g.push_back(Powers(points[a], kWinogradTaps, 1 / ValueAt(row, points[a])));
    row.push_back(0);
    made.bt.push_back(std::move(row));
    const std::vector<double> powers = Powers(points[a], outputs, 1);
    for (size_t p = 0; p < outputs; ++p) made.at[p][a] = powers[p];
  }
  made.bt.push_back(Product(points, count));
  made.g.push_back({0, 0, 1});
  made.at[outputs - 1][count] = 1;
  made.kept = {made.g[0], made.g[1], made.g[count]};
  for (const std::vector<double>& row : made.g) made.spread.push_back(SpreadOf(row, made.kept));
  return made;
}

double WinogradError(int64_t m, int64_t channels) {
  constexpr double kUnit = 0x1p-24, kOfSum = 0.41;
  const WinogradMatrices matrices = WinogradMatricesOf(m);
  double most = 0;
  for (const std::vector<double>& row : matrices.at) {
    double variance = 0;
    for (size_t a = 0; a < row.size(); ++a) {
      variance += row[a] * row[a] * SumOfSquares(matrices.bt[a]) * SumOfSquares(matrices.g[a]);
    }
    most = std::max(most, variance);
  }
  // Along both axes; outputs are sums over the taps.
  const double growth = most / kWinogradTaps;
  return kUnit * kOfSum * std::sqrt(static_cast<double>(channels)) * growth;
}

Expr MatrixElement(const Matrix& matrix, const Expr& row, const Expr& column) {
  std::vector<Expr> values;
  for (const std::vector<double>& line : matrix) {
    for (const double value : line) values.push_back(FloatConst(value));
  }
  return Table(row * static_cast<int64_t>(matrix[0].size()) + column, values);
}

}  // namespace aotc
