#include "compiler/verify/difference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_format.h"
#include "compiler/eval/evaluate.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Bits of the significand behind the point.
int FractionBits(DType dtype) {
  switch (dtype) {
    case DType::kF64: return 52;
    case DType::kF16: return 10;
    case DType::kBF16: return 7;
    case DType::kF8E4M3FN:
    case DType::kF8E4M3FNUZ: return 3;
    case DType::kF8E5M2:
    case DType::kF8E5M2FNUZ: return 2;
    case DType::kF4E2M1: return 1;
    case DType::kF8E8M0: return 0;
    default: return 23;
  }
}

double UnitInLastPlace(double value, DType dtype) {
  const int least = dtype == DType::kF16 ? -14 : -126;
  const int exponent = value == 0 ? least : std::max(std::ilogb(value), least);
  return std::ldexp(1.0, exponent - FractionBits(dtype));
}

double Distance(double actual, double expected) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return 0;
  const double distance = std::fabs(actual - expected);
  return std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance;
}

std::vector<int64_t> IndexOf(int64_t element, const std::vector<int64_t>& dims) {
  std::vector<int64_t> index(dims.size());
  for (size_t axis = dims.size(); axis-- > 0; element /= dims[axis]) {
    index[axis] = element % dims[axis];
  }
  return index;
}

double ValueAt(const Constant& tensor, int64_t i) {
  return IsFloat(tensor.dtype()) ? tensor.FloatAt(i) : static_cast<double>(tensor.IntAt(i));
}

void FindWorst(const Constant& actual, const Constant& expected, Difference& result) {
  double worst = 0;
  int64_t place = -1;
  for (int64_t i = 0; i < expected.element_count(); ++i) {
    const double distance = Distance(ValueAt(actual, i), ValueAt(expected, i));
    if (distance <= worst) continue;
    worst = distance;
    place = i;
  }
  if (place < 0) return;
  result.index = IndexOf(place, expected.dims());
  result.actual = ValueAt(actual, place);
  result.expected = ValueAt(expected, place);
  if (IsFloat(expected.dtype()) && std::isfinite(worst)) {
    result.ulp = worst / UnitInLastPlace(result.expected, expected.dtype());
  }
}

}  // namespace

Difference Compare(const Constant& actual, const Constant& expected) {
  Difference result;
  result.error = RelativeError(actual, expected);
  if (actual.dtype() != expected.dtype() || actual.dims() != expected.dims()) {
    result.what = StrCat(TypeText(actual), ", not ", TypeText(expected));
  } else if (expected.dtype() != DType::kString) {
    FindWorst(actual, expected, result);
  }
  return result;
}

std::string Difference::Text(double limit) const {
  if (!what.empty()) return what;
  std::string text = absl::StrFormat("error %.2g", error);
  if (ulp > 0) absl::StrAppendFormat(&text, ", %.3g ULP", ulp);
  if (error <= limit) return text;
  absl::StrAppendFormat(&text, " (at most %.2g); at [%s] %.7g, not %.7g", limit,
                        StrJoin(index, ", "), actual, expected);
  return text;
}

double ErrorLimit(DType dtype) {
  if (dtype == DType::kF16) return 2e-2;
  return IsFloat(dtype) && FractionBits(dtype) <= 7 ? 1e-1 : 1e-4;
}

std::string TypeText(const Constant& tensor) {
  return StrCat(DTypeName(tensor.dtype()), "[", StrJoin(tensor.dims(), ", "), "]");
}

}  // namespace aotc
