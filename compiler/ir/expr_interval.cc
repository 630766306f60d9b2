#include "compiler/ir/expr_interval.h"

#include <algorithm>

#include "compiler/ir/expr_linear.h"

namespace aotc {
namespace {

constexpr int64_t kLowest = INT64_MIN;
constexpr int64_t kHighest = INT64_MAX;

__extension__ using Wide = __int128;

int64_t Saturate(Wide value) {
  if (value <= kLowest) return kLowest;
  if (value >= kHighest) return kHighest;
  return static_cast<int64_t>(value);
}

// A sum of two ends of the same side: an open end stays open.
int64_t AddEnds(int64_t a, int64_t b, int64_t open) {
  if (a == open || b == open) return open;
  return Saturate(static_cast<Wide>(a) + b);
}

// Products with an open end are open unless the other factor is 0.
int64_t MultiplyEnds(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  bool open = a == kLowest || a == kHighest || b == kLowest || b == kHighest;
  if (open) return (a < 0) == (b < 0) ? kHighest : kLowest;
  return Saturate(static_cast<Wide>(a) * b);
}

int64_t NegateEnd(int64_t a) {
  if (a == kLowest) return kHighest;
  return a == kHighest ? kLowest : -a;
}

// The largest magnitude in the interval.
int64_t Magnitude(const Interval& a) { return std::max(NegateEnd(a.min), a.max); }

// The end of a / b for b > 0, rounded down or towards zero.
int64_t DivideEnd(int64_t a, int64_t b, bool floor) {
  if (b == kHighest) return a < 0 && floor ? -1 : 0;
  if (a == kLowest || a == kHighest) return a;
  return floor ? FloorDivInt(a, b) : a / b;
}

Interval DividePositive(const Interval& a, const Interval& b, bool floor) {
  return {DivideEnd(a.min, a.min < 0 ? b.min : b.max, floor),
          DivideEnd(a.max, a.max < 0 ? b.max : b.min, floor)};
}

Interval Divide(const Interval& a, const Interval& b, bool floor) {
  if (b.min >= 1) return DividePositive(a, b, floor);
  if (b.max <= -1) return DividePositive(NegateInterval(a), NegateInterval(b), floor);
  int64_t magnitude = std::max<int64_t>(Magnitude(a), 0);
  return {NegateEnd(magnitude), magnitude};
}

}  // namespace

Interval AddIntervals(const Interval& a, const Interval& b) {
  return {AddEnds(a.min, b.min, kLowest), AddEnds(a.max, b.max, kHighest)};
}

Interval NegateInterval(const Interval& a) { return {NegateEnd(a.max), NegateEnd(a.min)}; }

Interval MultiplyIntervals(const Interval& a, const Interval& b) {
  int64_t products[] = {MultiplyEnds(a.min, b.min), MultiplyEnds(a.min, b.max),
                        MultiplyEnds(a.max, b.min), MultiplyEnds(a.max, b.max)};
  return {*std::min_element(products, products + 4), *std::max_element(products, products + 4)};
}

Interval FloorDivIntervals(const Interval& a, const Interval& b) { return Divide(a, b, true); }
Interval TruncDivIntervals(const Interval& a, const Interval& b) { return Divide(a, b, false); }

Interval ModIntervals(const Interval& a, const Interval& b) {
  if (b.min >= 1 && a.min >= 0) {
    if (a.max < b.min) return a;
    return {0, std::min(a.max, AddEnds(b.max, -1, kHighest))};
  }
  // The remainder has the sign of the divisor.
  int64_t low = b.min >= 0 ? 0 : AddEnds(b.min, 1, kLowest);
  int64_t high = b.max <= 0 ? 0 : AddEnds(b.max, -1, kHighest);
  return {low, high};
}

Interval TruncModIntervals(const Interval& a, const Interval& b) {
  int64_t limit = Magnitude(b) == kHighest ? kHighest : std::max<int64_t>(Magnitude(b) - 1, 0);
  int64_t low = a.min >= 0 ? 0 : std::max(a.min, NegateEnd(limit));
  int64_t high = a.max <= 0 ? 0 : std::min(a.max, limit);
  return {low, high};
}

Interval MinIntervals(const Interval& a, const Interval& b) {
  return {std::min(a.min, b.min), std::min(a.max, b.max)};
}

Interval MaxIntervals(const Interval& a, const Interval& b) {
  return {std::max(a.min, b.min), std::max(a.max, b.max)};
}

Interval UniteIntervals(const Interval& a, const Interval& b) {
  return {std::min(a.min, b.min), std::max(a.max, b.max)};
}

Interval IntersectIntervals(const Interval& a, const Interval& b) {
  return {std::max(a.min, b.min), std::min(a.max, b.max)};
}

Interval DTypeRange(DType dtype) {
  if (dtype == DType::kBool) return {0, 1};
  if (!IsInteger(dtype)) return {};
  int bits = BitWidth(dtype);
  if (bits == 64) return {IsUnsignedInteger(dtype) ? 0 : kLowest, kHighest};
  if (IsUnsignedInteger(dtype)) return {0, (int64_t{1} << bits) - 1};
  return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
}

}  // namespace aotc
