#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/eval/evaluate.h"

namespace aotc {
namespace {

constexpr double kDifferent = std::numeric_limits<double>::infinity();

double FloatError(const Constant& actual, const Constant& expected) {
  double difference = 0, largest = 0;
  for (int64_t i = 0; i < expected.element_count(); ++i) {
    double a = actual.FloatAt(i), b = expected.FloatAt(i);
    if (std::isfinite(a) && std::isfinite(b)) {
      difference = std::max(difference, std::fabs(a - b));
      largest = std::max(largest, std::fabs(b));
    } else if (a != b && !(std::isnan(a) && std::isnan(b))) {
      return kDifferent;
    }
  }
  return difference / std::max(largest, 1e-6);
}

}  // namespace

double RelativeError(const Constant& actual, const Constant& expected) {
  if (actual.dtype() != expected.dtype() || actual.dims() != expected.dims()) return kDifferent;
  if (IsFloat(expected.dtype())) return FloatError(actual, expected);
  return actual.SameValue(expected) ? 0 : kDifferent;
}

}  // namespace aotc
