// The constants of Fourier transforms: numbers e^(2 pi i p / q), worked out in f64 from integers p
// that are below q, so that they keep their digits however long the transform is.
//
// Complex numbers have a leading axis of their real and imaginary parts.
#ifndef AOTC_COMPILER_OPTIMIZE_FOURIER_TABLES_H_
#define AOTC_COMPILER_OPTIMIZE_FOURIER_TABLES_H_

#include <cstdint>

#include "compiler/ir/constant.h"

namespace aotc {

// The transform X[k] = scale * sum over j of x[j] e^(sign 2 pi i j k / length).
struct FourierMatrix {
  int64_t length = 1;
  int64_t sign = -1;
  double scale = 1;
  int64_t parts = 2;          // of x: 1 of real numbers
  int64_t bins = 1;           // the first ones of X
  bool real_results = false;  // only these of X

  int64_t Results() const { return real_results ? 1 : 2; }  // elements of a bin
};

// [bins * results, parts * length]: the product with a column x gives each bin's parts in turn.
Constant ColumnMatrix(DType type, const FourierMatrix& matrix);
// [parts * length, bins * results]: the same for a row x.
Constant RowMatrix(DType type, const FourierMatrix& matrix);

// [first, 2, second]: e^(sign 2 pi i k j / (first * second)), for what is between the transforms of
// lengths first and second.
Constant Turns(DType type, int64_t first, int64_t second, int64_t sign);

// [2, length]: scale * e^(sign pi i j^2 / length).
Constant Chirp(DType type, int64_t length, int64_t sign, double scale);
// [2, padded]: what the transform of length `padded` makes of that chirp's inverse, with its mirror
// image at the end and zeros between, divided by `padded`.
Constant ChirpSpectrum(DType type, int64_t length, int64_t padded, int64_t sign);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_FOURIER_TABLES_H_
