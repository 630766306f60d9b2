// Rounding of sizes.
//
//   RoundUp(65, 64);   // 128
//   EvenPart(65, 14);  // 13: five parts
#ifndef AOTC_COMPILER_SUPPORT_ROUNDING_H_
#define AOTC_COMPILER_SUPPORT_ROUNDING_H_

#include <cstdint>

namespace aotc {

// The least multiple of `step`, which is positive, that is no less than `value`, which is not
// negative.
constexpr int64_t RoundUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

// How many parts of `part`, which is positive, `value` has, the last of which may not be whole.
constexpr int64_t CeilOf(int64_t value, int64_t part) { return (value + part - 1) / part; }

// The size, at most `most`, of as few parts of `value` as there can be, as even as possible; both
// are positive.
constexpr int64_t EvenPart(int64_t value, int64_t most) {
  return CeilOf(value, CeilOf(value, most));
}

}  // namespace aotc

#endif  // AOTC_COMPILER_SUPPORT_ROUNDING_H_
