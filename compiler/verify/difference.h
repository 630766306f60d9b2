// How far a tensor is from what it should be.
//
//   Difference difference = Compare(actual, expected);
//   if (!(difference.error <= limit)) Report(difference.Text());  // "error 0.31, 2600000 ULP; ..."
#ifndef AOTC_COMPILER_VERIFY_DIFFERENCE_H_
#define AOTC_COMPILER_VERIFY_DIFFERENCE_H_

#include <string>
#include <vector>

#include "compiler/ir/constant.h"

namespace aotc {

struct Difference {
  // As RelativeError (evaluate.h) has it: scaled to the largest element; infinite where types,
  // dims, integers or the places of NaN and infinities differ.
  double error = 0;
  // At the element that is furthest off: in units of the last place of the expected value. 0 for
  // integers.
  double ulp = 0;
  std::vector<int64_t> index = {};  // of that element; empty for rank 0 and where nothing differs
  double actual = 0, expected = 0;  // there
  std::string what = {};            // where types or dims differ: "f32[2], not f32[3]"

  // "error 2.1e-07, 1 ULP", and where it is above `limit` the element that is furthest off.
  std::string Text(double limit) const;
};

Difference Compare(const Constant& actual, const Constant& expected);

// What rounding explains, for a graph whose least precise float type is `dtype`: results differ in
// the order of their sums and in where intermediates are rounded.
double ErrorLimit(DType dtype);

// "f32[1, 12]".
std::string TypeText(const Constant& tensor);

}  // namespace aotc

#endif  // AOTC_COMPILER_VERIFY_DIFFERENCE_H_
