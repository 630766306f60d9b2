#include "compiler/optimize/fourier_tables.h"

#include <complex>
#include <functional>
#include <numbers>
#include <utility>
#include <vector>

namespace aotc {
namespace {

using Complex = std::complex<double>;

// e^(sign 2 pi i steps / whole).
Complex Turn(int64_t steps, int64_t whole, int64_t sign) {
  const double angle = 2 * std::numbers::pi * static_cast<double>(steps % whole);
  return std::polar(1.0, static_cast<double>(sign) * angle / static_cast<double>(whole));
}

Constant Filled(DType type, std::vector<int64_t> dims, const std::function<double(int64_t)>& at) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  std::vector<uint8_t> bytes(static_cast<size_t>(StorageBytes(type, count)));
  for (int64_t i = 0; i < count; ++i) StoreElement(type, bytes.data(), i, at(i));
  return Constant::Dense(type, std::move(dims), std::move(bytes));
}

// [outer, 2, inner]
Constant Planes(DType type, std::vector<int64_t> dims, const std::vector<Complex>& numbers) {
  const int64_t inner = dims.back();
  return Filled(type, std::move(dims), [&](int64_t i) {
    const Complex& number = numbers[static_cast<size_t>(i / (2 * inner) * inner + i % inner)];
    return i / inner % 2 == 0 ? number.real() : number.imag();
  });
}

// By what part `from` of x[j] contributes to part `to` of X[k].
double Weight(const FourierMatrix& m, int64_t k, int64_t to, int64_t from, int64_t j) {
  const Complex turn = m.scale * Turn(k * j, m.length, m.sign);
  if (from == to) return turn.real();
  return from == 0 ? turn.imag() : -turn.imag();
}

// The transform of numbers `step` apart of `x`, in n times the sum of the prime factors of n;
// turns[p] is e^(-2 pi i p / x.size()).
std::vector<Complex> Transform(const std::vector<Complex>& x, const std::vector<Complex>& turns,
                               size_t first = 0, size_t step = 1) {
  const size_t n = x.size() / step;
  if (n == 1) return {x[first]};
  size_t factor = 2;
  while (n % factor != 0) ++factor;
  std::vector<Complex> result(n);
  for (size_t part = 0; part < factor; ++part) {
    const std::vector<Complex> bins = Transform(x, turns, first + part * step, step * factor);
    for (size_t k = 0; k < n; ++k) {
      result[k] += bins[k % bins.size()] * turns[k * part % n * step];
    }
  }
  return result;
}

// e^(sign pi i j^2 / length)
Complex ChirpAt(int64_t j, int64_t length, int64_t sign) { return Turn(j * j, 2 * length, sign); }

}  // namespace

Constant ColumnMatrix(DType type, const FourierMatrix& m) {
  const int64_t results = m.Results(), terms = m.parts * m.length;
  return Filled(type, {m.bins * results, terms}, [&](int64_t i) {
    const int64_t row = i / terms, term = i % terms;
    return Weight(m, row / results, row % results, term / m.length, term % m.length);
  });
}

Constant RowMatrix(DType type, const FourierMatrix& m) {
  const int64_t results = m.Results(), columns = m.bins * results;
  return Filled(type, {m.parts * m.length, columns}, [&](int64_t i) {
    const int64_t column = i % columns, term = i / columns;
    return Weight(m, column / results, column % results, term / m.length, term % m.length);
  });
}

Constant Turns(DType type, int64_t first, int64_t second, int64_t sign) {
  std::vector<Complex> numbers;
  numbers.reserve(static_cast<size_t>(first * second));
  for (int64_t k = 0; k < first; ++k) {
    for (int64_t j = 0; j < second; ++j) numbers.push_back(Turn(k * j, first * second, sign));
  }
  return Planes(type, {first, 2, second}, numbers);
}

Constant Chirp(DType type, int64_t length, int64_t sign, double scale) {
  std::vector<Complex> numbers;
  for (int64_t j = 0; j < length; ++j) numbers.push_back(scale * ChirpAt(j, length, sign));
  return Planes(type, {2, length}, numbers);
}

Constant ChirpSpectrum(DType type, int64_t length, int64_t padded, int64_t sign) {
  std::vector<Complex> numbers(static_cast<size_t>(padded));
  for (int64_t j = 0; j < length; ++j) {
    const Complex number = ChirpAt(j, length, -sign) / static_cast<double>(padded);
    numbers[static_cast<size_t>(j)] = numbers[static_cast<size_t>((padded - j) % padded)] = number;
  }
  std::vector<Complex> turns;
  turns.reserve(numbers.size());
  for (int64_t p = 0; p < padded; ++p) turns.push_back(Turn(p, padded, -1));
  return Planes(type, {2, padded}, Transform(numbers, turns));
}

}  // namespace aotc
