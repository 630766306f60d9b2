// Rounding of sizes.
//
//   RoundUp(65, 64);  // 128
#ifndef AOTC_COMPILER_SUPPORT_ROUNDING_H_
#define AOTC_COMPILER_SUPPORT_ROUNDING_H_

#include <cstdint>

namespace aotc {

// The least multiple of `step`, which is positive, that is no less than `value`, which is not
// negative.
constexpr int64_t RoundUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

}  // namespace aotc

#endif  // AOTC_COMPILER_SUPPORT_ROUNDING_H_
